"""Gather evidence from the recorded batches of a store, and say how well the budget was kept without and with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from headgate.display.blocks import Grid, Note
from headgate.display.page import Page, Paged
from headgate.display.table import Table
from headgate.engine.progress import Progress
from headgate.learn.evidence import (
    LONGEST,
    MIN_BATCHES,
    NO_EVIDENCE,
    OWN_BATCHES,
    OWN_TABLES,
    RUNS_OF_LENGTH,
    Evidence,
    count_held,
    count_table,
    gather_rarities,
    name_table,
)
from headgate.learn.past import Past
from headgate.learn.pooled_rates import PooledRates, load_pooled_rates
from headgate.learn.scope import WHOLE_TABLE, LearningScope
from headgate.store.port import HistoryStore
from headgate.values.errors import MisuseError, did_you_mean
from headgate.values.rarity_memory import BatchRarity
from headgate.values.run import TRUSTED

BUDGETS = (0.01, 0.05)
MOST_RUNS = 400
"""Good runs of a table that are replayed, the newest."""


class TableCalibration(msgspec.Struct, frozen=True):
    """A table whose good batches were replayed, and how many of them are held at each of `BUDGETS`.

    `held_by_package` is by what comes with the package alone, `held` by the evidence, without what the table itself
    adds to it.
    """

    dataset: str
    batches: int
    held_by_package: tuple[int, ...]
    held: tuple[int, ...]


class Calibration(Paged, msgspec.Struct, frozen=True):
    """Evidence that was gathered, and what it changes. `skipped` says why a table adds nothing."""

    evidence: Evidence
    tables: tuple[TableCalibration, ...] = ()
    skipped: dict[str, str] = {}

    def page(self) -> Page:
        head = ["dataset", "good batches"]
        for budget in BUDGETS:
            head += [f"held at {budget:.0%}, package", f"held at {budget:.0%}, evidence"]
        rows = [_list_cells(each.dataset, each.batches, each.held_by_package, each.held) for each in self.tables]
        if len(self.tables) > 1:
            rows.append(_list_cells("all", *self._add_up()))
        notes = [Note(f"{name}: {why}.") for name, why in self.skipped.items()]
        grid = [Grid(Table(tuple(head), tuple(map(tuple, rows))))] if rows else []
        return Page("Calibration", blocks=(*grid, *notes, Note(self.describe_use())))

    def describe_use(self) -> str:
        """Whether the evidence is used beside that of the package or in its place, in words."""
        count = len(self.evidence.tables)
        if not count:
            return "No table has enough good batches, so the evidence of the package is used alone."
        tables = f"{count} table{'s' * (count > 1)}"
        if self.evidence.replaces_package:
            return f"{tables}: the evidence takes the place of that of the package."
        enough = f"{OWN_TABLES} tables with {OWN_BATCHES:,} batches"
        return f"{tables}: the evidence is used beside that of the package, and in its place from {enough} on."

    def to_dict(self) -> dict[str, Any]:
        return {
            "tables": [
                {
                    "dataset": each.dataset,
                    "batches": each.batches,
                    "budgets": [
                        {"budget": budget, "held_by_package": before, "held": after}
                        for budget, before, after in zip(BUDGETS, each.held_by_package, each.held, strict=True)
                    ],
                }
                for each in self.tables
            ],
            "skipped": self.skipped,
            "evidence_tables": len(self.evidence.tables),
            "replaces_package": self.evidence.replaces_package,
        }

    def _add_up(self) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
        before = tuple(sum(each.held_by_package[at] for each in self.tables) for at in range(len(BUDGETS)))
        after = tuple(sum(each.held[at] for each in self.tables) for at in range(len(BUDGETS)))
        return sum(each.batches for each in self.tables), before, after


def calibrate(
    store: HistoryStore,
    datasets: str | Iterable[str] | None = None,
    *,
    scopes: Mapping[str, LearningScope] = MappingProxyType({}),
    known: Evidence = NO_EVIDENCE,
    progress: Callable[[Progress], None] | None = None,
) -> Calibration:
    """Replay the good batches of the tables of a store, and gather how rare they were.

    No data is read, and nothing is recorded. The evidence has counts alone: no value, and no name of a dataset or a
    column.

    Args:
        store: Where the history is kept.
        datasets: The tables. Default: all of the store.
        scopes: The columns and metrics that the gate of a table learns from, by dataset. Default: all.
        known: Evidence of other stores, which is merged. What it has of the tables themselves is replaced.
        progress: A function that is called with a `Progress` after each table.
    """
    package = load_pooled_rates()
    names = _choose_names(store, datasets)
    rarities: dict[str, dict[int, list[BatchRarity]]] = {}
    skipped: dict[str, str] = {}
    for number, name in enumerate(names, 1):
        found = _replay_table(store, name, package, scopes.get(name, WHOLE_TABLE))
        if len(found.get(LONGEST, ())) >= MIN_BATCHES:
            rarities[name] = found
        else:
            runs = RUNS_OF_LENGTH[LONGEST] + MIN_BATCHES
            skipped[name] = f"it has too few good batches; from {runs} on it counts"
        if progress is not None:
            progress(Progress(number, len(names), stage=name, unit="tables"))
    ids = {name: name_table(store.secret, name) for name in names}
    tables = {ids[name]: count_table(found, package.levels) for name, found in rarities.items()}
    others = known.leave_out(set(ids.values()))
    evidence = others.merge(Evidence(levels=package.levels, tables=tables))
    counted = tuple(
        _calibrate_table(name, found[LONGEST], package, evidence.apply_to(package, without=ids[name]))
        for name, found in rarities.items()
    )
    return Calibration(evidence, counted, skipped)


def _choose_names(store: HistoryStore, datasets: str | Iterable[str] | None) -> tuple[str, ...]:
    known = store.datasets()
    if datasets is None:
        return known
    names = tuple(dict.fromkeys([datasets] if isinstance(datasets, str) else datasets))
    for name in names:
        if name not in known:
            raise MisuseError(f"the store has no batch of {name!r};", hint=did_you_mean(name, known))
    return names


def _replay_table(
    store: HistoryStore, dataset: str, pooled_rates: PooledRates, scope: LearningScope
) -> dict[int, list[BatchRarity]]:
    revisions = store.last(dataset, MOST_RUNS, only=TRUSTED)
    if len(revisions) < RUNS_OF_LENGTH[LONGEST] + MIN_BATCHES:
        return {}
    past = Past.of_runs([store.run(each) for each in revisions], secret=store.secret).choose_columns(scope)
    return gather_rarities(past, pooled_rates, scope.learns_metric)


def _calibrate_table(
    dataset: str, batches: list[BatchRarity], package: PooledRates, rates: PooledRates
) -> TableCalibration:
    before = tuple(count_held(batches, package, budget) for budget in BUDGETS)
    after = tuple(count_held(batches, rates, budget) for budget in BUDGETS)
    return TableCalibration(dataset, len(batches), before, after)


def _list_cells(name: str, batches: int, before: tuple[int, ...], after: tuple[int, ...]) -> list[str]:
    pairs = (f"{count} ({count / max(1, batches):.1%})" for pair in zip(before, after, strict=True) for count in pair)
    return [name, f"{batches:,}", *pairs]
