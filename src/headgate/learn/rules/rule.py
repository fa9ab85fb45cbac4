"""Defines suggestions and registers the rules that make them: a new rule is one file in this folder.

Tested by `tests/learn/rules/test_suggestion_rules.py`.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import Any, NamedTuple, TypeAlias

import msgspec

from headgate.checks.check import Check
from headgate.checks.rule import Rule
from headgate.learn.rules.column import ColumnProfile
from headgate.stats.intervals import wilson
from headgate.values.errors import BadPredicate

CONFIDENCE = 0.998  # of two-sided intervals; a suggestion takes the lower end, which 1 in 1,000 lies below
MIN_VALUES = 30  # the fewest values of a column for which anything is suggested
# The fewest values for a constraint on all values: by the rule of three, with 95% confidence fewer than 3 in 2,000
# values are exceptions.
MIN_EXACT = 2_000
MIN_REPEATS = 10  # how often the rarest value, pattern or end must occur to belong to a closed set


class Suggestion(msgspec.Struct, frozen=True):
    """A suggested constraint, with the reason in words and the name of the suggestion rule (`by`).

    `coverage` is how far the held-out rows meet it: 1.0 if it holds on them, None if it was not evaluated on any.
    """

    rule: Rule
    why: str
    by: str = ""
    coverage: float | None = None
    exact: bool = True  # whether it constrains all values, not a share of them

    @property
    def column(self) -> str:
        value = self.rule.arguments[0][1]
        return str(value[0] if isinstance(value, tuple) else value)

    def __str__(self) -> str:
        expect = self.rule.expect
        return str(self.rule) if expect is None else f"{self.rule} {expect}"


Suggester: TypeAlias = Callable[[ColumnProfile, str], Iterable[Suggestion]]


class SuggestionRule(NamedTuple):
    """A function from a column's profile and the table's name to suggestions, and the rules that it replaces.

    A suggestion of this rule makes those of the rules in `replaces` redundant. A suggestion of this rule that
    constrains all values also makes those of the rules in `exact_replaces` redundant.
    """

    name: str
    suggest: Suggester
    replaces: frozenset[str] = frozenset()
    exact_replaces: frozenset[str] = frozenset()


_registry: dict[str, SuggestionRule] = {}


def suggests(replaces: Sequence[str] = (), exact_replaces: Sequence[str] = ()) -> Callable[[Suggester], Suggester]:
    """Register a function as a suggestion rule under its name."""

    def register(function: Suggester) -> Suggester:
        name = function.__name__
        _registry[name] = SuggestionRule(name, function, frozenset(replaces), frozenset(exact_replaces))
        return function

    return register


def suggestion_rules() -> dict[str, SuggestionRule]:
    """Every suggestion rule by its name, in alphabetical order."""
    _import_all()
    return dict(sorted(_registry.items()))


def suggestions_for(column: ColumnProfile, table: str = "") -> list[Suggestion]:
    """The suggestions of all rules for a column, without redundant ones."""
    rules = suggestion_rules()
    suggestions = [
        msgspec.structs.replace(each, by=rule.name) for rule in rules.values() for each in _apply(rule, column, table)
    ]
    redundant = {name for each in suggestions for name in rules[each.by].replaces}
    redundant |= {name for each in suggestions if each.exact for name in rules[each.by].exact_replaces}
    return list(dict.fromkeys(each for each in suggestions if each.by not in redundant))


def _apply(rule: SuggestionRule, column: ColumnProfile, table: str) -> list[Suggestion]:
    """What a rule suggests; nothing if SQL cannot name the column (`${env:HOME}`) and the constraint needs SQL."""
    try:
        return list(rule.suggest(column, table))
    except BadPredicate:
        return []


def suggestion(why: str, name: str, *arguments: Any, share: float | None = None, **named: Any) -> Suggestion:
    """A suggestion of the constraint that `Check` makes of this name and these arguments.

    With `share`, at least that share of the values must meet it.
    """
    options = named if share is None else named | {"at_least": share}
    return Suggestion(Check("suggested").with_rule(name, *arguments, **options).rules[0], why, exact=share is None)


def floor_of(seen: int, among: int) -> float:
    """The share that new data will reach too, after `seen` of `among` values: Wilson's lower bound, rounded down.

    >>> floor_of(280, 1000), floor_of(999, 1000), floor_of(1000, 1000)
    (0.238, 0.988, 0.99)
    """
    return math.floor(wilson(seen, among, CONFIDENCE)[0] * 1000) / 1000


@cache
def _import_all() -> None:
    import headgate.learn.rules as room

    for module in pkgutil.iter_modules(room.__path__):
        importlib.import_module(f"{room.__name__}.{module.name}")
    for outside in entry_points(group="headgate.suggestions"):
        outside.load()
