"""What a suggestion is, and where the rules that make them are found: a file in this folder is all it takes."""

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

CONFIDENCE = 0.998  # of two-sided intervals, of which a suggestion takes the lower end: 1 in 1,000 lies below it
LEAST = 30  # values from which something may be suggested
MANY = 2_000  # values from which something is said of all: by the rule of three less than 3 / 2,000 can be otherwise
OFTEN = 10  # times that the rarest value (or pattern, or extreme) must be seen to be taken for one of a closed set


class Suggestion(msgspec.Struct, frozen=True):
    """A constraint that the data make likely, with the reason in words and the rule that made it.

    `coverage` is how much of the rows that were held out agree with it, 1.0 if it holds on them; None if it was not
    held against any.
    """

    rule: Rule
    why: str
    by: str = ""
    coverage: float | None = None
    exact: bool = True  # whether it is about all values, not a share of them

    @property
    def column(self) -> str:
        value = self.rule.arguments[0][1]
        return str(value[0] if isinstance(value, tuple) else value)

    def __str__(self) -> str:
        expect = self.rule.expect
        return str(self.rule) if expect is None else f"{self.rule} {expect}"


Suggester: TypeAlias = Callable[[ColumnProfile, str], Iterable[Suggestion]]


class SuggestionRule(NamedTuple):
    """A function from a column's profile and the table's name to suggestions, and the rules that it makes needless.

    `replaces` are the rules whose suggestions say nothing more beside one of this; `exact_replaces` those that say
    nothing more beside one that is about all values.
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
    """What the rules suggest for a column, less what others of them say already."""
    rules = suggestion_rules()
    made = [
        msgspec.structs.replace(each, by=rule.name) for rule in rules.values() for each in rule.suggest(column, table)
    ]
    needless = {name for each in made for name in rules[each.by].replaces}
    needless |= {name for each in made if each.exact for name in rules[each.by].exact_replaces}
    return list(dict.fromkeys(each for each in made if each.by not in needless))


def suggestion(why: str, name: str, *arguments: Any, share: float | None = None, **named: Any) -> Suggestion:
    """A suggestion of the constraint with this name: what `Check` would make of the same arguments.

    With `share`, at least so much of the values must meet it.
    """
    options = named if share is None else named | {"at_least": share}
    return Suggestion(Check("suggested").with_rule(name, *arguments, **options).rules[0], why, exact=share is None)


def floor_of(seen: int, among: int) -> float:
    """The share that new data will reach too, if so many of the sample were seen: Wilson's lower end, rounded down.

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
