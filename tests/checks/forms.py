"""A check for every constraint and every kind of argument, for the forms in which checks are written."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

from headgate.checks.check import Check
from headgate.checks.constraint import Constraint, constraints

# constraints whose arguments cannot be made up from their parameters' names
_ARGUMENTS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "metric": (("mean(price)",), {}),
    "has_no_anomalies": (("mean(price)", "rate_of_change(most=2)"), {}),
    "is_contained_in": (("region", ["EU", "US"]), {}),
    "is_in_range": (("price",), {"low": 0, "high": 9.5}),
    "has_predictability": (("region", ["price", "day"]), {"at_least": 0.5}),
    "is_fresh": (("day", "24h"), {}),
    "has_histogram_values": (("region", "EU"), {"at_least": 0.25}),
    "has_data_type": (("region", "integral"), {}),
    "has_column_type": (("price", "integer"), {"equals": 1}),
    "has_type_ratio": (("region",), {"type": "date", "at_least": 0.5}),
    "satisfies": (("price > 0",), {}),
    "satisfies_if": (("region = 'EU'", "price > 0"), {}),
    "has_compliance": (("price > 0",), {"at_least": 0.5}),
    "has_pattern_match": (("region", "^[A-Z]+$"), {"at_least": 0.5}),
    "has_pattern": (("region", r"^\d{2}:\s#'\"$"), {}),
}
DISTRIBUTIONS = ("has_histogram", "has_pattern_distribution", "has_value_distribution")  # only functions can judge them

ODD_TEXTS = (
    "yes", "no", "NO", "on", "null", "Null", "~", "true", "1", "1.5", "1e5", "1_000", "0x1F", "010", "1:30",
    ".inf", "nan", "2026-01-01", "2026-13-45", "2026-01-01 10:00:00", "=", "<<", "-", "?", ":", "#", "a: b",
    "a #b", "- a", "[a]", "{a}", "*a", "&a", "!a", "!!str a", "%a", "@a", "`a`", "|", ">", "'", '"', "it's",
    'say "x"', "\\", "a\\nb", "a\nb", "a\n", "\na", " a", "a ", "\ta", "a\tb", "a\r\nb", "\x00", "\x07", "\x85",
    "\u2028", "\ufeff", "é", "日本", "😀", "\u202eabc", "---", "...", "9" * 400, "a" * 300, "where", "level",
    "checks",
)  # fmt: skip


def example(found: Constraint, name: str = "orders") -> Check:
    """A check of one rule of this constraint."""
    arguments, named = _ARGUMENTS.get(found.name, ((), {}))
    if found.name not in _ARGUMENTS:
        parameters = found.parameters
        arguments = tuple(
            f"c{at}" for at, each in enumerate(parameters) if each.default is each.empty and not by_name(each)
        )
        arguments += ("other",) * any(each.kind is each.VAR_POSITIONAL for each in parameters)
        named = {
            each.name: f"x{at}" for at, each in enumerate(parameters) if by_name(each) and each.default is each.empty
        }
    expects = found.default is None and not found.fixed and not set(named) & {"at_least", "equals"}
    return Check(name).with_rule(found.name, *arguments, **named, **({"at_least": 0.5} if expects else {}))


def by_name(parameter: Any) -> bool:
    return bool(parameter.kind is parameter.KEYWORD_ONLY)


def checks() -> dict[str, Check]:
    """Checks that both forms can say, by what is odd about them."""
    found = {name: example(each) for name, each in constraints().items() if name not in DISTRIBUTIONS}
    numbers: tuple[Any, ...] = (0, -1, 10**20, 0.1, 1e300, -1e-300, -0.0, 5e-324, 2.0, float("inf"), True)
    found |= {f"number {each!r}": Check("n").has_sum("x", equals=each) for each in numbers}
    found |= {f"argument {each!r}": Check("n").is_in_range("x", high=each) for each in numbers}
    found |= {f"name {text[:20]!r}": Check(text).is_unique(text).is_complete(text, "b") for text in ODD_TEXTS}
    found |= {f"value {text[:20]!r}": Check("v").is_contained_in("a", [text, "b"]) for text in ODD_TEXTS}
    found |= {f"by {text[:20]!r}": Check("v").is_complete("a", by=[text]) for text in ODD_TEXTS}
    return found | _MODIFIED


_DAY, _MOMENT = date(2026, 1, 31), datetime(2026, 1, 31, 10, 30, 15, 250_000, tzinfo=UTC)
_MODIFIED: dict[str, Check] = {
    "nothing": Check("empty"),
    "between": Check("w").has_mean("a", between=(5, 500)),
    "at most": Check("w").has_mean("a", at_most=5.5),
    "both ends": Check("w").has_mean("a", at_least=1, at_most=2),
    "one of": Check("w").has_mean("a", one_of=[1, 2, 3]),
    "warn": Check("w").is_complete("a", level="warn"),
    "warn alone": Check("w").has_mean("a", warn={"at_least": 1}),
    "two thresholds": Check("w").has_mean("a", warn={"between": [1, 2]}, error={"one_of": [1, 2, 3]}),
    "level of the check": Check("w", level="warn", by=["day"]).is_complete("a").has_mean("b", at_least=1),
    "where and by": Check("w").is_complete("a", where="b > 1 AND c = 'it\\'s'", by=["day", "region"]),
    "dates": Check("w").has_max("a", between=(_DAY, _MOMENT)).has_min("a", at_least=_DAY),
    "moments": Check("w").has_max("a", one_of=[_MOMENT, _MOMENT + timedelta(days=1)]),
    "date arguments": Check("w").is_in_range("a", low=_DAY, high=_MOMENT).is_contained_in("a", [_DAY, date(1, 1, 1)]),
    "naive": Check("w").is_in_range("a", low=datetime(2026, 1, 31), high=datetime(2026, 1, 31, 1, 2)),
    "far zone": Check("w").is_in_range("a", low=_MOMENT.astimezone(timezone(timedelta(hours=5, minutes=30)))),
    "none": Check("w").is_in_range("a", low=None, high=5),
    "many values": Check("w").is_contained_in("a", [f"value {n}" for n in range(50)]),
    "booleans": Check("w").is_contained_in("a", [True, False, "true"]),
    "filtered key": Check("w").metric('mean("unit price") where "region = \'EU\'"', at_least=1),
    "predicate in a key": Check("w").metric('compliance(predicate="a > 1")', at_least=1),
    "odd key": Check("w").metric("mean( price )", at_least=1),
    "all columns": Check("w").has_no_duplicate_rows().matches_table(table="t").has_size(at_least=1),
    "some columns": Check("w").has_no_duplicate_rows(columns=["a", "b"]).has_no_duplicate_rows(columns=["a"]),
}
