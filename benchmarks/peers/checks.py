"""What is asked of every system: checks as plain data, so that each script can say them in its own words.

A check has an `id`, a `kind`, a column, and the bounds (`between`) of the value that is measured. Some fail on purpose.
Bounds have a margin, so that no definition of a null or of a deviation turns a pass into a failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

Check = dict[str, Any]

CODES = r"^INV-20[0-9]{2}-[0-9]{9}$"
FEW_CODES = r"^INV-20[01][0-9]-[0-9]{9}$"  # seven of 27 years are missing
UUIDS = r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
WORDS = ["delivered", "open", "Waiting for payment", "returned", "in transit"]
WHOLE = [1.0, 1.0]

# kinds whose value is a share of the values, so that it may be counted with or without nulls
SHARES = ("pattern", "one_of", "range")
# kinds of which single rows can be to blame
OF_ROWS = ("complete", *SHARES)


def number(checks: Iterable[Check]) -> list[Check]:
    return [{"id": f"c{at:03}", **check} for at, check in enumerate(checks)]


def rows_between(low: int, high: int) -> Check:
    return {"kind": "rows", "between": [low, high]}


def complete(column: str, least: float = 1.0) -> Check:
    return {"kind": "complete", "column": column, "between": [least, 1.0]}


def unique(column: str, least: float = 1.0) -> Check:
    return {"kind": "unique", "column": column, "between": [least, 1.0]}


def at_least(kind: str, column: str, low: float) -> Check:
    return {"kind": kind, "column": column, "between": [low, None]}


def at_most(kind: str, column: str, high: float) -> Check:
    return {"kind": kind, "column": column, "between": [None, high]}


def between(kind: str, column: str, low: float, high: float, **more: Any) -> Check:
    return {"kind": kind, "column": column, "between": [low, high], **more}


def pattern(column: str, regex: str, least: float = 1.0) -> Check:
    return {"kind": "pattern", "column": column, "pattern": regex, "between": [least, 1.0]}


def one_of(column: str, values: list[str], least: float = 1.0) -> Check:
    return {"kind": "one_of", "column": column, "values": values, "between": [least, 1.0]}


def in_range(column: str, low: float, high: float, least: float = 1.0) -> Check:
    return {"kind": "range", "column": column, "low": low, "high": high, "between": [least, 1.0]}


def checks_20(rows: int) -> list[Check]:
    """20 checks on ten columns of a mixed table; four fail."""
    return number(
        [
            rows_between(rows, rows),
            complete("n0"),
            at_least("min", "n0", 0),
            at_most("max", "n0", 5),  # fails: the digits 0 to 9
            complete("n1"),
            between("mean", "n1", 95, 105),
            between("stddev", "n1", 13, 17),
            complete("n2", 0.9),
            complete("n2", 0.99),  # fails: 5% are null
            at_least("min", "n2", 0),
            complete("n3"),
            between("mean", "n5", 150, 200),  # fails: 100
            unique("s0"),
            pattern("s0", UUIDS),
            complete("s1", 0.95),
            at_least("min_length", "s1", 5),
            one_of("s3", WORDS, 0.9),
            unique("s2"),  # fails: 5,000 words
            pattern("s4", CODES),
            at_most("max_length", "s4", 18),
        ]
    )


def checks_of_column(name: str) -> list[Check]:
    """Six checks that fit a column of a mixed table, by its place; the first are the most usual ones."""
    place = int(name[1:])
    if name[0] == "n":
        return [_integers, _normal, _lognormal, _large][place % 4](name)
    if place % 4:
        return _words(name, (5, 200, 5_000)[place % 3])
    return _uuids(name) if place % 8 == 0 else _codes(name)


def _integers(name: str) -> list[Check]:
    size = 10 ** (1 + int(name[1:]) % 6)
    return [
        in_range(name, 0, size - 1),
        complete(name),
        at_least("min", name, 0),
        at_most("max", name, size),
        between("mean", name, 0.4 * size, 0.6 * size),
        between("stddev", name, 0.2 * size, 0.4 * size),
    ]


def _normal(name: str) -> list[Check]:
    return [
        between("mean", name, 95, 105),
        between("stddev", name, 13, 17),
        complete(name),
        between("quantile", name, 95, 105, q=0.5),
        at_most("max", name, 250),
        in_range(name, 0, 200),
    ]


def _lognormal(name: str) -> list[Check]:
    return [
        complete(name, 0.9),
        at_least("min", name, 0),
        between("mean", name, 25, 45),
        between("quantile", name, 15, 25, q=0.5),
        complete(name, 0.99),  # fails
        at_most("max", name, 1e6),
    ]


def _large(name: str) -> list[Check]:
    most = 2**40
    return [
        in_range(name, -most, most),
        at_least("min", name, -most),
        at_most("max", name, most),
        between("mean", name, -most / 2, most / 2),
        complete(name),
        at_least("min", name, 0),  # fails
    ]


def _words(name: str, size: int) -> list[Check]:
    first = one_of(name, WORDS, 0.9) if size == 5 else at_most("max_length", name, 25)
    return [
        first,
        complete(name, 0.95),
        at_least("min_length", name, 4),
        at_most("max_length", name, 25),
        between("distinct", name, 2, size * 1.3),
        complete(name),  # fails
    ]


def _uuids(name: str) -> list[Check]:
    return [
        pattern(name, UUIDS),
        complete(name),
        unique(name),
        at_least("min_length", name, 36),
        at_most("max_length", name, 36),
        pattern(name, CODES),  # fails
    ]


def _codes(name: str) -> list[Check]:
    return [
        pattern(name, CODES),
        complete(name),
        at_least("min_length", name, 18),
        at_most("max_length", name, 18),
        unique(name, 0.9),
        pattern(name, FEW_CODES, 0.9),  # fails
    ]


def checks_63(rows: int) -> list[Check]:
    """63 checks on 25 of the columns of a mixed table of at least 40: what one writes for a table that matters."""
    names = [f"n{at}" for at in range(14)] + [f"s{at}" for at in range(11)]
    turns = [checks_of_column(name) for name in names]
    first = [checks[0] for checks in turns]
    second = [checks[1] for checks in turns]
    last = [checks[-1] for checks in turns[::4]]
    more = [unique("s0"), unique("s8"), unique("s2", 0.9), turns[1][3], turns[16][4]]
    return number([rows_between(rows, rows), *first, *second, *last, *more])


def checks_200(rows: int) -> list[Check]:
    """One check on each of the first 100 columns of numbers and 100 of strings; four of them exact uniqueness."""
    names = [f"{letter}{at}" for at in range(100) for letter in "ns"]
    found = []
    for at, name in enumerate(names):
        choices = [check for check in checks_of_column(name) if check["kind"] != "unique"]
        found.append(choices[at // 8 % len(choices)])
    for place in (0, 24, 48, 72):
        found[names.index(f"s{place}")] = unique(f"s{place}")
    return number(found)


def checks_unique(rows: int) -> list[Check]:
    """Exact uniqueness of ten columns, from all different to ten different values."""
    whole = ["s0", "s8", "s16", "n1", "n5"]
    nearly = ["s4", "s12", "n9"]
    return number(
        [*(unique(name) for name in whole), *(unique(name, 0.9) for name in nearly), unique("s2"), unique("n0")]
    )


def checks_of_states(rows: int) -> list[Check]:
    """What is merged over partitions: the 63, with exact uniqueness only of a column of 5,000 values."""
    kept = [check for check in checks_63(rows) if check["kind"] not in ("unique", "rows")]
    return number([rows_between(rows, rows), *kept, unique("s2")])


def checks_of_rows() -> list[Check]:
    """Seven rules that single rows break; about a third of the rows does."""
    return number(
        [
            complete("n2"),
            complete("s1"),
            in_range("n0", 0, 8),
            in_range("n1", 40, 160),
            in_range("n3", -(2**40), 2**40),
            pattern("s4", FEW_CODES),
            pattern("s0", UUIDS),
        ]
    )


AIRPORTS = ["EWR", "JFK", "LGA"]


def checks_of_flights(rows: int) -> list[Check]:
    """20 checks on ten columns of the flights from New York in 2013; three fail."""
    return number(
        [
            rows_between(rows, rows),
            between("min", "month", 1, 1),
            at_most("max", "month", 12),
            in_range("day", 1, 31),
            complete("dep_time", 0.95),
            complete("dep_time", 0.99),  # fails: cancelled flights
            between("mean", "dep_delay", 5, 20),
            at_least("min", "dep_delay", -30),  # fails: -43
            between("stddev", "dep_delay", 30, 50),
            between("mean", "distance", 850, 1_150),
            at_least("min", "distance", 10),
            between("quantile", "distance", 700, 1_000, q=0.5),
            complete("carrier"),
            pattern("carrier", "^[A-Z0-9]{2}$"),
            between("distinct", "carrier", 12, 20),
            complete("origin"),
            one_of("origin", AIRPORTS),
            at_most("max_length", "dest", 3),
            complete("tailnum", 0.95),
            unique("flight"),  # fails: numbers come back every day
        ]
    )


def columns_of(checks: Iterable[Check]) -> Iterator[str]:
    yield from dict.fromkeys(check["column"] for check in checks if "column" in check)
