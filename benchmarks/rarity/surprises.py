"""How far each metric of a batch is from its forecast, for every good run of a feed and for broken copies of some.

What is learned from is what the gate has: the 30 runs before, as its store keeps them.
"""

from __future__ import annotations

import hashlib
import pickle
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import headgate.learn.calendar as calendars
import headgate.learn.dated_columns as dated_columns
import headgate.learn.history.basics as basics
import headgate.learn.history.forecast as forecasting
import headgate.learn.history.noise as noise
import headgate.learn.history.series_kinds as kinds
import headgate.learn.metric_traits as measuring
import headgate.learn.outside_period as outside_period
import headgate.learn.past as distancing
from benchmarks.gate.audit import audited
from benchmarks.history.feeds import Feed
from benchmarks.history.incidents import is_incident
from benchmarks.history.series import CACHE, Batch, analysed
from benchmarks.history.table_cases import table_cases
from benchmarks.values_mode import SECRET, hide_states
from headgate.engine.analysis import Analysis
from headgate.learn.calendar import Calendar
from headgate.learn.copies import COPIES, count_copies, propose_no_copy
from headgate.learn.evidence import LONGEST, RUNS_OF_LENGTH
from headgate.learn.history.basics import find_basics, find_nulls, measure_nulls
from headgate.learn.history.dates import propose_dates
from headgate.learn.history.forecast import forecast_past
from headgate.learn.history.program import Clause, Program
from headgate.learn.history.schema import propose_schema
from headgate.learn.history.series_kinds import find_comparable, find_kinds
from headgate.learn.past import (
    DEFAULT_DISTANCES,
    DEFAULT_RUNS,
    Past,
    attempt_prefixes,
    measure_distances,
    numeric_values,
)
from headgate.values.account import Account
from headgate.values.run import Run

MADE_BY = (calendars, dated_columns, basics, forecasting, noise, kinds, measuring, outside_period, distancing)
MOST_RUNS = 400
"""Good runs of a feed that are looked at; of longer feeds every second, third, ... run."""
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


class Surprises(NamedTuple):
    """The surprises of the metrics of one batch, which are places in those of the feed.

    `nulls` is the largest surprise of more nulls than usual, of columns that have some.
    """

    metrics: Indices
    kinds: Indices
    surprises: Floats
    basics: npt.NDArray[np.bool_]
    nulls: float = 0.0


class Replayed(NamedTuple):
    """A good run or a broken copy: `number` counts the good runs before it.

    `lengths` has the surprises after histories of each length; a broken copy has those of the longest alone. `shape` is
    whether a clause about the schema, about dates or about copies fails, which is free of the budget.
    """

    number: int
    partition: str
    lengths: dict[int, Surprises]
    issue: str = ""
    shape: bool = False


class ReplayedFeed(NamedTuple):
    """The metrics of a feed, each with its column, and its batches in order."""

    metrics: list[tuple[str, str]]
    good: list[Replayed]
    broken: list[Replayed]


def replay_feed(feed: Feed) -> ReplayedFeed:
    """The surprises of a feed; computed once."""
    source = b"".join(Path(str(each.__file__)).read_bytes() for each in MADE_BY) + Path(__file__).read_bytes()
    source += repr(audited()).encode()  # they say which runs are good
    file = CACHE / f"{feed.folder}.{feed.name}.{hashlib.sha256(source).hexdigest()[:12]}.rarity"
    if not file.exists():
        part = file.with_suffix(".rarity.part")
        part.write_bytes(pickle.dumps(tuple(_replay(feed))))
        part.rename(file)
    return ReplayedFeed(*pickle.loads(file.read_bytes()))


def _replay(feed: Feed) -> ReplayedFeed:
    places: dict[tuple[str, str], int] = {}
    batches = analysed(feed)
    cases = defaultdict(list)
    for case in table_cases(feed, batches):
        cases[case.partition].append(case)
    good, broken = [], []
    for past, number, batch, is_looked_at in _list_pasts(feed, batches, cases.keys()):
        if is_looked_at:
            lengths = {
                length: _measure(_shorten(past, runs, batch.partition), batch.analysis, places)
                for length, runs in RUNS_OF_LENGTH.items()
                if len(past) >= runs
            }
            good.append(Replayed(number, batch.partition, lengths, shape=_breaks_shape(past, batch.analysis)))
        for case in cases.get(batch.partition, ()) if len(past) == DEFAULT_RUNS else ():
            found = {LONGEST: _measure(past, case.analysis, places)}
            broken.append(Replayed(number, batch.partition, found, case.issue, _breaks_shape(past, case.analysis)))
    return ReplayedFeed(list(places), good, broken)


def _list_pasts(
    feed: Feed, batches: Sequence[Batch], wanted: Collection[str]
) -> Iterator[tuple[Past, int, Batch, bool]]:
    """The runs before each good batch, how many good ones there were, the batch, and whether it is looked at itself."""
    good = [each for each in batches if _is_good(feed, each.partition)]
    every = -(-len(good) // MOST_RUNS)
    runs: list[Run] = []
    for number, batch in enumerate(good):
        is_looked_at = number % every == 0
        if number >= min(RUNS_OF_LENGTH.values()) and (is_looked_at or batch.partition in wanted):
            yield Past.of_runs(runs, secret=SECRET, following=batch.partition), number, batch, is_looked_at
        runs = [*runs, _make_run(feed, batch, runs)][-DEFAULT_RUNS:]


def _is_good(feed: Feed, partition: str) -> bool:
    """Whether a run is neither an incident of the list nor one in which a look at a hold found a reason."""
    return not is_incident(feed.title, partition) and not audited().get((feed.title, partition), (False, ""))[0]


def _make_run(feed: Feed, batch: Batch, before: Sequence[Run]) -> Run:
    analysis, states = batch.analysis, hide_states(batch.analysis.states)
    earlier = [each.states for each in before]
    distances = measure_distances(analysis.schema, states, earlier, DEFAULT_DISTANCES) if before else {}
    return Run(
        dataset=feed.title,
        partition=batch.partition,
        fingerprint=batch.partition,
        schema=analysis.schema,
        outcomes={**analysis.outcomes, **distances},
        states=states,
        account=Account(reference_attempts=attempt_prefixes(before)),
    )


def _shorten(past: Past, runs: int, following: str) -> Past:
    if len(past) == runs:
        return past
    partitions = past.partitions[-runs:]
    return replace(past, partitions=partitions, values=past.values[-runs:], calendar=Calendar.of(partitions, following))


def _measure(past: Past, analysis: Analysis, places: dict[tuple[str, str], int]) -> Surprises:
    values = numeric_values(past.outcomes(analysis))
    batch = np.array([values.get(each.key, np.nan) for each in past.metrics])
    forecast = forecast_past(past)
    surprises = forecast.surprise(batch)
    known = np.isfinite(surprises) & find_comparable(past)
    ids = np.array([places.setdefault((each.key.name, each.column), len(places)) for each in past.metrics])
    kinds_found, basics_found = find_kinds(forecast, past.values, past.metrics), find_basics(forecast, past.metrics)
    less = measure_nulls(forecast, batch)[find_nulls(forecast, past.metrics) & known]
    nulls = float(np.nanmax(less, initial=0.0))
    return Surprises(ids[known], kinds_found[known], surprises[known], basics_found[known], nulls)


def _breaks_shape(past: Past, analysis: Analysis) -> bool:
    proposals = [*propose_schema(past), *propose_dates(past), *propose_no_copy(past)]
    outcomes = {**past.outcomes(analysis), COPIES: count_copies(past, analysis.states)}
    return not Program(clauses=tuple(map(Clause.of, proposals))).verdict(outcomes, analysis.schema).passed
