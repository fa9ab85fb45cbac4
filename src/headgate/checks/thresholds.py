"""Reads the keywords for thresholds, such as `between=(5, 500)`, into predicates, and writes them back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

from headgate.checks.rule import Rule
from headgate.values.errors import MisuseError
from headgate.values.expectation import Level
from headgate.values.predicate import Between, OneOf, Pending, Predicate, Python

Number: TypeAlias = float | int | Decimal | date | datetime
WORDS = ("between", "at_least", "at_most", "equals", "one_of")
_LARGEST = 10**308
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def predicate_of(given: Mapping[str, Any], rule: str = "a rule") -> Predicate | None:
    """The predicate that the keywords give; None if none of them is set.

    >>> print(predicate_of({"at_least": 0.9, "at_most": 1}), predicate_of({"equals": 3}))
    within 0.9..1 equal to 3
    """
    keywords = {keyword: given[keyword] for keyword in WORDS if given.get(keyword) is not None}
    if not keywords:
        return None
    if set(keywords) <= {"at_least", "at_most"}:
        return _between(keywords.get("at_least"), keywords.get("at_most"))
    if len(keywords) > 1:
        raise MisuseError(f"{rule} says {' and '.join(keywords)}.", hint="Say one of them, or at_least with at_most.")
    keyword, value = next(iter(keywords.items()))
    if keyword == "between":
        if not (isinstance(value, Sequence) and len(value) == 2 and not isinstance(value, str)):
            raise MisuseError(f"{rule}: between takes two ends, not {value!r}.", hint="Write between=(5, 500).")
        return _between(*value)
    options = [value] if keyword == "equals" else value
    if isinstance(options, str) or not isinstance(options, Sequence) or not options:
        raise MisuseError(f"{rule}: {keyword} takes numbers, not {value!r}.", hint="Write one_of=[1, 2].")
    numbers, moments = _numbers(options)
    return OneOf(tuple(numbers), moments)


def threshold(given: Any, rule: str = "a rule") -> Predicate | None:
    """The predicate of `warn=` or `error=`, given as a predicate, a mapping of the keywords, or a function."""
    if given is None or isinstance(given, (Between, OneOf, Pending, Python)):
        return given
    if isinstance(given, Mapping):
        unknown = [word for word in given if word not in WORDS]
        if unknown or not given:
            raise MisuseError(f"{rule}: a threshold says {', '.join(WORDS)}, not {', '.join(unknown) or 'nothing'}.")
        return predicate_of(given, rule)
    if callable(given):
        return Python.of(given)
    raise MisuseError(f"{rule}: {given!r} is no threshold.", hint='Write {"at_least": 0.9}.')


def words_of(predicate: Predicate) -> dict[str, Any]:
    """The keywords that give a predicate."""
    match predicate:
        case Between(low=low, high=None):
            return {"at_least": _plain(low, predicate.moments)}
        case Between(low=None, high=high):
            return {"at_most": _plain(high, predicate.moments)}
        case Between(low=low, high=high):
            return {"between": [_plain(low, predicate.moments), _plain(high, predicate.moments)]}
        case OneOf(values=(only,)):
            return {"equals": _plain(only, predicate.moments)}
        case OneOf(values=values):
            return {"one_of": [_plain(value, predicate.moments) for value in values]}
    raise MisuseError(f"{predicate} cannot be written down.", hint="Use between, at_least, at_most, equals or one_of.")


def threshold_words(rule: Rule) -> dict[str, Any]:
    """What a rule expects and the level of a failure, in the keywords of checks."""
    if rule.expect is not None and rule.warn is not None:
        return {"warn": words_of(rule.warn), "error": words_of(rule.expect)}
    keywords = words_of(rule.expect) if rule.expect is not None else {}
    return keywords | ({"level": "warn"} if rule.level is Level.WARN else {})


def _between(low: Any, high: Any) -> Between:
    ends, moments = _numbers([end for end in (low, high) if end is not None])
    numbers = iter(ends)
    return Between(None if low is None else next(numbers), None if high is None else next(numbers), moments)


def _numbers(values: Sequence[Any]) -> tuple[list[float], bool]:
    moments = [isinstance(value, date) for value in values]
    if any(moments) and not all(moments):
        raise MisuseError(f"{list(values)} mixes dates and numbers.", hint="Give both ends as dates, or as numbers.")
    return [_number(value) for value in values], any(moments)


def _number(value: Any) -> float:
    match value:
        case int() if abs(value) > _LARGEST:
            raise MisuseError(f"{value!r} is too large.")
        case bool() | int() | float():
            return value
        case Decimal():
            return float(value)
        case datetime():
            return ((value if value.tzinfo else value.replace(tzinfo=UTC)) - _EPOCH).total_seconds()
        case date():
            return float((value - _EPOCH.date()).days * 86_400)
        case timedelta():
            return value.total_seconds()
    item = getattr(value, "item", None)
    if callable(item):  # a scalar of numpy
        return _number(item())
    raise MisuseError(f"{value!r} is not a number.", hint="Give a number, a date or a datetime.")


def _plain(value: float | None, moments: bool) -> Any:
    if not moments or value is None:
        return value
    moment = _EPOCH + timedelta(seconds=value)
    return moment.date() if value % 86_400 == 0 else moment
