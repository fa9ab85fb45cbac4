"""The values whose stored forms are kept for ever, and the names that never change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple, get_args

import msgspec
import pyarrow as pa

from headgate.engine.analysis import Analysis
from headgate.engine.analyze import analyze
from headgate.metrics.base.metric import Metric
from headgate.metrics.base.registry import metrics
from headgate.metrics.states.distinct import Distinct
from headgate.metrics.states.kept import GroupTable, KeptGroups
from headgate.metrics.states.quantiles import Quantiles
from headgate.metrics.states.text_numbers import TextNumbers
from headgate.values.expectation import Expectation, Level, Source, Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Outcome
from headgate.values.predicate import Between, OneOf, Predicate
from headgate.values.schema import Kind
from headgate.values.state import State, state_types, tag_of
from tests.laws.cases import every_case

COLUMNS = {
    Kind.INTEGER: pa.array([1, 2, None, 2**53, -5, 2]),
    Kind.FLOAT: pa.array([1.5, -2.5, None, float("nan"), 0.0, 1.5]),
    Kind.DECIMAL: pa.array([Decimal("1.50"), None, Decimal("-3.25"), Decimal("0"), Decimal("1.50"), None]),
    Kind.BOOLEAN: pa.array([True, False, None, True, True, None]),
    Kind.STRING: pa.array(["a1", "", None, "Zoë-2", "a1", "2026-11-15"]),
    Kind.DATE: pa.array([date(2026, 11, 15), None, date(1969, 12, 31), None, date(2026, 11, 15), None]),
    Kind.TIMESTAMP: pa.array([datetime(2026, 11, 15, 3, 4, 5), None, datetime(1970, 1, 1), None, None, None]),
    Kind.BINARY: pa.array([b"\xff\x00", b"", None, b"abc", b"abc", b"abc"]),
    Kind.OTHER: pa.array([[1], None, [], [2, 3], None, [1]]),
}


LARGE = pa.array(range(0, 15_000, 3))
_LARGE_AS = {Kind.STRING: pa.string()}


class Example(NamedTuple):
    """A state and the metric whose fold made it."""

    metric: Metric[Any]
    kinds: tuple[Kind, ...]
    state: State

    def readers(self) -> list[Metric[Any]]:
        """All metrics that are measured from such a state."""
        every = [case.metric for case in every_case() if case.kinds == self.kinds]
        return [metric for metric in every if metric.state_key == self.metric.state_key]


def columns(kinds: Iterable[Kind], data: str) -> list[pa.Array]:
    return [COLUMNS[kind] if data == "small" else LARGE.cast(_LARGE_AS.get(kind, LARGE.type)) for kind in kinds]


def examples() -> dict[str, Example]:
    """One for each stored name of a state: the first fold that makes it, or what is left of one that was shrunk.

    Sketches have two forms: `distinct` becomes registers and `quantiles` compacts when it has seen many values. None of
    the small texts is a number, so `text_numbers` has large data too.
    """
    found: dict[str, Example] = {}
    for case in every_case():
        state = case.fold(columns(case.kinds, "small")).finish()
        for each in (state, state.shrink()):
            found.setdefault(f"{tag_of(type(each))}-small", Example(case.metric, case.kinds, each))
        wants_more = isinstance(state, TextNumbers if case.kinds == (Kind.STRING,) else (Distinct, Quantiles))
        if case.kinds in ((Kind.INTEGER,), (Kind.STRING,)) and wants_more:
            large = case.fold(columns(case.kinds, "large"))
            found.setdefault(f"{tag_of(type(large))}-large", Example(case.metric, case.kinds, large))
    return dict(sorted(found.items()))


def analysis() -> Analysis:
    asked = [
        "size()",
        'mean("integer column")',
        'histogram("float column", bins=2)',
        'max("date column")',
        'value_distribution("string column") where "`integer column` > 0"',
        'uniqueness("string column", "binary column")',
        'compliance(predicate="`float column` > 1")',
        'mean("other column")',
        "mean(missing)",
    ]
    return analyze(pa.table([*COLUMNS.values()], names=[f"{kind.value} column" for kind in COLUMNS]), asked)


# States that say where others lie: nothing is folded to them, and nothing measured from them.
REFERENCES: dict[str, State] = {
    "kept_groups": KeptGroups((GroupTable("s3a://lake/_headgate/0f", '["mon"]', 2, 250_000),), (("groups", b"\x80"),))
}

EXPECTATIONS = [
    Expectation(MetricKey("mean", ("unit price",), (), "region = 'EU'"), Between(5, 500)),
    Expectation(
        MetricKey("approx_quantile", ("a",), (("q", 0.9),)), Between(low=0.5), Source.HISTORY, Level.WARN, 0.001
    ),
    Expectation(MetricKey("size"), OneOf((50, 51.5)), Source.DECLARED),
]


def own(kinds: Mapping[str, type[Any]]) -> dict[str, type[Any]]:
    """Those of the package itself; tests may have declared others."""
    return {name: kind for name, kind in kinds.items() if kind.__module__.startswith("headgate.")}


def stored_names() -> dict[str, list[str]]:
    """All that may stand in stored bytes, as it is now."""
    states, measured = own(state_types()), own(metrics())
    return {
        "metrics": sorted(measured),
        "folded": sorted({kind.folded for kind in measured.values()}),
        "parameters": sorted(
            {f"{name}.{field}" for name, kind in measured.items() for field in kind.__struct_fields__}
        ),
        "states": sorted(states),
        "fields": sorted(f"{tag}.{field}" for tag, kind in states.items() for field in kind.__struct_fields__),
        "predicates": sorted(str(kind.__struct_config__.tag) for kind in get_args(Predicate)),
        "outcomes": sorted(str(kind.__struct_config__.tag) for kind in get_args(Outcome)),
        "expectation": sorted(Expectation.__struct_fields__),
        "key": sorted(MetricKey.__struct_fields__),
        "kinds": sorted(Kind),
        "statuses": sorted(Status),
        "levels": sorted(Level),
        "sources": sorted(Source),
    }


def plain(value: Any) -> Any:
    return msgspec.to_builtins(value)
