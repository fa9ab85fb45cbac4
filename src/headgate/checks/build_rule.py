"""One call of a constraint, or one item of a file, becomes a rule; what is wrong in it is raised here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headgate.checks.constraint import Constraint, constraint_named
from headgate.checks.rule import Rule
from headgate.checks.rule_context import AnyRuleContext
from headgate.checks.thresholds import WORDS, predicate_of, threshold
from headgate.values.errors import MisuseError
from headgate.values.expectation import Level
from headgate.values.predicate import Predicate, Python

MODIFIERS = (*WORDS, "holds", "warn", "error", "level", "where", "by")

_WHOLE = {"has_no_anomalies": "A metric's key can have a where of its own: 'mean(price) where \"region = 'EU'\"'."}


def build_rule(
    name: str,
    arguments: Sequence[Any],
    named: Mapping[str, Any],
    *,
    level: Level = Level.ERROR,
    by: tuple[str, ...] = (),
) -> Rule:
    """The rule that a constraint makes of its arguments. `level` and `by` are the check's, where the call has none."""
    constraint = constraint_named(name)
    said = {word: named[word] for word in MODIFIERS if word in named}
    parameters = {word: value for word, value in named.items() if word not in said}
    if arguments and callable(arguments[-1]) and not hasattr(arguments[-1], "key"):
        *arguments, said["holds"] = arguments
    segments = as_names(said["by"]) if said.get("by") is not None else () if constraint.whole else by
    if said.get("by") is not None and not segments:
        raise MisuseError(f"{name}: by names no column.", hint='Write by=["region"], or leave it out.')
    bound = constraint.bind(arguments, parameters)
    rule = Rule(name, bound, **_threshold_fields(constraint, said, level), where=said.get("where"), by=segments)
    _refuse_unsound(constraint, rule)
    return rule


def as_names(by: str | Sequence[str]) -> tuple[str, ...]:
    """One column or several as a tuple of them."""
    return (by,) if isinstance(by, str) else tuple(by)


def _threshold_fields(found: Constraint, said: dict[str, Any], level: Level) -> dict[str, Any]:
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
    return {"expect": one, "level": parse_level(said.get("level") or level)}


def _refuse_unsound(found: Constraint, rule: Rule) -> None:
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
        targets = found.targets(rule, AnyRuleContext())
    except TypeError as trouble:
        raise MisuseError(f"{rule}: {trouble}.", hint=f"Write {found.example()}.") from None
    for target in targets:
        _refuse_distribution(rule, target.metric, rule.expect)


def _refuse_distribution(rule: Rule, metric: Any, expect: Predicate | None) -> None:
    if metric.distribution and not isinstance(expect, Python):
        raise MisuseError(
            f"{rule} gives a distribution, which no number can be held against.", hint="Give a function of it."
        )


def parse_level(level: Level | str) -> Level:
    """A level from its name."""
    try:
        return Level(level)
    except ValueError:
        raise MisuseError(f"{level!r} is no level.", hint="Write warn or error.") from None
