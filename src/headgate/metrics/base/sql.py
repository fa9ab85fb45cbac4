"""Row predicates as SQL text: it quotes names and values, joins filters, and finds the columns that are read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, TypeAlias

from headgate.values.errors import BadPredicate

Value: TypeAlias = str | bool | int | float | Decimal | date | datetime


_VARIABLE = "${"


def quote_name(name: str) -> str:
    """The name of a column, quoted for a predicate.

    >>> quote_name("unit price"), quote_name("a`b")
    ('`unit price`', '`a``b`')
    """
    if _VARIABLE in name:
        raise BadPredicate(f"{name!r} cannot be named in SQL: Spark would read a variable in it.", hint="Rename it.")
    return add_backticks(name)


def add_backticks(name: str) -> str:
    """A name in backticks, for engines that do not replace variables in it."""
    return "`" + name.replace("`", "``") + "`"


def quote_value(value: Value) -> str:
    r"""A value as a SQL literal.

    >>> print(*map(quote_value, ["it's", 2.5, True, date(2026, 1, 31), "${env:HOME}"]))
    'it\'s' 2.5 true '2026-01-31' concat('$', '{env:HOME}')
    """
    match value:
        case bool():
            return "true" if value else "false"
        case Decimal() if not value.is_finite():
            return quote_value(float(value))
        case int() | Decimal():
            return str(value)
        case float() if value - value == 0.0:
            return repr(value)
        case float():
            return f"CAST('{'NaN' if value != value else value}' AS DOUBLE)"
        case datetime():
            # with a zone, since Spark reads one without as being in the zone of the session
            moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
            return quote_value(moment.isoformat(sep=" "))
        case date():
            return quote_value(value.isoformat())
        case str() if _VARIABLE in value:
            # Spark replaces variables (${env:HOME}) even inside quotes
            return f"concat({', '.join(quote_value(part) for part in _split_variables(value))})"
        case str():
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    raise BadPredicate(
        f"{value!r} cannot stand in a predicate.", hint="Use text, numbers, booleans, dates or timestamps."
    )


def _split_variables(text: str) -> list[str]:
    """The text in pieces, none of which contains the start of a variable."""
    first, *rest = text.split(_VARIABLE)
    cuts = [first, *("{" + piece for piece in rest)]
    return [piece + "$" * (index < len(rest)) for index, piece in enumerate(cuts)]


def join_filters(first: str | None, second: str | None) -> str | None:
    """Two row filters as one.

    >>> join_filters("a > 1", "b < 2"), join_filters(None, "b < 2")
    ('(a > 1) AND (b < 2)', 'b < 2')
    """
    return f"({close_comment(first)}) AND ({close_comment(second)})" if first and second else first or second or None


def close_comment(predicate: str) -> str:
    """A predicate that can be followed by others: a comment at its end must not hide them."""
    return f"{predicate}\n" if "--" in predicate else predicate


def join_tests(operator: str, tests: Sequence[str]) -> str:
    """Tests joined by AND or OR as a balanced tree: a chain of hundreds is too deep for recursive parsers.

    >>> join_tests("AND", ["a", "b", "c"])
    'a AND (b AND c)'
    """
    if len(tests) < 2:
        return "".join(tests)
    half = len(tests) // 2
    sides = [join_tests(operator, tests[:half]), join_tests(operator, tests[half:])]
    operands = [
        side if len(part) == 1 else f"({side})" for side, part in zip(sides, (tests[:half], tests[half:]), strict=True)
    ]
    return f" {operator} ".join(operands)


def columns_of(predicate: str) -> tuple[str, ...]:
    """The columns that a predicate names, and the places inside structs, in the order of their first mention.

    >>> columns_of("`unit price` > 2 AND address.city IN ('Rome')")
    ('unit price', 'address.city')
    """
    return tuple(dict.fromkeys(".".join(parts) for parts in names_of(predicate)))


def names_of(predicate: str) -> tuple[tuple[str, ...], ...]:
    """The names in a predicate, each split at its dots, without the variables of lambdas; none if it cannot be parsed.

    >>> names_of("a.b > 1 AND exists(many, each -> each > c)")
    (('a', 'b'), ('many',), ('c',))
    """
    import sqlglot  # slow to load, and most scans have no predicate
    from sqlglot import expressions as sql

    try:
        tree: Any = sqlglot.parse_one(predicate, read="spark")
        variables = {variable.name for each in tree.find_all(sql.Lambda) for variable in each.expressions}
        names = (tuple(part.name for part in column.parts) for column in tree.find_all(sql.Column, bfs=False))
        return tuple(dict.fromkeys(parts for parts in names if parts[0] not in variables))
    except Exception:  # for malformed text the parser raises many kinds of errors
        return ()
