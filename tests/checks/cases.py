"""A passing and a failing rule of every constraint, with the value that pandas, numpy or plain Python give."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import headgate as hg
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured
from tests.metrics.reference import OF_COLUMNS, OF_GROUPS, OF_PAIRS, Values, looks, rows_in_groups

ROWS = 240
NOW = datetime(2026, 2, 25, tzinfo=UTC)
DATASET = "orders"
Frame = dict[str, list[Any]]
Segment = tuple[tuple[str, str | None], ...]

# --- the table

SHAPED = {
    "email": (
        ["a.b+c@shop.example", "x@sub.domain.example", "O'Neil@a.co"],
        ["no at sign", "a@b", "two@@a.b", "a@b.c\n"],
    ),
    "url": (
        ["https://a.example/p?q=1#f", "http://10.0.0.1:8080", "ftp://h"],
        ["www.a.example", "http://", "https://a b"],
    ),
    "ip_address": (["10.0.0.255", "::1", "2001:db8::8a2e:370:7334"], ["256.1.1.1", "1.2.3", "::g", "1.2.3.4\n"]),
    "uuid": (["123e4567-e89b-12d3-a456-426614174000", "00000000-0000-0000-0000-00000000000A"], ["123e4567", "", "{}"]),
    "credit_card_number": (
        ["4111 1111 1111 1111", "5500-0000-0000-0004", "340000000000009", "6011000000000004"],
        ["1234", "4111111111111", "9111111111111111", "4111  1111 1111 1111"],
    ),
    "social_security_number": (
        ["123-45-6789", "899-99-9999"],
        ["000-12-3456", "666-12-3456", "900-12-3456", "123456789"],
    ),
}


def every(count: int, values: Iterable[Any], gap: int = 0) -> list[Any]:
    """Values over and over; with `gap`, null in every row of so many."""
    pool = list(values)
    return [None if gap and at % gap == gap - 1 else pool[at % len(pool)] for at in range(count)]


@cache
def table(rows: int = ROWS) -> pa.Table:
    random = np.random.default_rng(7)
    price = [round(float(each), 2) for each in random.uniform(1, 100, rows)]
    sent = [datetime(2026, 2, 1, tzinfo=UTC) + timedelta(minutes=97 * at, microseconds=at) for at in range(rows)]
    columns: dict[str, Any] = {
        "id": range(rows),
        "code": [f"C{at % 200}" for at in range(rows)],
        "half": every(rows, [1, 2], 9),
        "region": every(rows, ["EU", "US", "APAC"], 17),
        "part": [at % 2 for at in range(rows)],
        "flag": every(rows, [True, False, True], 10),
        "price": [None if at % 11 == 10 else value for at, value in enumerate(price)],
        "cost": [None if at % 13 == 12 else round(value / 2 + at % 7, 2) for at, value in enumerate(price)],
        "quantity": pa.array([1 + at % 9 for at in range(rows)], pa.int32()),
        "balance": every(rows, [0.0, 5.5, -2.25, 7.0, 1e6], 8),
        "reading": every(rows, [1.0, float("nan"), 2.5, float("inf"), -1.5], 9),
        "amount": pa.array([Decimal(at % 37) / 4 for at in range(rows)], pa.decimal128(9, 2)),
        "day": every(rows, [date(2026, 1, 1) + timedelta(days=at) for at in range(30)], 19),
        "sent": pa.array(sent, pa.timestamp("us", "UTC")),
        "arrived": pa.array(
            [None if at % 14 == 3 else each + timedelta(hours=at % 12 - 1) for at, each in enumerate(sent)],
            pa.timestamp("us", "UTC"),
        ),
        "noted": pa.array([each.replace(tzinfo=None) for each in sent], pa.timestamp("us")),
        "note": every(rows, ["late", "", "Très bien, 12!", "naïve 5", "x" * 20], 6),
        "whole": [str(at % 90) for at in range(rows)],
        "written": every(rows, ["12", "3.5", "-7", "n/a", "true", "2026-01-02"], 7),
        "empty": pa.nulls(rows, pa.string()),
        "customer": every(rows, range(50), 21),
        "stranger": every(rows, range(53), 21),
        "zip": [f"{1000 + at % 12}" for at in range(rows)],
        "city": [f"town {at % 12 // 3}" for at in range(rows)],
        "coin": [str(each) for each in random.integers(0, 2, rows)],
    }
    for name, (good, bad) in SHAPED.items():
        columns[f"{name}_good"] = every(rows, good, 12)
        columns[name] = every(rows, [*good, *bad], 12)
    return pa.table(columns)


@cache
def frame() -> Frame:
    return table().to_pydict()


@cache
def tables() -> dict[str, pa.Table]:
    """Other tables by name: customers, the same rows again, and others."""
    keys = [(at % 9 + 1, region) for at, region in enumerate(every(90, ["EU", "US", "APAC", None]))]
    return {
        "customers": pa.table({"customer_id": pa.array(range(50), pa.int64()), "customer": range(50)}),
        "copy": table().take(list(reversed(range(ROWS)))),
        "fewer": table().slice(0, ROWS // 2),
        "keys": pa.table({"quantity": pa.array([key for key, _ in keys], pa.int32()), "region": [r for _, r in keys]}),
    }


def past() -> hg.HistoryStore:
    """The sizes of eight earlier batches, about as large as this one, and their minima, which were larger."""
    store = hg.open_store("memory:")
    for at, size in enumerate([238, 241, 240, 239, 242, 240, 237, 241]):
        outcomes = {"size()": float(size), "min(quantity)": 5.0 + at % 3 / 10}
        measured = {MetricKey.parse(key): Measured(value) for key, value in outcomes.items()}
        store.commit(hg.Run(dataset=DATASET, partition=f"2026-02-{at + 1:02}", fingerprint=str(at), outcomes=measured))
    return store


# --- cases


class Case(NamedTuple):
    """A rule, what must become of each of its judgements, in order, and the values that are judged."""

    name: str
    arguments: tuple[Any, ...]
    named: dict[str, Any]
    status: tuple[str, ...]
    values: tuple[float | None, ...]
    within: float = 1e-9

    def added_to(self, check: hg.Check) -> hg.Check:
        found: hg.Check = getattr(check, self.name)(*self.arguments, **self.named)
        return found

    def __str__(self) -> str:
        return f"{self.name}{self.arguments}{self.named if self.named else ''}"


def passes(name: str, *arguments: Any, is_: Any, within: float = 1e-9, **named: Any) -> Case:
    values = tuple(is_) if isinstance(is_, list | tuple) else (is_,)
    return Case(name, arguments, named, ("pass",) * len(values), values, within)


def fails(name: str, *arguments: Any, is_: Any, within: float = 1e-9, **named: Any) -> Case:
    return passes(name, *arguments, is_=is_, within=within, **named)._replace(
        status=("fail",) * (len(is_) if isinstance(is_, list | tuple) else 1)
    )


def values_of(*columns: str) -> list[Values]:
    return [Values(frame()[name]) for name in columns]


def share(test: Callable[..., bool], *columns: str) -> float:
    """Of the rows that have a value in all of the columns, the share that meets the test."""
    rows = [row for row in zip(*(frame()[name] for name in columns), strict=True) if None not in row]
    return sum(bool(test(*row)) for row in rows) / len(rows)


def present(*columns: str, test: Callable[[Iterable[bool]], bool] = all) -> float:
    rows = zip(*(frame()[name] for name in columns), strict=True)
    return sum(test(value is not None for value in row) for row in rows) / ROWS


def grouped(measure: str, *columns: str) -> float:
    found = OF_GROUPS[measure](rows_in_groups(values_of(*columns)))
    assert found is not None
    return found


def _plain_forms() -> Iterable[Case]:
    """`has_<metric>`: one that allows the reference's value, and one that does not."""
    columns = dict.fromkeys(("finiteness", "min", "max", "range", "mean", "sum", "stddev", "variance"), "price")
    columns |= dict.fromkeys(("skewness", "kurtosis"), "balance")
    columns |= dict.fromkeys(("completeness", "unique_ratio", "most_frequent_ratio", "dist_val_count"), "region")
    columns |= dict.fromkeys(("str_len", "min_length", "max_length", "char_len", "digit_len", "punc_len"), "note")
    columns |= dict.fromkeys(("type_consistency", "text_min", "text_max", "text_mean"), "written")
    columns |= {"index_of_peculiarity": "note"}
    for name, column in columns.items():
        (value,) = (OF_COLUMNS[name](each) for each in values_of(column))
        assert isinstance(value, float)
        yield from _both(f"has_{name}", column, value=value)
    for name in OF_GROUPS:
        yield from _both(f"has_{name}", "code", value=grouped(name, "code"))
    for name, pair in {
        "correlation": ("price", "cost"),
        "mutual_information": ("region", "flag"),
        "ratio_of_sums": ("cost", "price"),
    }.items():
        value = OF_PAIRS[name](*values_of(*pair))
        assert value is not None
        yield from _both(f"has_{name}", *pair, value=value)
    # exact to 384 values, but for the rounding of the estimate
    yield from _both("has_approx_count_distinct", "day", value=30.0, within=1e-3)
    yield from _both("has_checksum", value=_checksum())
    yield from _both("has_value_sample", "region", value=3.0)  # EU, US, APAC
    # quantiles of 0..239, by a sketch whose rank is within 1.33%
    yield from _both("has_median", "id", value=119.0, within=4)
    yield from _both("has_approx_quantile", "id", 0.25, value=59.0, within=4)
    yield from _both("has_size", value=float(ROWS))
    yield from _both("has_column_count", value=float(table().num_columns))
    yield from _both("has_column_type", "price", "float", value=1.0)
    yield from _both(
        "has_compliance", "price > 50", value=share(lambda price: (price or 0) > 50, "price") * present("price")
    )
    yield from _both("has_containment", "stranger", table="customers", of="customer_id", value=_known())
    yield from _both("has_pattern_match", "note", "[0-9]", value=share(lambda text: re.search("[0-9]", text), "note"))
    yield from _both(
        "has_type_ratio", "written", type="integral", value=share(lambda t: looks(t) == "integral", "written")
    )


def _both(name: str, *arguments: Any, value: float, within: float = 1e-9, **named: Any) -> Iterable[Case]:
    slack = max(within, abs(value) * 1e-9)
    yield passes(name, *arguments, is_=value, within=slack, between=(value - slack, value + slack), **named)
    yield fails(name, *arguments, is_=value, within=slack, at_least=value + 2 * slack + 1, **named)


def _known() -> float:
    return share(lambda key: key < 50, "stranger")


def _distributions() -> Iterable[Case]:
    """No number is judged; a function is given all of it."""
    regions = Counter(each for each in frame()["region"] if each is not None)
    (patterns,) = (OF_COLUMNS["pattern_distribution"](each) for each in values_of("note"))
    (types,) = (OF_COLUMNS["data_type"](each) for each in values_of("written"))
    exact: dict[str, tuple[str, Any]] = {
        "has_value_distribution": ("region", regions),
        "has_histogram_values": ("region", regions),
        "has_pattern_distribution": ("note", patterns),
        "has_data_type": ("written", types),
    }
    exact.pop("has_data_type")  # the vocabulary's own word is for the share of one type
    for name, (column, counts) in exact.items():
        yield passes(name, column, lambda found, counts=counts: found.counts == dict(counts), is_=None)
        yield fails(name, column, lambda found: len(found.counts) > 90, is_=None)
    near = lambda found: all(abs(count - 24) <= 4 for count in found.counts.values())  # noqa: E731
    yield passes("has_histogram", "id", near, is_=None, bins=10)
    yield fails("has_histogram", "id", lambda found: found.total != ROWS, is_=None)
    european = regions["EU"] / regions.total()
    yield passes("has_histogram_values", "region", "EU", is_=european, between=(0.3, 0.4))
    yield fails("has_histogram_values", "region", "EU", is_=european, at_least=0.5)
    yield passes("metric", "data_type(written)", lambda found: found.counts == types, is_=None)


def _presence_and_keys() -> Iterable[Case]:
    yield passes("is_complete", "id", "code", is_=[1, 1])
    yield fails("is_complete", "price", is_=present("price"))
    yield passes("are_complete", "id", "code", is_=1)
    yield fails("are_complete", "price", "region", is_=present("price", "region"))
    yield passes("are_any_complete", "price", "id", is_=1)
    yield fails("are_any_complete", "price", "region", is_=present("price", "region", test=any))
    yield passes("is_unique", "id", is_=1)
    yield passes("is_unique", "code", "part", is_=grouped("uniqueness", "code", "part"), at_least=0.5)
    yield fails("is_unique", "code", is_=grouped("uniqueness", "code"))
    yield fails("is_unique", "half", "region", is_=grouped("uniqueness", "half", "region"))
    yield passes("is_approx_unique", "id", is_=1, within=0.0001)
    yield fails("is_approx_unique", "code", is_=200 / ROWS, within=0.02)
    yield passes("is_primary_key", "id", is_=[1, 1])
    broken = fails("is_primary_key", "region", "id", is_=[present("region"), 1, 1])
    yield broken._replace(status=("fail", "pass", "pass"))
    yield passes("has_no_duplicate_rows", is_=1)
    yield fails("has_no_duplicate_rows", columns=["code", "part"], is_=grouped("distinctness", "code", "part"))


def _values() -> Iterable[Case]:
    low, high = date(2026, 1, 5), date(2026, 1, 20)
    moment = datetime(2026, 2, 10, 12, 30, tzinfo=UTC)
    yield passes("is_in_range", "price", 1, 100, is_=1)
    yield passes(
        "is_in_range",
        "amount",
        low=Decimal("0.00"),
        high=Decimal("9.25"),
        is_=share(lambda v: v <= 9.25, "amount"),
        at_least=0.9,
    )
    yield fails("is_in_range", "price", 10, is_=share(lambda v: v >= 10, "price"))
    yield fails("is_in_range", "day", low, high, is_=share(lambda v: low <= v <= high, "day"))
    yield fails("is_in_range", "sent", high=moment, is_=share(lambda v: v <= moment, "sent"))
    yield passes("is_contained_in", "region", ["EU", "US", "APAC", "it's"], is_=1)
    yield passes("is_contained_in", "quantity", {1, 2, 3}, is_=share(lambda v: v < 4, "quantity"), between=(0.3, 0.4))
    yield fails("is_contained_in", "region", ["EU", "US"], is_=share(lambda v: v != "APAC", "region"))
    yield passes("is_non_negative", "price", is_=1)
    yield fails("is_non_negative", "balance", is_=share(lambda v: v >= 0, "balance"))
    yield passes("is_positive", "quantity", is_=1)
    yield fails("is_positive", "balance", is_=share(lambda v: v > 0, "balance"))
    tests: dict[str, Callable[[Any, Any], bool]] = {
        "is_less_than": lambda left, right: left < right,
        "is_less_than_or_equal_to": lambda left, right: left <= right,
        "is_greater_than": lambda left, right: left > right,
        "is_greater_than_or_equal_to": lambda left, right: left >= right,
    }
    for name, test in tests.items():
        yield fails(name, "sent", "arrived", is_=share(test, "sent", "arrived"))
        yield passes(name, "cost", "price", is_=share(test, "cost", "price"), at_least=0.01)
    yield passes("satisfies", "quantity BETWEEN 1 AND 9 AND code LIKE 'C%'", is_=1)
    yield fails("satisfies", "price > 0", is_=present("price"))
    european = [price for price, region in zip(frame()["price"], frame()["region"], strict=True) if region == "EU"]
    yield passes("satisfies_if", "region = 'EU'", "quantity > 0", is_=1)
    yield fails("satisfies_if", "region = 'EU'", "price > 50", is_=float(np.mean([(p or 0) > 50 for p in european])))


def _shapes() -> Iterable[Case]:
    for name, (good, _) in SHAPED.items():
        yield passes(f"has_{name}", f"{name}_good", is_=1)
        yield fails(f"has_{name}", name, is_=share(lambda text, good=good: text in good, name))
    yield passes("has_pattern", "code", r"^C\d+$", is_=1)
    yield fails("has_pattern", "note", "^[a-z]*$", is_=share(lambda text: re.fullmatch("[a-z]*", text), "note"))
    yield passes("has_data_type", "whole", "integral", is_=1)
    yield fails("has_data_type", "written", "integral", is_=share(lambda text: looks(text) == "integral", "written"))
    yield passes("has_consistent_type", "whole", is_=1)
    most = max(Counter(looks(text) for text in frame()["written"] if text is not None).values())
    yield fails("has_consistent_type", "written", is_=most / sum(text is not None for text in frame()["written"]))


def _tables() -> Iterable[Case]:
    latest = max(frame()["sent"]).timestamp()
    yield passes("metric", "mean(quantity)", is_=float(np.mean(frame()["quantity"])), between=(1, 9))
    yield fails("metric", hg.Max("quantity"), is_=9, at_most=8)
    yield passes("has_column", "price", is_=1)
    yield passes("has_column", "price", type="float", is_=1)
    yield fails("has_column", "prize", is_=0)
    yield fails("has_column", "price", "string", is_=0)
    yield passes("has_predictability", "city", ["zip"], is_=0.95, within=0.06, at_least=0.9)
    yield fails("has_predictability", "coin", ["zip"], score="recall", is_=0.5, within=0.2, at_least=0.8)
    yield passes("is_contained_in_table", "customer", table="customers", of="customer_id", is_=1)
    yield fails("is_contained_in_table", "stranger", table="customers", of="customer_id", is_=_known())
    pairs = set(zip(*(tables()["keys"].column(name).to_pylist() for name in ("quantity", "region")), strict=True))
    rows = list(zip(frame()["quantity"], frame()["region"], strict=True))
    yield fails(
        "is_contained_in_table",
        "quantity",
        "region",
        table="keys",
        is_=sum(row in pairs for row in rows) / ROWS,
        at_least=1.01,
    )
    yield passes("has_row_count_match", "copy", is_=ROWS)
    yield passes("has_row_count_match", "fewer", is_=ROWS, between=(1.9, 2.1))
    yield fails("has_row_count_match", "fewer", is_=ROWS)
    yield passes("matches_table", "id", "region", "price", "day", "sent", table="copy", is_=[ROWS, 1])
    yield fails("matches_table", "id", table="fewer", is_=[ROWS, 0.5])
    yield passes("is_fresh", "sent", "2w", is_=latest)
    yield passes("is_fresh", "sent", timedelta(days=10), is_=latest)
    yield fails("is_fresh", "sent", "24h", is_=latest)
    yield fails(
        "is_fresh",
        "day",
        "3d",
        is_=(datetime(2026, 1, 30, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds(),
    )
    yield passes("has_no_anomalies", "size()", "online_normal(deviations=3.0)", is_=ROWS)
    yield fails("has_no_anomalies", "min(quantity)", "online_normal(deviations=3.0)", is_=1)


def _ways_of_saying() -> Iterable[Case]:
    """Levels, filters, functions and dates."""
    dear = float(np.mean([price for price in frame()["price"] if price is not None and price > 50]))
    complete = present("price")
    yield passes("has_mean", "price", is_=dear, at_least=50, where="price > 50")
    yield fails(
        "is_in_range",
        "price",
        60,
        where="price > 50",
        is_=share(lambda v: v >= 60, "price") / share(lambda v: v > 50, "price"),
    )
    two = fails("has_completeness", "price", error={"at_least": 0.5}, warn={"equals": 1}, is_=[complete, complete])
    yield two._replace(status=("pass", "fail"))
    yield fails("is_complete", "price", level="warn", is_=complete)
    yield fails("is_complete", "price", warn={"at_least": 0.99}, is_=complete)
    yield passes("has_completeness", "price", lambda value: 0.9 < value < 1, is_=complete)
    yield fails("has_completeness", "price", lambda value: value == 1, is_=complete)
    first = (datetime(2026, 1, 1, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()
    yield passes("has_min", "day", between=(date(2026, 1, 1), date(2026, 1, 2)), is_=first)
    yield fails("has_min", "day", at_least=date(2026, 1, 2), is_=first)
    yield fails("has_max", "sent", at_most=datetime(2026, 2, 2, tzinfo=UTC), is_=max(frame()["sent"]).timestamp())


@cache
def whole_cases() -> tuple[Case, ...]:
    """Those of the whole table."""
    groups = (_plain_forms, _distributions, _presence_and_keys, _values, _shapes, _tables, _ways_of_saying)
    return tuple(case for group in groups for case in group())


def _by(columns: Sequence[str], measure: Callable[[list[int]], float | None]) -> dict[Segment, float | None]:
    """A measure of the places of the rows of each segment; nulls first, then by value."""
    keys = [
        tuple(None if v is None else str(v) for v in row) for row in zip(*(frame()[c] for c in columns), strict=True)
    ]
    order = sorted(set(keys), key=lambda key: [(value is not None, value or "") for value in key])
    places = {key: [at for at, each in enumerate(keys) if each == key] for key in order}
    return {tuple(zip(columns, key, strict=True)): measure(places[key]) for key in order}


def _at(column: str, places: list[int]) -> list[Any]:
    return [frame()[column][at] for at in places if frame()[column][at] is not None]


@cache
def segmented_cases() -> tuple[tuple[Case, tuple[Segment, ...]], ...]:
    """Those with `by`, and their segments."""
    complete = _by(["region"], lambda places: len(_at("price", places)) / len(places))
    means = _by(["region", "part"], lambda places: float(np.mean(_at("price", places))))
    unique = _by(["part"], lambda places: OF_GROUPS["uniqueness"](list(Counter(_at("code", places)).values())))
    european = _by(["part"], lambda places: float(np.mean([each == "EU" for each in _at("region", places)])))
    return (
        (fails("is_complete", "price", by="region", is_=[*complete.values()]), tuple(complete)),
        (passes("has_mean", "price", by=["region", "part"], between=(1, 100), is_=[*means.values()]), tuple(means)),
        (fails("is_unique", "code", by=["part"], is_=[*unique.values()]), tuple(unique)),
        (fails("is_contained_in", "region", ["EU"], by="part", is_=[*european.values()]), tuple(european)),
    )


def _checksum() -> float:
    """Of the whole table, as another call measures it; what it must be is tested with the metric."""
    import headgate as hg

    return hg.analyze(table(), ["checksum()"]).value("checksum()")
