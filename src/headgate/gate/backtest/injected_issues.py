"""Injects issues into a recorded batch, from its states alone, and tells which expectations catch them.

Tested by `tests/gate/backtest/test_backtest.py`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.learn.history.rarity import Rarities, make_rarity_key
from headgate.learn.issue_effects import AppliedEffect, apply_to_latest, measure_effects
from headgate.learn.learned import Learned
from headgate.learn.novelty.model import NOVELTY, Novelty
from headgate.learn.past import Past, numeric_values
from headgate.learn.scope import LearningScope
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
"""Rows of the synthetic columns that issues are injected into: more than the learners train on, so that other rows are
broken, and few enough for sketches to be exact, so that a backtest gives the same result each time."""
MAX_COLUMNS = 10
"""Columns of a batch that get issues at most; a wider table gets them in other columns of each batch."""
_UNKNOWN = Undefined("there is no value")


class InjectedIssue(msgspec.Struct, frozen=True):
    """An issue in a column ("" for the table), and for each plan whether it is caught."""

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


def inject_into(run: Run, programs: Sequence[Learned], secret: bytes | None) -> tuple[InjectedIssue, ...]:
    """Every issue in columns of a run, one at a time, and which of the learned programs catch it.

    The issues go into synthetic columns made from the states of this run, not of the earlier run that the programs
    were trained on. Their effect is added to the metrics of the run. A program catches an issue if one of its
    expectations holds for the run as it is and fails with the issue. Columns that are not learned from get no issue.
    """
    now = Past.of_runs([_choose_columns(run, programs[0].scope)], secret=secret)
    columns = {column.label: synthesize(column, run.states, SAMPLE_ROWS) for column in now.schema.columns}
    sample = {label: values for label, values in columns.items() if values is not None}
    novelty = next((_NoveltyRatios(each.novelty, run) for each in programs if each.novelty is not None), None)
    rarities = next((each.rarities for each in programs if each.rarities is not None), None)
    issues = []
    for effect in apply_to_latest(measure_effects(now, sample), now):
        keys = [now.metrics[index].key for index in effect.metric_indices]
        ratios = None if novelty is None else novelty.ratios(keys, effect.values)
        rare = _measure_rarities(rarities, run, keys, effect.values)  # all programs are of one past
        caught = []
        for learned in programs:
            known = {} if learned.rarities is None else rare
            broken = _find_broken(run, now, effect, learned, ratios, known)
            caught.append(reduce(np.logical_or, broken, np.zeros(len(effect.issues), bool)))
        issues += [
            InjectedIssue(effect.column, issue, tuple(bool(caught_by[at]) for caught_by in caught))
            for at, issue in enumerate(effect.issues)
        ]
    return tuple(issues)


def _choose_columns(run: Run, scope: LearningScope) -> Run:
    """The run with at most `MAX_COLUMNS` columns of the scope, drawn at random with the partition as the seed."""
    schema = scope.choose_columns(run.schema)
    columns = schema.columns
    if len(columns) <= MAX_COLUMNS:
        return msgspec.structs.replace(run, schema=schema)
    rng = np.random.default_rng(zlib.crc32(run.partition.encode("utf-8", "surrogatepass")))
    places = sorted(rng.choice(len(columns), MAX_COLUMNS, replace=False).tolist())
    return msgspec.structs.replace(run, schema=Schema(tuple(columns[at] for at in places)))


def _find_broken(
    run: Run,
    now: Past,
    effect: AppliedEffect,
    learned: Learned,
    ratios: Floats | None,
    rarities: Mapping[MetricKey, Floats],
) -> Iterator[Truths]:
    """For each expectation that the effect can change, which of the issues break it."""
    columns_of_values = {now.metrics[place].key: at for at, place in enumerate(effect.metric_indices.tolist())}
    rules = {each.expectation.metric: each.catches for each in learned.text_rules}
    for clause in learned.program.clauses:
        expectation, key = clause.expectation, clause.metric
        touched = key in columns_of_values or key in rules or key in rarities or key == NOVELTY
        if not touched or expectation.judge(run.outcomes.get(key, _UNKNOWN)).status is not Status.PASS:
            continue
        if key in rules:
            # no text of the batch is left to break: what the rule caught when it was learned stands for it
            yield np.array([(effect.column, issue) in rules[key] for issue in effect.issues])
        elif key in rarities:
            yield _is_outside(expectation.predicate, rarities[key])
        elif key in columns_of_values:
            yield _is_outside(expectation.predicate, effect.values[:, columns_of_values[key]])
        elif ratios is not None:
            yield _is_outside(expectation.predicate, ratios)


def _is_outside(predicate: Predicate, values: Floats) -> Truths:
    """Which values break a predicate; a missing value breaks none."""
    return np.array([value == value and not predicate.holds(value) for value in values.tolist()], bool)


def _measure_rarities(
    rarities: Rarities | None, run: Run, keys: Sequence[MetricKey], values: Floats
) -> dict[MetricKey, Floats]:
    """How rare each column of a run is with these metrics at each row of values."""
    if rarities is None:
        return {}
    places = {each.key: at for at, each in enumerate(rarities.past.metrics)}
    known = [at for at, key in enumerate(keys) if key in places]
    rows = np.repeat(rarities.arrange(run.outcomes)[None], len(values), axis=0)
    rows[:, [places[keys[at]] for at in known]] = values[:, known]
    return {make_rarity_key(column): found for column, found in rarities.measure_columns(rows).items()}


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
        known = [at for at, key in enumerate(keys) if key in self.places]
        rows[:, [self.places[keys[at]] for at in known]] = values[:, known]
        return self.novelty.scores_of(self.novelty.features.scale_rows(rows)) / self.novelty.usual
