"""Expectations about single rows, as decorators of query functions and as functions of DataFrames.

Nothing here runs or analyses a query, since the query functions of a declarative pipeline may not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec

from headgate.engine.row_rule import FIELDS, REASONS
from headgate.metrics.base.sql import close_comment, columns_of, join_tests, quote_value
from headgate.values.errors import BadPredicate, MisuseError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

P = ParamSpec("P")
OnFailure = Literal["keep", "drop", "fail"]

_REASON = f"struct<{','.join(f'{name}:string' for name in FIELDS)}>"
_LEVELS: dict[OnFailure, str] = {"keep": "warn", "drop": "error", "fail": "error"}


@dataclass(frozen=True)
class RowExpectation:
    """What a row must meet, as a SQL condition, and what is done with a row that does not meet it.

    As everywhere in this package, a row does not meet a condition that is null for it.
    """

    name: str
    condition: str
    on_failure: OnFailure

    def __post_init__(self) -> None:
        if not self.name or not self.condition.strip():
            raise MisuseError(
                "an expectation has a name and a condition.", hint='Write hg.expect("has a page", "page IS NOT NULL").'
            )
        try:
            import sqlglot

            sqlglot.parse_one(self.condition, read="spark")
        except Exception as error:  # the parser raises many kinds of errors for malformed text
            reason = str(error).partition("\n")[0]
            raise BadPredicate(f"the condition {self.condition!r} of {self.name!r} is not SQL: {reason}.") from None

    @property
    def failing_test(self) -> str:
        """SQL that is true for a row that fails, and false for every other."""
        return f"NOT coalesce({close_comment(self.condition)}, false)"

    @property
    def guard(self) -> str:
        """A branch of CASE that ends the query at a row that fails."""
        message = quote_value(f"headgate: a row does not meet '{self.name}': {self.condition}")
        return f"WHEN {self.failing_test} THEN raise_error({message}) IS NULL"

    @property
    def reason(self) -> str:
        """SQL of the struct that says why a row fails."""
        columns = ", ".join(columns_of(self.condition))
        texts = (self.name, _LEVELS[self.on_failure], columns, None, f"not true: {self.condition}")
        fields = (
            f"{quote_value(field)}, {'CAST(NULL AS STRING)' if text is None else quote_value(text)}"
            for field, text in zip(FIELDS, texts, strict=True)
        )
        return f"named_struct({', '.join(fields)})"


class RowExpectations:
    """Expectations about the rows of one dataset. `hg.expect`, `hg.expect_or_drop` and `hg.expect_or_fail` make them,
    and `+` puts them together.

    They are a decorator of a query function, and functions of a DataFrame, of a batch or a stream.
    """

    def __init__(self, expectations: tuple[RowExpectation, ...]) -> None:
        names = [each.name for each in expectations]
        double = next((name for name in names if names.count(name) > 1), None)
        if double is not None:
            raise MisuseError(f"two expectations have the name {double!r}.", hint="Give each a name of its own.")
        self.expectations = expectations

    def __add__(self, other: RowExpectations) -> RowExpectations:
        return RowExpectations((*self.expectations, *other.expectations))

    def __call__(self, query: Callable[P, DataFrame]) -> Callable[P, DataFrame]:
        """Decorate a query function, so that its rows meet the expectations."""

        @wraps(query)
        def select_checked(*args: P.args, **kwargs: P.kwargs) -> DataFrame:
            return self.apply(query(*args, **kwargs))

        return select_checked

    def apply(self, df: DataFrame) -> DataFrame:
        """The rows without those that are dropped. A row that must not be there ends the query."""
        guards = [each.guard for each in self._list("fail")]
        kept = join_tests("AND", [f"NOT ({each.failing_test})" for each in self._list("drop")]) or "true"
        # one expression, so that no optimizer drops a row before it is looked at
        test = f"CASE {' '.join(guards)} ELSE {kept} END" if guards else kept
        return df if test == "true" else df.where(test)

    def select_dropped(self, df: DataFrame) -> DataFrame:
        """The rows that `apply` drops, each with its reasons in the column `headgate_reasons`, for a quarantine."""
        dropping = self._list("drop")
        if not dropping:
            raise MisuseError("no expectation drops rows.", hint="Use hg.expect_or_drop(...).")
        tests = [each.failing_test for each in dropping]
        reasons = ", ".join(
            f"CASE WHEN {test} THEN {each.reason} END" for test, each in zip(tests, dropping, strict=True)
        )
        marked = f"CAST(array_compact(array({reasons})) AS array<{_REASON}>) AS {REASONS}"
        return df.where(join_tests("OR", tests)).selectExpr("*", marked)

    def count(self, kept: DataFrame, dropped: DataFrame | None = None) -> DataFrame:
        """How many rows meet each expectation: a row of `name`, `on_failure`, `condition`, `passed` and `failed`.

        Args:
            kept: The rows that `apply` gave, such as the table.
            dropped: The rows that `select_dropped` gave, such as the quarantine. Without them, nobody knows how many
                rows were dropped: `failed` is null for expectations that drop.
        """
        failing = [f"count_if({each.failing_test}) AS failed{at}" for at, each in self._number("keep")]
        counts = kept.selectExpr("count(*) AS kept", *failing)
        if dropped is not None:
            named = "count_if(exists({}, reason -> reason.rule = {})) AS failed{}"
            failing = [named.format(REASONS, quote_value(each.name), at) for at, each in self._number("drop")]
            counts = counts.crossJoin(dropped.selectExpr("count(*) AS dropped", *failing))
        rows = ", ".join(self._write_counts(at, dropped is not None) for at in range(len(self.expectations)))
        return counts.selectExpr(f"inline(array({rows}))")

    def _write_counts(self, at: int, knows_dropped: bool) -> str:
        """SQL of the struct of one expectation. Rows that were dropped are not among those that were kept."""
        each = self.expectations[at]
        seen = "kept + dropped" if knows_dropped and each.on_failure != "keep" else "kept"
        failed = {
            "keep": f"failed{at}",
            "drop": f"failed{at}" if knows_dropped else "CAST(NULL AS BIGINT)",
            "fail": "0L",
        }[each.on_failure]
        texts = {"name": each.name, "on_failure": each.on_failure, "condition": each.condition}
        fields = [f"'{field}', {quote_value(text)}" for field, text in texts.items()]
        return f"named_struct({', '.join(fields)}, 'passed', {seen} - coalesce({failed}, 0L), 'failed', {failed})"

    def _number(self, on_failure: OnFailure) -> list[tuple[int, RowExpectation]]:
        return [(at, each) for at, each in enumerate(self.expectations) if each.on_failure == on_failure]

    def _list(self, on_failure: OnFailure) -> list[RowExpectation]:
        return [each for each in self.expectations if each.on_failure == on_failure]


def expect(name: str | Mapping[str, str], condition: str = "") -> RowExpectations:
    """Expect that rows meet a condition. Those that do not are kept; `RowExpectations.count` counts them.

    >>> [each.condition for each in expect("has a page", "page IS NOT NULL").expectations]
    ['page IS NOT NULL']

    Args:
        name: The name of the expectation; or several conditions by name.
        condition: A SQL condition of the row.
    """
    return _make(name, condition, "keep")


def expect_or_drop(name: str | Mapping[str, str], condition: str = "") -> RowExpectations:
    """Expect that rows meet a condition, and drop those that do not; `select_dropped` keeps them elsewhere.

    The arguments are those of `expect`.
    """
    return _make(name, condition, "drop")


def expect_or_fail(name: str | Mapping[str, str], condition: str = "") -> RowExpectations:
    """Expect that all rows meet a condition: the first one that does not ends the query.

    The arguments are those of `expect`.
    """
    return _make(name, condition, "fail")


def _make(name: str | Mapping[str, str], condition: str, on_failure: OnFailure) -> RowExpectations:
    given: Any = name
    if isinstance(name, str):
        given = {name: condition}
    if not isinstance(given, Mapping) or not given:
        raise MisuseError(
            "an expectation has a name and a condition.", hint='Write hg.expect("has a page", "page IS NOT NULL").'
        )
    return RowExpectations(tuple(RowExpectation(each, text, on_failure) for each, text in given.items()))
