"""Issues that are injected into a recorded batch, to see who would have caught them: from states alone."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.learn.issue_effects import AppliedEffect, apply_to_latest, measure_effects
from headgate.learn.learned import Learned
from headgate.learn.novelty.model import NOVELTY, Novelty
from headgate.learn.past import Past, numeric_values
from headgate.learn.synthetic_column import SYNTHETIC_ROWS, synthesize
from headgate.values.expectation import Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Undefined
from headgate.values.predicate import Predicate
from headgate.values.run import Run
from headgate.values.schema import Schema

Truths: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[np.float64]

SAMPLE_ROWS = SYNTHETIC_ROWS * 5 // 4
"""Rows of the likenesses that are struck: more than those that trained, so that others of them are broken, and few
enough for sketches to be exact, so that a backtest finds the same each time."""
MAX_COLUMNS = 16
"""Columns of a batch that are struck at most; over the spots, the columns of a wider table take turns."""
_UNKNOWN = Undefined("there is no value")


class InjectedIssue(msgspec.Struct, frozen=True):
    """An issue that befell a column ("" for the table), and for each plan whether it was caught."""

    column: str
    issue: str
    caught: tuple[bool, ...]

    @property
    def kind(self) -> str:
        """The type of the issue, whatever its severity.

        >>> InjectedIssue("price", "increased_nulls(share=0.5)", (True,)).kind
        'increased_nulls'
        """
        return self.issue.split("(")[0]


def inject_into(run: Run, lessons: Sequence[Learned], secret: bytes | None) -> tuple[InjectedIssue, ...]:
    """Every issue in columns of a run, one at a time, with who catches it.

    The issues befall likenesses of this very run, not those of an earlier one that the lessons were trained on. What
    they do is added to what the run measured. An issue is caught by an expectation that the run meets as it is and
    would break with the issue.
    """
    now = Past.of_runs([_choose_columns(run)], secret=secret)
    made = {column.label: synthesize(column, run.states, SAMPLE_ROWS) for column in now.schema.columns}
    sample = {label: values for label, values in made.items() if values is not None}
    novel = next((_NoveltyRatios(each.novelty, run) for each in lessons if each.novelty is not None), None)
    found = []
    for each in apply_to_latest(measure_effects(now, sample), now):
        ratios = (
            None if novel is None else novel.ratios([now.metrics[at].key for at in each.metric_indices], each.values)
        )
        caught = [_find_caught(run, now, each, lesson, ratios) for lesson in lessons]
        found += [
            InjectedIssue(each.column, issue, tuple(bool(by[at]) for by in caught))
            for at, issue in enumerate(each.issues)
        ]
    return tuple(found)


def _choose_columns(run: Run) -> Run:
    """A run with no more columns than are struck, drawn by its partition's name so that each has its turn."""
    columns = run.schema.columns
    if len(columns) <= MAX_COLUMNS:
        return run
    rng = np.random.default_rng(zlib.crc32(run.partition.encode("utf-8", "surrogatepass")))
    places = sorted(rng.choice(len(columns), MAX_COLUMNS, replace=False).tolist())
    return msgspec.structs.replace(run, schema=Schema(tuple(columns[at] for at in places)))


def _find_caught(run: Run, now: Past, damaged: AppliedEffect, lesson: Learned, ratios: Floats | None) -> Truths:
    """Which of the issues some expectation of a lesson catches."""
    found = np.zeros(len(damaged.issues), bool)
    for each in _find_broken(run, now, damaged, lesson, ratios):
        found |= each
    return found


def _find_broken(
    run: Run, now: Past, damaged: AppliedEffect, lesson: Learned, ratios: Floats | None
) -> Iterator[Truths]:
    """For each expectation that an issue may touch, which of the issues break it."""
    places = {now.metrics[place].key: at for at, place in enumerate(damaged.metric_indices.tolist())}
    rules = {each.expectation.metric: each.catches for each in lesson.text_rules}
    for clause in lesson.program.clauses:
        expectation, key = clause.expectation, clause.metric
        touched = key in places or key in rules or key == NOVELTY
        if not touched or expectation.judge(run.outcomes.get(key, _UNKNOWN)).status is not Status.PASS:
            continue
        if key in rules:
            # no text of the batch is left to break: what the rule caught when it was learned stands for it
            yield np.array([(damaged.column, issue) in rules[key] for issue in damaged.issues])
        elif key in places:
            yield _is_outside(expectation.predicate, damaged.values[:, places[key]])
        elif ratios is not None:
            yield _is_outside(expectation.predicate, ratios)


def _is_outside(predicate: Predicate, values: Floats) -> Truths:
    """Which values a predicate does not allow; one that is not there is not judged."""
    return np.array([value == value and not predicate.holds(value) for value in values.tolist()], bool)


class _NoveltyRatios:
    """A run among those before it, to be scored again with some of its metrics changed."""

    def __init__(self, novelty: Novelty, run: Run) -> None:
        known = numeric_values(run.outcomes)
        self.novelty = novelty
        self.places = {each.key: at for at, each in enumerate(novelty.metrics)}
        self.row = np.array([known.get(key, np.nan) for key in self.places])

    def ratios(self, keys: Sequence[MetricKey], values: Floats) -> Floats:
        """How novel the run is with these metrics at each row of values."""
        rows = np.repeat(self.row[None], len(values), axis=0)
        told = [at for at, key in enumerate(keys) if key in self.places]
        rows[:, [self.places[keys[at]] for at in told]] = values[:, told]
        return self.novelty.scores_of(self.novelty.features.scale_rows(rows)) / self.novelty.usual
