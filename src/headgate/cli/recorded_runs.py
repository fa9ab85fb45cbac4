"""Recorded runs of a dataset: a table with a row for each, or the series of one metric."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from headgate.display.page import Page
    from headgate.explain.run_stretches import RunStretch
    from headgate.gate.batch_verdict import BatchVerdict
    from headgate.gate.gate import Gate
    from headgate.project.dataset import Dataset
    from headgate.values.key import MetricKey
    from headgate.values.run import Ruling

_LISTED_RUNS = 30
_MAX_CAUSES_LENGTH = 400  # characters of the last column


class RecordedRun(NamedTuple):
    """One run: its recorded verdict, its row count, and the newest ruling on it."""

    verdict: BatchVerdict
    rows: int | None
    ruling: Ruling | None

    @property
    def decision(self) -> str:
        return "" if self.verdict.decision is None else self.verdict.decision.value

    @property
    def summary(self) -> str:
        """The note of a person's ruling, what was repaired, then the first cause."""
        from headgate.values.run import GATE

        titles = [each.title for each in self.verdict.causes]
        more = f" (and {len(titles) - 1} more)" if len(titles) > 1 else ""
        note = ""
        if self.ruling is not None and self.ruling.who != GATE and self.ruling.note:
            note = f"{self.ruling.who}: {self.ruling.note}"
        done = self.verdict.account.repaired
        repaired = f"repaired: {', '.join(done)}" if done else ""
        return "; ".join(filter(None, [note, repaired, titles[0] + more if titles else ""]))

    def to_dict(self) -> dict[str, Any]:
        """The run as it is in the JSON document."""
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


def read_runs(gate: Gate, last: int | None) -> list[RecordedRun]:
    """The newest revision of each of the last partitions, in the order of the partitions.

    Args:
        gate: The gate of the dataset.
        last: How many; by default 30, or those of a day where several come in a day.
    """
    from headgate.cli.judge_batches import row_count_of
    from headgate.explain.run_stretches import MOST_A_DAY, count_runs_a_day

    if last is None:
        newest = [each.partition for each in gate.store.last(gate.dataset, _LISTED_RUNS)]
        last = max(_LISTED_RUNS, min(count_runs_a_day(newest), MOST_A_DAY))
    rulings = {(each.partition, each.number): each for each in gate.store.rulings(gate.dataset)}
    runs = []
    for revision in gate.store.last(gate.dataset, last):
        verdict = gate.read_verdict(revision)
        runs.append(RecordedRun(verdict, row_count_of(verdict), rulings.get((revision.partition, revision.number))))
    return runs


def runs_page(runs: Sequence[RecordedRun]) -> Page:
    """A page with a row for each run, its status coloured. Where several come in a day, those one after another that
    had the same outcome are one row."""
    from headgate.display.blocks import Grid, Mark
    from headgate.display.page import Page
    from headgate.display.table import Table
    from headgate.evaluate.verification import TONES
    from headgate.explain.run_stretches import DENSE, RunStretch, count_runs_a_day, group_runs

    by_sequence = {each.verdict.revision.sequence: each for each in runs}
    revisions = [each.verdict.revision for each in runs]
    is_dense = count_runs_a_day([each.partition for each in revisions]) >= DENSE
    stretches = group_runs(revisions) if is_dense else [RunStretch((each,)) for each in revisions]
    rows = tuple(_make_row(each, by_sequence) for each in stretches)
    table = Table(("batch", "status", "decision", "rows", "causes"), rows, numeric=frozenset({3}))
    marks = tuple(Mark(TONES[each.last.status]) for each in stretches)
    return Page(blocks=(Grid(table, last=_MAX_CAUSES_LENGTH, marks=marks, marked=1, apart=False),))


def _make_row(stretch: RunStretch, runs: Mapping[int, RecordedRun]) -> tuple[str, ...]:
    """The row of a run; of several one after another the row counts of all, and the causes of the last."""
    found = [runs[each.sequence] for each in stretch.revisions]
    last, sizes = found[-1], [each.rows for each in found if each.rows is not None]
    number = f" ({stretch.last.number})" if stretch.last.number > 1 else ""
    count = f", {len(found):,} runs" if len(found) > 1 else ""
    ends = dict.fromkeys(f"{each:,}" for each in (min(sizes), max(sizes))) if sizes else {}
    status, decision = last.verdict.status.value, last.decision or last.verdict.action.value
    return (f"{stretch.name}{number}{count}", status, decision, " to ".join(ends), last.summary)


def verdict_of(dataset: Dataset, partition: str, number: int | None = None) -> BatchVerdict:
    """The recorded verdict on a batch. Raises `MisuseError` with what to type if there is none."""
    from headgate.values.errors import MisuseError, UnknownRun, did_you_mean

    try:
        return dataset.gate.explain(partition, number)
    except UnknownRun as error:
        name = shlex.quote(dataset.name)
        message = str(error).removesuffix(error.hint).strip()
        known = [each.partition for each in dataset.gate.store.last(dataset.name, 1_000)]
        if partition in known:
            hint = f"It has {len(dataset.gate.store.revisions(dataset.name, partition))}."
        elif partition in dataset.partitions():
            hint = f"It waits: headgate run {name} --partition {shlex.quote(partition)} judges it."
        else:
            near = did_you_mean(partition, known[::-1], most=3)
            hint = f"Of the newest, {near} headgate history {name} lists more."
        raise MisuseError(message, hint=hint) from None


class MetricPoint(NamedTuple):
    """The value of a metric in one run, its expected range, and its status."""

    partition: str
    value: float | None
    expected: str
    low: float | None
    high: float | None
    status: str
    run: str

    @property
    def sign(self) -> str:
        """The mark below the bar: ! if the metric failed, x if the batch did not pass for another reason."""
        if self.status in ("fail", "error"):
            return "!"
        return " " if self.run in ("published", "accepted", "released", "pass") else "x"

    @property
    def status_label(self) -> str:
        return {"fail": "failed", "error": "not evaluated", "skip": "skipped"}.get(self.status, "")

    def to_dict(self) -> dict[str, Any]:
        return self._asdict()


def read_series(gate: Gate, runs: Sequence[RecordedRun], metric: str) -> list[MetricPoint]:
    """The values of a metric in these runs. Raises `MisuseError` with the nearest name if no run has it."""
    from headgate.values.errors import MisuseError, did_you_mean
    from headgate.values.key import MetricKey
    from headgate.values.outcome import Measured

    key = MetricKey.parse(metric if "(" in metric else f"{metric}()")
    points = []
    for run in runs:
        outcome = run.verdict.run.outcomes.get(key)
        value = outcome.value if isinstance(outcome, Measured) and isinstance(outcome.value, float) else None
        points.append(_make_point(run, key, value))
    if all(each.value is None and not each.expected for each in points):
        known = sorted({str(name) for run in runs for name in run.verdict.run.outcomes})
        raise MisuseError(f"no run of {gate.dataset} has {metric};", hint=did_you_mean(str(key), known))
    return points


def _make_point(run: RecordedRun, key: MetricKey, value: float | None) -> MetricPoint:
    """The point of a run, with the judgement that failed if several judge the metric."""
    judged = [each for each in run.verdict.judgements if each.expectation.metric == key and not each.segment]
    worst = next((each for each in judged if each.status.value in ("fail", "error")), judged[0] if judged else None)
    predicate = None if worst is None else worst.expectation.predicate
    if value is None and worst is not None:
        value = worst.value
    return MetricPoint(
        run.verdict.partition,
        value,
        "" if predicate is None else str(predicate),
        _read_bound(predicate, "low"),
        _read_bound(predicate, "high"),
        "" if worst is None else worst.status.value,
        run.decision or run.verdict.status.value,
    )


def _read_bound(predicate: Any, name: str) -> float | None:
    bound = getattr(predicate, name, None)
    return float(bound) if isinstance(bound, int | float) and math.isfinite(bound) else None


def series_page(metric: str, points: Sequence[MetricPoint], width: int = 10_000) -> Page:
    """The series as a sparkline of lines of this width and as a table, with failures marked."""
    from headgate.display.blocks import Grid, Mark, Note, Tone
    from headgate.display.numbers import format_number
    from headgate.display.page import Page
    from headgate.display.sparkline import draw_level
    from headgate.display.table import Table

    values = [each.value for each in points if each.value is not None]
    if not values:
        return Page(f"{metric}: no run has a number.")
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    low, high = min(finite), max(finite)
    bars = "".join(
        " " if each.value is None else draw_level(min(max(each.value, low), high), low, high) for each in points
    )
    signs = "".join(each.sign for each in points)
    lines = [
        Note(line)
        for start in range(0, len(bars), width)
        for line in _draw_lines(bars, signs, slice(start, start + width))
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
    shown = [index for index in range(len(headers)) if index in (0, 1, 4) or any(row[index] for row in rows)]
    cells = tuple(tuple(row[index] for index in shown) for row in rows)
    table = Table(tuple(headers[index] for index in shown), cells, frozenset({1}))
    marks = tuple(Mark(Tone.BAD if each.sign.strip() else Tone.PLAIN) for each in points)
    blocks = (*lines, *_make_legend(signs), Grid(table, marks=marks, marked=len(shown) - 1))
    return Page(
        f"{metric} in {len(points)} runs, {format_number(min(values))} to {format_number(max(values))}", blocks=blocks
    )


def _draw_lines(bars: str, signs: str, part: slice) -> list[str]:
    """A part of the bars, with a line of their signs below if there are any."""
    return [bars[part], *([signs[part].rstrip()] if signs[part].strip() else [])]


def _make_legend(signs: str) -> list[Any]:
    from headgate.display.blocks import Note

    meanings = {"!": "! the metric failed", "x": "x the batch did not pass, for another reason"}
    used = [meaning for sign, meaning in meanings.items() if sign in signs]
    return [Note("; ".join(used))] if used else []
