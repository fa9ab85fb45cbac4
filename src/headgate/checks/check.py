"""A named list of rules: what a person wrote down that a table must look like."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

from headgate.checks.constraint import Constraint, constraint_named
from headgate.checks.methods import Methods
from headgate.checks.rule import Rule
from headgate.checks.setting import AnySetting
from headgate.checks.thresholds import WORDS, predicate_of, threshold
from headgate.values.errors import MisuseError
from headgate.values.expectation import Level
from headgate.values.page import Page, Paged, Point, Points
from headgate.values.predicate import Predicate, Python

MODIFIERS = (*WORDS, "holds", "warn", "error", "level", "where", "by")

_WHOLE = {"has_no_anomalies": "A metric's key can have a where of its own: 'mean(price) where \"region = 'EU'\"'."}


class Check(Paged, Methods):
    """`hg.Check("orders").is_complete("id").has_mean("price", between=(5, 500))`. Every call gives a new check.

    There is a method for every metric, `has_` and its name, and for every constraint of the vocabulary. Each takes what
    is expected (`between= at_least= at_most= equals= one_of=`, or a function), `where=` (a SQL predicate that chooses
    rows), `by=` (columns: each segment is judged apart), and `level=` ("warn" or "error") or two thresholds, `warn=`
    and `error=`.

    >>> check = Check("orders").is_complete("id").has_mean("price", between=(5, 500), level="warn")
    >>> print(check)
    orders: 2 rules
      is_complete(id)
      has_mean(price) within 5..500, warn
    """

    def __init__(
        self, name: str, *, level: Level | str = Level.ERROR, by: str | Sequence[str] = (), rules: Iterable[Rule] = ()
    ) -> None:
        if not name:
            raise MisuseError("a check needs a name.", hint='Write Check("orders").')
        self.name = name
        self.level = _level(level)
        self.by = _names(by)
        self.rules = tuple(rules)

    def with_rule(self, name: str, /, *arguments: Any, **named: Any) -> Self:
        """This check with one more rule: what the method of that name does."""
        found = constraint_named(name)
        said = {word: named.pop(word) for word in MODIFIERS if word in named}
        if arguments and callable(arguments[-1]) and not hasattr(arguments[-1], "key"):
            *arguments, function = arguments  # type: ignore[assignment]
            said["holds"] = function
        bound = found.bind(arguments, named)
        where, by = (
            said.get("where"),
            _names(said["by"] if said.get("by") is not None else () if found.whole else self.by),
        )
        if said.get("by") is not None and not by:
            raise MisuseError(f"{name}: by names no column.", hint='Write by=["region"], or leave it out.')
        rule = Rule(name, bound, **_expected(found, said, self.level), where=where, by=by)
        _sound(found, rule)
        return self.with_rules([rule])

    def with_rules(self, rules: Iterable[Rule]) -> Self:
        """This check with more rules; one that is already there is not doubled."""
        every = tuple(dict.fromkeys((*self.rules, *rules)))
        return type(self)(self.name, level=self.level, by=self.by, rules=every)

    @property
    def storable(self) -> bool:
        """Whether it is data alone: a function lives in its process and cannot be written down."""
        return all(rule.storable for rule in self.rules)

    def to_yaml(self) -> str:
        """The `checks:` section of a configuration that says the same."""
        from headgate.checks.yaml_form import written

        return written(self)

    @classmethod
    def from_yaml(cls, text: str, name: str = "checks") -> Check:
        """A check from a `checks:` section, or from the list under it. Nothing in it runs as code."""
        from headgate.checks.yaml_form import read

        return read(text, name)

    def to_python(self) -> str:
        """Python code that makes the same check."""
        from headgate.checks.python_form import written

        return written(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Check) and (self.name, self.rules) == (other.name, other.rules)

    def __hash__(self) -> int:
        return hash((self.name, self.rules))

    def __len__(self) -> int:
        return len(self.rules)

    def page(self) -> Page:
        title = f"{self.name}: {len(self.rules)} rule{'s' * (len(self.rules) != 1)}"
        points = Points(tuple(Point(_described(rule)) for rule in self.rules))
        return Page(title, blocks=(points,) if self.rules else ())


def _expected(found: Constraint, said: dict[str, Any], level: Level) -> dict[str, Any]:
    """The fields of a rule that say what is expected and how much a failure weighs."""
    name = found.name
    one = predicate_of(said, name)
    if said.get("holds") is not None:
        if one is not None:
            raise MisuseError(f"{name} has a function and a threshold.", hint="Give one of them.")
        one = Python.of(said["holds"])
    warn, error = threshold(said.get("warn"), name), threshold(said.get("error"), name)
    if one is not None and (warn is not None or error is not None):
        raise MisuseError(f"{name} says a threshold and warn or error.", hint="Say warn= and error=, or one threshold.")
    if "level" in said and (warn is not None or error is not None):
        raise MisuseError(f"{name} says level and warn or error.", hint="warn= and error= are the levels.")
    if error is not None:
        return {"expect": error, "warn": warn, "level": Level.ERROR}
    if warn is not None:
        return {"expect": warn, "level": Level.WARN}
    return {"expect": one, "level": _level(said.get("level") or level)}


def _sound(found: Constraint, rule: Rule) -> None:
    """Raise what can be known to be wrong before there is a batch."""
    if not (rule.where is None or isinstance(rule.where, str)):
        raise MisuseError(f"{rule}: where must be a SQL predicate as text, not {rule.where!r}.")
    if found.whole and (rule.where is not None or rule.by):
        raise MisuseError(
            f"{rule} is of the whole batch, so it takes neither where nor by.", hint=_WHOLE.get(rule.name, "")
        )
    if found.fixed and rule.expect is not None:
        raise MisuseError(f"{rule} finds out itself what to expect, so it takes no threshold.")
    if not found.fixed and rule.expect is None and found.default is None:
        raise MisuseError(
            f"{rule} does not say what is expected.", hint="Add between=, at_least=, at_most=, equals= or a function."
        )
    try:
        targets = found.targets(rule, AnySetting())
    except TypeError as trouble:
        raise MisuseError(f"{rule}: {trouble}.", hint=f"Write {found.example()}.") from None
    for target in targets:
        _numeric(rule, target.metric, rule.expect)


def _numeric(rule: Rule, metric: Any, expect: Predicate | None) -> None:
    if metric.distribution and not isinstance(expect, Python):
        raise MisuseError(
            f"{rule} gives a distribution, which no number can be held against.", hint="Give a function of it."
        )


def _level(level: Level | str) -> Level:
    try:
        return Level(level)
    except ValueError:
        raise MisuseError(f"{level!r} is no level.", hint="Write warn or error.") from None


def _names(by: str | Sequence[str]) -> tuple[str, ...]:
    return (by,) if isinstance(by, str) else tuple(by)


def _described(rule: Rule) -> str:
    words = [str(rule)]
    words += [str(rule.expect)] if rule.expect else []
    text = " ".join(words)
    text += f" (warn: {rule.warn})" if rule.warn else ""
    text += f" where {rule.where}" if rule.where else ""
    text += f" by {', '.join(rule.by)}" if rule.by else ""
    return text + (", warn" if rule.level is Level.WARN else "")
