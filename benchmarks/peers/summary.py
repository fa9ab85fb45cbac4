"""From the rounds of the results to the figures that the page shows."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

OURS = "headgate"
Results = dict[str, Any]
Told = dict[str, Any]


@dataclass(frozen=True)
class Spread:
    """A median with the least and the most beside it."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: list[float]) -> Spread:
        return cls(statistics.median(values), min(values), max(values))

    def __str__(self) -> str:
        return f"{format_figure(self.median)} ({format_figure(self.least)} to {format_figure(self.most)})"


def format_figure(value: float) -> str:
    """Three digits are enough, and more are noise."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


@dataclass(frozen=True)
class Pair:
    """Headgate and one peer in one cell, measured in turn; only where both ended all rounds."""

    cell: str
    workload: str
    rows: int
    peer: str
    ours: Told
    theirs: Told

    def spread(self, name: str, key: str) -> Spread:
        return Spread.of([one[key] for one in self._told(name)["rounds"]])

    def ratio(self, key: str) -> Spread:
        """The peer's figure over Headgate's: of the medians, with the least and the most of a round beside it."""
        each = [
            theirs[key] / ours[key]
            for theirs, ours in zip(self.theirs["rounds"], self.ours["rounds"], strict=True)
            if ours[key]
        ]
        middle = self.spread(self.peer, key).median / self.spread(OURS, key).median
        return Spread(middle, min(each), max(each))

    def cold_ratio(self, key: str) -> float:
        return float(self.theirs["cold"][key] / self.ours["cold"][key])

    @property
    def rounds(self) -> int:
        """The rounds that were measured of each."""
        return len(self.ours["rounds"])

    def jobs(self, name: str) -> int:
        return int(statistics.median(one["jobs"] for one in self._told(name)["rounds"]))

    def readings(self, name: str) -> float:
        """How often the whole table was read, by the rows that Spark counted."""
        return statistics.median(one["input_records"] for one in self._told(name)["rounds"]) / self.rows

    def memory(self, name: str, key: str) -> float:
        return max(one["memory"][key] for one in self._told(name)["rounds"])

    def agreement(self, name: str) -> Told:
        found: Told = self._told(name).get("agreement", {})
        return found

    @property
    def is_compared(self) -> bool:
        """Whether the peer did the same work: it answered, and nothing that it answered is wrong."""
        found = self.agreement(self.peer)
        return not found.get("wrong") and (not found.get("asked") or found["answered"] > 0)

    def _told(self, name: str) -> Told:
        return self.ours if name == OURS else self.theirs


def list_pairs(found: Results) -> Iterator[Pair]:
    for key, cell in found["cells"].items():
        for peer, pair in cell["pairs"].items():
            ours, theirs = pair.get(OURS, {}), pair.get(peer, {})
            if ours.get("rounds") and theirs.get("rounds") and not (_ended(ours) or _ended(theirs)):
                yield Pair(key, cell["workload"], cell["table"]["rows"], peer, ours, theirs)


def _ended(told: Told) -> bool:
    return "error" in told or "cannot" in told


def list_reasons(found: Results) -> dict[str, dict[str, list[str]]]:
    """For each system what it cannot do, in its own sentence, and in which workloads."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for cell in found["cells"].values():
        for peer, pair in cell["pairs"].items():
            if sentence := pair.get(peer, {}).get("cannot"):
                reasons.setdefault(peer, {}).setdefault(sentence, []).append(cell["workload"])
    return reasons


def list_check_reasons(found: Results) -> dict[str, dict[str, set[str]]]:
    """For each system why checks were not answered, and of which kinds they are."""
    reasons: dict[str, dict[str, set[str]]] = {}
    for pair in list_pairs(found):
        for line in pair.agreement(pair.peer).get("cannot", []):
            title, _, reason = line.partition(": ")
            reasons.setdefault(pair.peer, {}).setdefault(reason, set()).add(title.partition("(")[0])
    return reasons


def list_errors(found: Results) -> Iterator[tuple[str, str, str]]:
    """Where a system failed or took too long: the system, the cell, what it said."""
    for key, cell in found["cells"].items():
        for peer, pair in cell["pairs"].items():
            for name in (OURS, peer):
                if error := pair.get(name, {}).get("error"):
                    yield name, key, error


def list_disagreements(found: Results) -> Iterator[tuple[str, str, str]]:
    for pair in list_pairs(found):
        for name in (OURS, pair.peer):
            for wrong in pair.agreement(name).get("wrong", []):
                yield name, pair.cell, wrong


def list_versions(found: Results) -> dict[str, dict[str, str]]:
    versions: dict[str, dict[str, str]] = {}
    for cell in found["cells"].values():
        for peer, pair in cell["pairs"].items():
            for name in (OURS, peer):
                if known := pair.get(name, {}).get("versions"):
                    versions[name] = known
    return versions


def list_machines(found: Results) -> list[dict[str, Any]]:
    machines = [pair["machine"] for cell in found["cells"].values() for pair in cell["pairs"].values()]
    return [machine for at, machine in enumerate(machines) if _kind(machine) not in map(_kind, machines[:at])]


def _kind(machine: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(value for key, value in machine.items() if key != "load")


def loads(found: Results) -> list[float]:
    return [pair["machine"]["load"] for cell in found["cells"].values() for pair in cell["pairs"].values()]
