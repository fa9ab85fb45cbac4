"""The price of a plan: what its folds, what they share and what they read cost, from measured constants."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import log2
from typing import NamedTuple, TypeAlias

from headgate.engine.cost_estimate import JOB, READ, SHARED, TEST, CostItem, Saving
from headgate.engine.fold_costs import FoldCost, FoldCosts
from headgate.engine.plan import EVERY_ROW, Fold, Plan
from headgate.values.schema import Kind

_NANO, _MICRO = 1e-9, 1e-6
LEAST_SAVING = 1 / 3
"""The least share of the whole that is worth a line of advice."""

Scope: TypeAlias = tuple[int, str | None]  # the position of a column, and the predicate of the rows


class Reading(NamedTuple):
    """How the rows are read: under which name the constants have it, and how many rows a batch has."""

    way: str
    batch_rows: int


class PlanPricing:
    """What a plan costs for a number of rows.

    Folds of one column share work, such as sorting. It is done once, so the column pays for the largest part that one
    of its folds has in common with others.

    Args:
        plan: The plan of the scan.
        costs: The measured constants.
        kinds: The name of the kind of each input that is a column, as the constants have it.
        rows: The number of rows.
        reading: How they are read.
        text_bytes: How long texts are.
    """

    def __init__(
        self,
        plan: Plan,
        costs: FoldCosts,
        kinds: Sequence[str],
        rows: int,
        reading: Reading,
        text_bytes: float,
    ) -> None:
        self.plan = plan
        self.costs = costs
        self.kinds = kinds
        self.rows = rows
        self.reading = reading
        self.text_bytes = text_bytes
        self.batches = -(-rows // max(1, reading.batch_rows))
        self.labels = [plan.schema.columns[at].label for at in plan.columns]

    @cached_property
    def items(self) -> tuple[CostItem, ...]:
        """All parts of the cost, the most expensive first."""
        found = [*self._price_folds(), *self._price_shared(), *self._price_reading(), *self._price_rest()]
        return tuple(sorted(found, key=lambda item: -item.seconds))

    def _price_folds(self) -> Iterator[CostItem]:
        readers: dict[object, list[str]] = defaultdict(list)
        for metric in self.plan.metrics:
            if metric.key not in self.plan.failed:
                readers[metric.state_key].append(metric.name)
        for fold in self.plan.folds:
            own, measured = zip(*self._find_costs(fold), strict=True)
            # states that grow are merged in pairs, then these in pairs: each value once on every level
            levels = log2(max(1, self.batches))
            nanoseconds = sum(cost.price_own(self.text_bytes) + levels * cost.merge for cost in own)
            yield CostItem(
                columns=tuple(self.labels[at] for at in self._columns_of(fold)),
                work=fold.metric.folded,
                seconds=self._price_rows(nanoseconds) + self.batches * sum(cost.batch for cost in own) * _MICRO,
                nanoseconds=nanoseconds,
                bytes=max(cost.size + cost.growth * self.rows for cost in own),
                metrics=tuple(dict.fromkeys(readers[fold.metric.state_key])),
                where=fold.metric.where,
                is_measured=all(measured),
            )

    def _price_shared(self) -> Iterator[CostItem]:
        for scope, shared in self._shared.items():
            position, where = scope
            filtered = 0.0 if where is None else self.costs.filter
            nanoseconds = max(shared.values()) + filtered
            if nanoseconds:
                label = (self.labels[position],)
                yield CostItem(label, SHARED, self._price_rows(nanoseconds), nanoseconds, where=where)

    def _price_reading(self) -> Iterator[CostItem]:
        for label, nanoseconds in zip(self.labels, self._read, strict=True):
            if nanoseconds:
                yield CostItem((label,), READ, self._price_rows(nanoseconds), nanoseconds)

    def _price_rest(self) -> Iterator[CostItem]:
        """What is done once for the scan: tests of rows, and the job."""
        for question in self.plan.questions:
            if question != EVERY_ROW:
                price = self.costs.predicate
                yield CostItem((), TEST, self._price_rows(price), price, where=str(question))
        if job := self.costs.jobs.get(self.reading.way, 0.0):
            yield CostItem((), JOB, job)

    def find_saving(self) -> Saving | None:
        """The column, or the state with its metrics, that is best left out; None if none is worth it."""
        total = sum(item.seconds for item in self.items)
        savings = [*self._save_states(), *self._save_columns()]
        best = max(savings, key=lambda saving: saving.seconds, default=None)
        return best if best is not None and best.seconds > LEAST_SAVING * total else None

    def _save_columns(self) -> Iterator[Saving]:
        if len(self.labels) > 1:
            saved: dict[str, float] = defaultdict(float)
            for item in self.items:
                for name in item.columns:
                    saved[name] += item.seconds
            yield from (Saving(name, seconds, is_column=True) for name, seconds in saved.items())

    def _save_states(self) -> Iterator[Saving]:
        """For each state what its folds cost, with what only they need of what a column shares, and of reading."""
        saved: dict[str, float] = defaultdict(float)
        names: dict[str, dict[str, None]] = defaultdict(dict)
        for item in self.items:
            if item.metrics:
                saved[item.work] += item.seconds
                names[item.work] |= dict.fromkeys(item.metrics)
        for shared in self._shared.values():
            for state in shared:
                others = (price for other, price in shared.items() if other != state)
                saved[state] += self._price_rows(max(shared.values()) - max(others, default=0.0))
        for price, states in zip(self._read, self._states_of_columns, strict=True):
            if len(states) == 1:
                saved[next(iter(states))] += self._price_rows(price)
        if len(saved) > 1:
            yield from (Saving(" and ".join(names[state]), each, False) for state, each in saved.items())

    def _price_rows(self, nanoseconds: float) -> float:
        return self.rows * nanoseconds * _NANO

    def _columns_of(self, fold: Fold) -> tuple[int, ...]:
        return tuple(at for at in fold.positions if at < len(self.labels))

    def _find_costs(self, fold: Fold) -> list[tuple[FoldCost, bool]]:
        """The cost for each column that a fold reads; for one that reads only tests of rows, of these."""
        kinds = [self.kinds[at] for at in self._columns_of(fold)] or [Kind.BOOLEAN.value]
        return [self.costs.find_fold(kind, fold.metric.folded) for kind in kinds]

    @cached_property
    def _shared(self) -> Mapping[Scope, dict[str, float]]:
        """By column and predicate of the rows, what each state has in common with others: nanoseconds a row."""
        found: dict[Scope, dict[str, float]] = defaultdict(dict)
        for fold in self.plan.folds:
            for position, (cost, _) in zip(self._columns_of(fold), self._find_costs(fold), strict=False):
                found[position, fold.metric.where][fold.metric.folded] = cost.price_shared(self.text_bytes)
        return found

    @cached_property
    def _read(self) -> list[float]:
        """Nanoseconds a row for reading each column."""
        found = [self.costs.find_reading(self.reading.way, kind) for kind in self.kinds]
        return [0.0 if cost is None else cost.price(self.text_bytes) for cost in found]

    @cached_property
    def _states_of_columns(self) -> list[set[str]]:
        found: list[set[str]] = [set() for _ in self.labels]
        for fold in self.plan.folds:
            for position in self._columns_of(fold):
                found[position].add(fold.metric.folded)
        return found
