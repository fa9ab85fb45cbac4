"""`python -m benchmarks.report.pictures`: the pages of Headgate, made of real flights, as pictures in docs/pictures.

Nothing is measured here: the stores keep plain values, so that the pictures show them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import headgate as hg
from benchmarks.report import job
from benchmarks.report.chromium import DESKTOP, PHONE, opened
from benchmarks.report.scripts import shrink
from headgate.gate.gate import Gate
from headgate.report.html import Report

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
SIZES = {"desktop": DESKTOP, "phone": PHONE}
SCHEMES = ("light", "dark")
FEW = 9  # days of the other datasets


def pages() -> dict[str, Report]:
    """A page of each kind: a day that passed, one that failed for three reasons, one that broke, dataset, fleet."""
    found = job.days(job.flights())
    gate = _gate("flights", owner="ops@")
    for name in job.before(found):
        _judge(gate, name, found[name])
    names = [name for name in found if name >= job.DAY]
    failed = gate.judge(_three(found[names[0]]), names[0])
    made = {"fail": Report.of(gate, failed)}
    gate.reject(names[0], note="the carrier sent a test file", who="ann@")
    made["error"] = Report.of(gate, gate.judge(_unreadable(found[names[1]]), names[1]))
    made["pass"] = Report.of(gate, gate.judge(found[names[1]], names[1]))
    gate.judge(job.broken(found[names[2]]), names[2])
    made["dataset"] = Report.of(gate)
    made["fleet"] = Report.fleet([gate, *_others(found)])
    return made


def _gate(name: str, **given: Any) -> Gate:
    check = hg.Check(name).is_complete("flight").is_contained_in("origin", ["EWR", "JFK", "LGA"])
    return hg.Gate(name, store=hg.open_store("memory:", values="plain"), checks=check, **given)


def _judge(gate: Gate, name: str, day: pa.Table) -> None:
    if gate.judge(day, name).action == "hold":
        gate.accept(name, note="it was so", who="ops@")


def _three(day: pa.Table) -> pa.Table:
    """Kilometres for miles, carriers in lower case, no arrivals known."""
    wrong = job.broken(day)
    lower = pc.utf8_lower(wrong["carrier"])
    wrong = wrong.set_column(wrong.column_names.index("carrier"), "carrier", lower)
    return hg.inject_issue(wrong, "increased_nulls", "arr_delay", share=0.4, value="null")


def _unreadable(day: pa.Table) -> pa.RecordBatchReader:
    def batches() -> Iterator[pa.RecordBatch]:
        yield from day.to_batches()
        raise OSError("the connection was reset")

    return pa.RecordBatchReader.from_batches(day.schema, batches())


def _others(found: dict[str, pa.Table]) -> Iterator[Gate]:
    """The flights of each airport as datasets of their own, and one that has no run yet."""
    names = sorted(found)[:FEW]
    for at, airport in enumerate(("EWR", "JFK", "LGA")):
        gate = _gate(f"flights_{airport.lower()}", owner=f"{airport.lower()}@", learn=["history"])
        for name in names:
            day = found[name]
            _judge(gate, name, day.filter(pc.equal(day["origin"], airport)))
        if at == 1:
            gate.judge(_unreadable(found[names[-1]]), sorted(found)[FEW])
        yield gate
    yield _gate("weather", owner="ops@")


def take(made: dict[str, Report], folder: Path, kinds: Sequence[str] = ()) -> list[Path]:
    """Each page at both sizes, in light and dark."""
    taken = []
    folder.mkdir(parents=True, exist_ok=True)
    with opened() as browser:
        for size_name, size in SIZES.items():
            for scheme in SCHEMES:
                phone = size is PHONE
                window = browser.new_context(viewport=size, color_scheme=scheme, is_mobile=phone, has_touch=phone)
                tab = window.new_page()
                for kind in kinds or made:
                    file = folder / f"report-{kind}-{size_name}-{scheme}.png"
                    tab.set_content(made[kind].html, wait_until="load")
                    tab.screenshot(path=str(file))
                    taken.append(file)
                window.close()
    return taken


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES
    made = pages()
    taken = take(made, folder)
    shrink(taken)
    for kind, each in made.items():
        print(f"{kind}: {len(each.html.encode()):,} bytes")
    print(f"{len(taken)} pictures, {sum(file.stat().st_size for file in taken):,} bytes")


if __name__ == "__main__":
    main()
