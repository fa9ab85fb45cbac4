"""Builds a rule from a call of a constraint or an item of a file, and raises if it is invalid."""

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
    """The rule of a constraint with these arguments. `level` and `by` are the check's, used if the call has none."""
    constraint = constraint_named(name)
    modifiers = {word: named[word] for word in MODIFIERS if word in named}
    parameters = {word: value for word, value in named.items() if word not in modifiers}
    if arguments and callable(arguments[-1]) and not hasattr(arguments[-1], "key"):
        *arguments, modifiers["holds"] = arguments
    segments = as_names(modifiers["by"]) if modifiers.get("by") is not None else () if constraint.whole else by
    if modifiers.get("by") is not None and not segments:
        raise MisuseError(f"{name}: by names no column.", hint='Write by=["region"], or leave it out.')
    bound = constraint.bind(arguments, parameters)
    rule = Rule(
        name, bound, **_threshold_fields(constraint, modifiers, level), where=modifiers.get("where"), by=segments
    )
    _refuse_invalid(constraint, rule)
    return rule


def as_names(by: str | Sequence[str]) -> tuple[str, ...]:
    """One column or several as a tuple."""
    return (by,) if isinstance(by, str) else tuple(by)


def _threshold_fields(constraint: Constraint, modifiers: dict[str, Any], level: Level) -> dict[str, Any]:
    """The fields of a rule for what is expected and for the level of a failure."""
    name = constraint.name
    predicate = predicate_of(modifiers, name)
    if modifiers.get("holds") is not None:
        if predicate is not None:
            raise MisuseError(f"{name} has a function and a threshold.", hint="Give one of them.")
        predicate = Python.of(modifiers["holds"])
    warn, error = threshold(modifiers.get("warn"), name), threshold(modifiers.get("error"), name)
    if predicate is not None and (warn is not None or error is not None):
        raise MisuseError(f"{name} says a threshold and warn or error.", hint="Say warn= and error=, or one threshold.")
    if "level" in modifiers and (warn is not None or error is not None):
        raise MisuseError(f"{name} says level and warn or error.", hint="warn= and error= are the levels.")
    if error is not None:
        return {"expect": error, "warn": warn, "level": Level.ERROR}
    if warn is not None:
        return {"expect": warn, "level": Level.WARN}
    return {"expect": predicate, "level": parse_level(modifiers.get("level") or level)}


def _refuse_invalid(constraint: Constraint, rule: Rule) -> None:
    """Raise if the rule is invalid for every batch."""
    if not (rule.where is None or isinstance(rule.where, str)):
        raise MisuseError(f"{rule}: where must be a SQL predicate as text, not {rule.where!r}.")
    if constraint.whole and (rule.where is not None or rule.by):
        raise MisuseError(
            f"{rule} is of the whole batch, so it takes neither where nor by.", hint=_WHOLE.get(rule.name, "")
        )
    if constraint.fixed and rule.expect is not None:
        raise MisuseError(f"{rule} finds out itself what to expect, so it takes no threshold.")
    if not constraint.fixed and rule.expect is None and constraint.default is None:
        raise MisuseError(
            f"{rule} does not say what is expected.", hint="Add between=, at_least=, at_most=, equals= or a function."
        )
    try:
        targets = constraint.targets(rule, AnyRuleContext())
    except TypeError as error:
        raise MisuseError(f"{rule}: {error}.", hint=f"Write {constraint.example()}.") from None
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
