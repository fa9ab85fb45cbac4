"""A program: the learned expectations for the next batch, which people can print, store, compare and edit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from headgate.display.blocks import Grid, Note
from headgate.display.page import Page, Paged
from headgate.display.table import Table
from headgate.engine.analysis import Analysis
from headgate.learn.column_kinds import explain_type
from headgate.learn.copies import COPIES
from headgate.learn.history.forecast import MIN_RUNS
from headgate.learn.history.rarity import Rarities, is_rarity
from headgate.learn.history.rarity_reasons import tell_reasons
from headgate.learn.past import Past
from headgate.learn.pooled_rates import PooledRates, load_pooled_rates
from headgate.metrics.base.metric import SchemaMetric
from headgate.metrics.base.registry import from_key, metrics
from headgate.metrics.distances.registry import distances
from headgate.values.errors import MisuseError, did_you_mean
from headgate.values.expectation import Expectation, Source
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.predicate import Predicate
from headgate.values.proposal import Proposal
from headgate.values.rarity_memory import NOTHING_REMEMBERED, Part, RarityMemory
from headgate.values.schema import Column, Schema
from headgate.values.verdict import Verdict, judge

_NO_FORECAST = "the past has too few runs"
SCHEMA_METRICS = frozenset({"has_column", "column_count", "column_type"})
"""Metrics of the columns of a table and their types, not of the values in them."""


class Clause(msgspec.Struct, frozen=True):
    """One expectation of a program, a note on where its range comes from, and how many injected issues it catches."""

    expectation: Expectation
    note: str = ""
    catches: int = 0
    pinned: bool = False
    weight: float = 1.0

    @classmethod
    def of(cls, proposal: Proposal) -> Clause:
        return cls(proposal.expectation, proposal.note, len(proposal.catches), proposal.pinned, proposal.weight)

    @property
    def cost(self) -> float:
        """The part of the budget that the clause uses: weight times false alarm rate, or 0 if it is pinned."""
        return 0.0 if self.pinned else self.weight * (self.expectation.false_alarm or 0.0)

    @property
    def metric(self) -> MetricKey:
        return self.expectation.metric

    def __str__(self) -> str:
        remarks = [self.note, "pinned" if self.pinned else format_rarity(self.expectation.false_alarm)]
        inside = "; ".join(filter(None, remarks))
        return f"{self.expectation}{f' ({inside})' if inside else ''}"


class Program(Paged, msgspec.Struct, frozen=True):
    """What the next batch of a table is expected to meet, learned from `runs` runs up to partition `upto`.

    `budget` is the share of good batches that may be held. Of `issues` injected issues, the clauses of the paper's form
    catch `caught`. `why` explains a program without limits of rarity. `memory` is how rare the runs were so far,
    `limits` how rare the parts of the next batch may be. `working_budget` is what these limits were found with: less
    than the budget after more false alarms than it allows.
    """

    clauses: tuple[Clause, ...] = ()
    runs: int = 0
    upto: str = ""
    budget: float = 0.0
    issues: int = 0
    caught: int = 0
    why: str = ""
    memory: RarityMemory = NOTHING_REMEMBERED
    limits: dict[Part, float] = {}
    working_budget: float | None = None

    @property
    def lowered_budget(self) -> float | None:
        """The working budget; None if it is the stated one."""
        return None if self.working_budget is None or self.working_budget >= self.budget else self.working_budget

    @property
    def expectations(self) -> tuple[Expectation, ...]:
        return tuple(each.expectation for each in self.clauses)

    @property
    def cost(self) -> float:
        """The part of the budget that all clauses use: about the share of good batches that is held."""
        return sum(each.cost for each in self.clauses)

    def judge(self, batch: Analysis, past: Past, pooled_rates: PooledRates | None = None) -> Verdict:
        """The verdict on a batch.

        Args:
            batch: The batch.
            past: The runs that the program was learned from. The distances of the batch are measured from them.
            pooled_rates: How rare values are on other tables. Default: what ships with the package.
        """
        outcomes = past.outcomes(batch)
        if not any(is_rarity(each.metric) for each in self.clauses):
            return self.verdict(outcomes, batch.schema)
        pinned = {each.metric for each in self.pins}
        rarities = Rarities.of(past, pooled_rates or load_pooled_rates(), self.memory, lambda key: key not in pinned)
        unknown = {each.metric: Undefined(_NO_FORECAST) for each in self.clauses if is_rarity(each.metric)}
        verdict = self.verdict({**outcomes, **unknown, **rarities.measure_outcomes(outcomes)}, batch.schema)
        return tell_reasons(rarities, verdict, outcomes)

    def verdict(self, outcomes: Mapping[MetricKey, Outcome], schema: Schema) -> Verdict:
        """The verdict on the outcomes of a batch, including its distances, and on its schema."""
        measured = {**outcomes, **self._measure_schema(schema, outcomes)}
        return judge(self.expectations, {**self._explain_missing(measured, schema), **measured})

    def _measure_schema(self, schema: Schema, measured: Mapping[MetricKey, Outcome]) -> dict[MetricKey, Outcome]:
        """The outcomes of the clauses about the schema.

        The type of a missing column is undefined, not wrong, where another clause already reports that it is missing.
        So is a type that the values do not show (`explain_type`).
        """
        schema_metrics = (
            (each.metric, from_key(each.metric)) for each in self.clauses if each.metric.name in SCHEMA_METRICS
        )
        outcomes = {key: metric.of(schema) for key, metric in schema_metrics if isinstance(metric, SchemaMetric)}
        required_columns = {key.columns for key in outcomes if key.name == "has_column"}
        missing_columns = [key for key in outcomes if key.name == "column_type" and key.columns[0] not in schema.labels]
        not_shown = _find_types_not_shown(outcomes, schema, measured)
        return (
            outcomes
            | not_shown
            | {key: Undefined("the column is gone") for key in missing_columns if key.columns in required_columns}
        )

    def _explain_missing(self, outcomes: Mapping[MetricKey, Outcome], schema: Schema) -> dict[MetricKey, Outcome]:
        """Metrics that were not measured because their column is missing, has no values or has another type.

        They are undefined, so their clauses are skipped: the clauses about the schema report such a change, once. A
        program without clauses about the schema explains nothing, and a metric that was not measured is an error.
        """
        if not any(each.metric.name == "column_count" for each in self.clauses):
            return {}
        columns = {column.label: column for column in schema.columns}
        missing = (each.metric for each in self.clauses if each.metric.columns and each.metric not in outcomes)
        causes = ((key, _why_not_measured(key, columns.get(key.columns[0]))) for key in missing)
        return {key: Undefined(why) for key, why in causes if why}

    def clauses_of(self, column: str) -> tuple[Clause, ...]:
        return tuple(each for each in self.clauses if each.metric.columns[:1] == (column,))

    # --- editing

    def pin(self, metric: MetricKey | str, predicate: Predicate | None = None) -> Program:
        """A program in which this clause is pinned, with `predicate` if one is given. Learning again keeps it as it is.

        >>> from headgate.values.predicate import Between
        >>> print(Program().pin("mean(price)", Between(5, 500)).clauses[0])
        mean(price) within 5..500 (pinned)
        """
        key = MetricKey.parse(metric) if isinstance(metric, str) else metric
        existing = [each for each in self.clauses if each.metric == key]
        if not existing and predicate is None:
            known = [str(each.metric) for each in self.clauses]
            raise MisuseError(f"the program has no clause about {key};", hint=did_you_mean(str(key), known))
        old = existing[0] if existing else Clause(Expectation(key, predicate))  # type: ignore[arg-type]
        expectation = msgspec.structs.replace(old.expectation, predicate=predicate or old.expectation.predicate)
        new = Clause(msgspec.structs.replace(expectation, false_alarm=None), old.note, old.catches, pinned=True)
        clauses = [new if each.metric == key else each for each in self.clauses] if existing else [*self.clauses, new]
        return msgspec.structs.replace(self, clauses=tuple(clauses))

    def without(self, metric: MetricKey | str) -> Program:
        """A program without the clause about this metric."""
        key = MetricKey.parse(metric) if isinstance(metric, str) else metric
        rest = tuple(each for each in self.clauses if each.metric != key)
        if len(rest) == len(self.clauses):
            known = [str(each.metric) for each in self.clauses]
            raise MisuseError(f"the program has no clause about {key};", hint=did_you_mean(str(key), known))
        return msgspec.structs.replace(self, clauses=rest)

    @property
    def pins(self) -> tuple[Clause, ...]:
        return tuple(each for each in self.clauses if each.pinned)

    # --- storing and comparing

    def to_json(self) -> str:
        return msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> Program:
        try:
            return msgspec.json.decode(text, type=cls)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise MisuseError(f"this is not a program: {error}.", hint="Give what to_json() gave.") from None

    def diff(self, earlier: Program) -> str:
        """The changes since an earlier program: + a new clause, - a removed clause, ~ a clause with another range."""
        before = {each.metric: each for each in earlier.clauses}
        now = {each.metric: each for each in self.clauses}
        lines = [f"- {before[key]}" for key in before if key not in now]
        lines += [f"+ {now[key]}" for key in now if key not in before]
        lines += [
            f"~ {now[key]}, was {before[key].expectation.predicate}"
            for key in now
            if key in before and now[key].expectation.predicate != before[key].expectation.predicate
        ]
        return "\n".join(lines) if lines else "no change"

    # --- printing

    def __str__(self) -> str:
        return "\n".join(
            [self._format_title(), *self._schema_lines(), *(f"  {each}" for each in self._value_clauses())]
        )

    def __repr__(self) -> str:
        return str(self)

    def page(self) -> Page:
        schema_notes = [Note(line.strip()) for line in self._schema_lines()]
        return Page(
            self._format_title(), blocks=(*schema_notes, *([Grid(self.table())] if self._value_clauses() else []))
        )

    def table(self) -> Table:
        """A row for each clause about values; `_schema_lines` summarises the clauses about the schema."""
        rows = tuple(
            (
                str(each.metric),
                str(each.expectation.predicate),
                each.note,
                "pinned" if each.pinned else format_rarity(each.expectation.false_alarm),
            )
            for each in self._value_clauses()
        )
        return Table(("metric", "expected", "from", "false alarm"), rows)

    def _format_title(self) -> str:
        if not self.runs:
            return ": ".join(filter(None, [self._format_short_title(), self.why]))
        spent = f"about {self.cost:.2%} of good batches held, budget {self.budget:.2%}{self._format_working()}"
        caught = f"catches {self.caught} of {self.issues} injected issues" if self.issues else ""
        return "; ".join(filter(None, [f"{len(self.clauses)} clauses from {self.runs} runs", spent, caught]))

    def _format_working(self) -> str:
        """The working budget, if it is another."""
        if self.lowered_budget is None:
            return ""
        return f", {self.lowered_budget:.2%} after {self.memory.alarms:.0f} false alarms in {self.memory.runs:.0f} runs"

    def _format_short_title(self) -> str:
        """The clauses of a program that has no ranges yet, counted by origin."""
        schema_clauses = sum(each.metric.name in SCHEMA_METRICS and not each.pinned for each in self.clauses)
        copies = sum(each.metric == COPIES and not each.pinned for each in self.clauses)
        own = sum(each.expectation.source is Source.HISTORY and not each.pinned for each in self.clauses)
        others = len(self.clauses) - len(self.pins) - own
        counts = {
            "about columns": schema_clauses,
            "about copies": copies,
            "coarse limits": own - schema_clauses - copies,
            "pinned": len(self.pins),
            "of other learners": others,
        }
        parts = [f"{count} {origin}" for origin, count in counts.items() if count]
        if not parts:
            return "no program" if self.why else "an empty program"
        return f"no ranges yet, clauses: {', '.join(parts)}"

    def _schema_lines(self) -> list[str]:
        """One line that sums up the clauses about the schema, which are many and similar; none if there are none."""
        schema_clauses = [each for each in self.clauses if each.metric.name in SCHEMA_METRICS and not each.pinned]
        columns = sum(each.metric.name == "has_column" for each in schema_clauses)
        types = sum(each.metric.name == "column_type" for each in schema_clauses)
        counts = [str(each.expectation) for each in schema_clauses if each.metric.name == "column_count"]
        if not schema_clauses:
            return []
        return [f"  {', '.join([f'{columns} columns present', f'{types} with their types', *counts])} (the schema)"]

    def _value_clauses(self) -> list[Clause]:
        return [each for each in self.clauses if each.metric.name not in SCHEMA_METRICS or each.pinned]


def _find_types_not_shown(
    types: Mapping[MetricKey, Outcome], schema: Schema, measured: Mapping[MetricKey, Outcome]
) -> dict[MetricKey, Outcome]:
    """The types that differ from what is expected although the values do not show it, as undefined outcomes."""
    columns = {column.label: column for column in schema.columns}
    differing = [key for key in types if types[key] == Measured(0.0) and key.name == "column_type"]
    reasons = {
        key: explain_type(columns[key.columns[0]], str(dict(key.parameters)["type"]), measured)
        for key in differing
        if key.columns[0] in columns
    }
    return {key: Undefined(why) for key, why in reasons.items() if why}


def _why_not_measured(key: MetricKey, column: Column | None) -> str:
    """Why a metric of a column was not measured; empty if the schema gives no reason."""
    if column is None:
        return "the column is gone"
    if column.empty:
        return "the column holds no value"
    known = metrics().get(key.name) or distances().get(key.name)
    return f"the column is now {column.kind}" if known and column.kind not in known.accepts else ""


def format_rarity(rate: float | None) -> str:
    """A false alarm rate as "1 in so many runs", rounded down to two digits.

    >>> format_rarity(0.00041)
    '1 in 2,400 runs'
    """
    if not rate:
        return ""
    runs_per_alarm = 1 / rate
    if runs_per_alarm > 1e6:
        return "less than 1 in 1,000,000 runs"
    unit = 10 ** max(0, len(str(int(runs_per_alarm))) - 2)
    return f"1 in {int(runs_per_alarm // unit * unit):,} runs"


def propose_pins(pins: Sequence[Clause]) -> list[Proposal]:
    """Pinned clauses as proposals. The selection always chooses them."""
    return [Proposal(each.expectation, frozenset(), each.note, pinned=True) for each in pins]


def exclude_pinned(proposals: Iterable[Proposal], pins: Sequence[Clause]) -> list[Proposal]:
    """The proposals about metrics that have no pinned clause."""
    pinned_metrics = {each.metric for each in pins}
    return [each for each in proposals if each.expectation.metric not in pinned_metrics]


def make_program(
    past: Past,
    chosen: Sequence[Proposal],
    false_alarms: float,
    *,
    pins: Sequence[Clause] = (),
    free: Sequence[Proposal] = (),
) -> Program:
    """The program of the chosen proposals, in the order of the columns.

    Args:
        past: The runs that it was learned from.
        chosen: The proposals.
        false_alarms: The budget.
        pins: Pinned clauses.
        free: Proposals that come first.
    """
    too_short = len(past) < MIN_RUNS
    column_order = {label: index for index, label in enumerate(past.schema.labels)}
    in_order = sorted(chosen, key=lambda proposal: (column_order.get(proposal.column, -1), proposal.family))
    return Program(
        clauses=(
            *map(Clause.of, exclude_pinned(free, pins)),
            *pins,
            *(Clause.of(each) for each in in_order if not each.pinned),
        ),
        runs=0 if too_short else len(past),
        why=f"{len(past)} accepted runs of {MIN_RUNS} that it takes" if too_short else "",
        upto=past.partitions[-1],
        budget=false_alarms,
    )
