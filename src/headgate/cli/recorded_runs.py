"""Recorded runs as a reader wants them: a row for each, or one metric over all of them."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from headgate.display.page import Page
    from headgate.gate.batch_verdict import BatchVerdict
    from headgate.gate.gate import Gate
    from headgate.project.project import Dataset
    from headgate.values.run import Ruling

_MAX_CAUSES_LENGTH = 400  # characters of causes in a line


class RecordedRun(NamedTuple):
    """One run: its verdict as the history has it, how many rows it had, and the last word on it."""

    verdict: BatchVerdict
    rows: int | None
    ruling: Ruling | None

    @property
    def decision(self) -> str:
        return "" if self.verdict.decision is None else self.verdict.decision.value

    @property
    def summary(self) -> str:
        """What a person said of it, then the first cause."""
        titles = [each.title for each in self.verdict.causes]
        more = f" (and {len(titles) - 1} more)" if len(titles) > 1 else ""
        person = self.ruling is not None and self.ruling.who != "gate" and self.ruling.note
        note = f"{self.ruling.who}: {self.ruling.note}" if person and self.ruling is not None else ""
        return "; ".join(filter(None, [note, titles[0] + more if titles else ""]))

    def to_dict(self) -> dict[str, Any]:
        """As data."""
        verdict, ruling = self.verdict, self.ruling
        return {
            "partition": verdict.partition,
            "revision": verdict.revision.number,
            "status": verdict.status.value,
            "action": verdict.action.value,
            "decision": self.decision or None,
            "rows": self.rows,
            "at": verdict.run.at,
            "causes": [each.title for each in verdict.causes],
            "who": None if ruling is None else ruling.who,
            "note": None if ruling is None else ruling.note,
        }


def read_runs(gate: Gate, last: int) -> list[RecordedRun]:
    """The newest runs in the order of their partitions, each as its newest revision."""
    from headgate.cli.judge_batches import row_count_of

    rulings = {(each.partition, each.number): each for each in gate.store.rulings(gate.dataset)}
    found = []
    for revision in gate.store.last(gate.dataset, last):
        verdict = gate.read_verdict(revision)
        found.append(RecordedRun(verdict, row_count_of(verdict), rulings.get((revision.partition, revision.number))))
    return found


def runs_page(runs: Sequence[RecordedRun]) -> Page:
    """A row for each run, what was not published in colour."""
    from headgate.display.blocks import Grid, Mark
    from headgate.display.page import Page
    from headgate.display.table import Table
    from headgate.evaluate.verification import TONES

    rows = tuple(
        (
            each.verdict.partition + (f" ({each.verdict.revision.number})" if each.verdict.revision.number > 1 else ""),
            each.verdict.status.value,
            each.decision or each.verdict.action.value,
            "" if each.rows is None else f"{each.rows:,}",
            each.summary,
        )
        for each in runs
    )
    table = Table(("batch", "status", "decision", "rows", "causes"), rows, numeric=frozenset({3}))
    marks = tuple(Mark(TONES[each.verdict.status]) for each in runs)
    return Page(blocks=(Grid(table, last=_MAX_CAUSES_LENGTH, marks=marks, marked=1, apart=False),))


def verdict_of(dataset: Dataset, partition: str, number: int | None = None) -> BatchVerdict:
    """The recorded verdict on a batch; where there is none, what to type."""
    from headgate.values.errors import MisuseError, UnknownRun, did_you_mean

    try:
        return dataset.gate.explain(partition, number)
    except UnknownRun as trouble:
        name = shlex.quote(dataset.name)
        said = str(trouble).removesuffix(trouble.hint).strip()
        known = [each.partition for each in dataset.gate.store.last(dataset.name, 1_000)]
        if partition in known:
            hint = f"It has {len(dataset.gate.store.revisions(dataset.name, partition))}."
        elif partition in dataset.partitions():
            hint = f"It waits: headgate run {name} --partition {shlex.quote(partition)} judges it."
        else:
            near = did_you_mean(partition, known[::-1], most=3)
            hint = f"Of the newest, {near} headgate history {name} lists more."
        raise MisuseError(said, hint=hint) from None


class MetricPoint(NamedTuple):
    """One value of a metric, what was expected of it then, and whether that was met."""

    partition: str
    value: float | None
    expected: str
    low: float | None
    high: float | None
    status: str
    run: str

    @property
    def sign(self) -> str:
        """What stands below the value's bar."""
        if self.status in ("fail", "error"):
            return "!"
        return " " if self.run in ("published", "accepted", "released", "pass") else "x"

    @property
    def status_label(self) -> str:
        return {"fail": "failed", "error": "not evaluated", "skip": "skipped"}.get(self.status, "")

    def to_dict(self) -> dict[str, Any]:
        return self._asdict()


def read_series(gate: Gate, runs: Sequence[RecordedRun], metric: str) -> list[MetricPoint]:
    """A metric over these runs; one that no run has is misuse, and the nearest is named."""
    from headgate.values.errors import MisuseError, did_you_mean
    from headgate.values.key import MetricKey
    from headgate.values.outcome import Measured

    key = MetricKey.parse(metric if "(" in metric else f"{metric}()")
    points = []
    for each in runs:
        outcome = each.verdict.run.outcomes.get(key)
        value = outcome.value if isinstance(outcome, Measured) and isinstance(outcome.value, float) else None
        points.append(_make_point(each, key, value))
    if all(each.value is None and not each.expected for each in points):
        known = sorted({str(one) for each in runs for one in each.verdict.run.outcomes})
        raise MisuseError(f"no run of {gate.dataset} has {metric};", hint=did_you_mean(str(key), known))
    return points


def _make_point(run: RecordedRun, key: Any, value: float | None) -> MetricPoint:
    judged = [one for one in run.verdict.judgements if one.expectation.metric == key and not one.segment]
    worst = next((one for one in judged if one.status.value in ("fail", "error")), judged[0] if judged else None)
    predicate = None if worst is None else worst.expectation.predicate
    if value is None and worst is not None:
        value = worst.value
    return MetricPoint(
        run.verdict.partition,
        value if value is None or math.isfinite(value) else None,
        "" if predicate is None else str(predicate),
        _read_bound(predicate, "low"),
        _read_bound(predicate, "high"),
        "" if worst is None else worst.status.value,
        run.decision or run.verdict.status.value,
    )


def _read_bound(predicate: Any, name: str) -> float | None:
    end = getattr(predicate, name, None)
    return float(end) if isinstance(end, int | float) and math.isfinite(end) else None


def series_page(metric: str, points: Sequence[MetricPoint], width: int = 10_000) -> Page:
    """The values as small bars and as a table; what failed and what was held is marked."""
    from headgate.display.blocks import Grid, Mark, Note, Tone
    from headgate.display.numbers import format_number
    from headgate.display.page import Page
    from headgate.display.sparkline import draw_level
    from headgate.display.table import Table

    values = [each.value for each in points if each.value is not None]
    if not values:
        return Page(f"{metric}: no run has a number.")
    low, high = min(values), max(values)
    bars = "".join(" " if each.value is None else draw_level(each.value, low, high) for each in points)
    signs = "".join(each.sign for each in points)
    drawn = [
        Note(each) for at in range(0, len(bars), width) for each in _draw_lines(bars, signs, slice(at, at + width))
    ]
    rows = tuple(
        (
            each.partition,
            "" if each.value is None else format_number(each.value),
            each.expected,
            each.status_label,
            each.run,
        )
        for each in points
    )
    headers = ("batch", "value", "expected", "", "the batch was")
    kept = [at for at, header in enumerate(headers) if at in (0, 1, 4) or any(row[at] for row in rows)]
    table = Table(
        tuple(headers[at] for at in kept), tuple(tuple(row[at] for at in kept) for row in rows), frozenset({1})
    )
    marks = tuple(Mark(Tone.BAD if each.sign.strip() else Tone.PLAIN) for each in points)
    blocks = (*drawn, *_make_legend(signs), Grid(table, marks=marks, marked=len(kept) - 1))
    return Page(f"{metric} in {len(points)} runs, {format_number(low)} to {format_number(high)}", blocks=blocks)


def _draw_lines(bars: str, signs: str, part: slice) -> list[str]:
    """Some of the bars, with the signs below them if there are any."""
    return [bars[part], *([signs[part].rstrip()] if signs[part].strip() else [])]


def _make_legend(signs: str) -> list[Any]:
    from headgate.display.blocks import Note

    words = {"!": "! the metric failed", "x": "x the batch did not pass, for another reason"}
    found = [word for sign, word in words.items() if sign in signs]
    return [Note("; ".join(found))] if found else []
