"""The constraints of checks. Each is a function from its arguments to the metrics that are judged."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Collection, Iterable, Sequence, Set
from datetime import timedelta
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import msgspec

from headgate.checks.rule import Argument, Rule
from headgate.checks.rule_context import RuleContext
from headgate.metrics.base.metric import ColumnMetric, GroupMetric, Metric, PairMetric, PredicateMetric, SchemaMetric
from headgate.metrics.base.registry import metrics
from headgate.metrics.base.sql import join_filters
from headgate.values.errors import MisuseError, did_you_mean
from headgate.values.expectation import Expectation, Level, Source
from headgate.values.key import MetricKey
from headgate.values.predicate import OneOf, Predicate

ALL = OneOf((1.0,))


class MetricTarget(NamedTuple):
    """A metric and its predicate: the rule's, `expect`, or what the function `expect` makes of the rule's."""

    metric: Metric[Any]
    expect: Predicate | Callable[[Predicate], Predicate] | None = None
    source: Source = Source.DECLARED

    def expects(self, declared: Predicate | None) -> Predicate:
        if callable(self.expect):
            assert declared is not None
            return self.expect(declared)
        predicate = self.expect or declared
        assert predicate is not None
        return predicate


Answer: TypeAlias = Metric[Any] | MetricTarget | Iterable[Metric[Any] | MetricTarget]


class Constraint(NamedTuple):
    """A constraint: its name, the function that gives its metrics, and the predicate of rules without one.

    `default` is None if a rule must have a predicate. `fixed` constraints derive the predicate themselves. Those of the
    `whole` batch take neither `where` nor `by`.
    """

    name: str
    function: Callable[..., Answer]
    default: Predicate | None
    fixed: bool = False
    whole: bool = False
    optional: tuple[str, ...] = ()  # parameters whose lists may be empty
    metric: type[Metric[Any]] | None = None  # the metric, if this is the constraint `has_<metric>`

    @property
    def parameters(self) -> tuple[inspect.Parameter, ...]:
        return tuple(each for each in _parameters_of(self.function) if each.name != "context")

    @property
    def needs_context(self) -> bool:
        return any(each.name == "context" for each in _parameters_of(self.function))

    @property
    def says(self) -> str:
        """Its meaning, in one sentence."""
        return (inspect.getdoc(self.function) or "").split("\n\n")[0].replace("\n", " ")

    def bind(self, positional: Sequence[Any], named: dict[str, Any]) -> tuple[tuple[str, Argument], ...]:
        """The arguments by name, in order, without those that were not given."""
        signature = inspect.Signature(self.parameters)
        try:
            bound = signature.bind(*positional, **named)
        except TypeError as error:
            raise MisuseError(f"{self.name}: {error}.", hint=f"Write {self.example()}.") from None
        arguments = tuple((name, plain(_unwrap_list(value))) for name, value in bound.arguments.items())
        for parameter in self.parameters:
            self._check(parameter, dict(arguments).get(parameter.name))
        return arguments

    def _check(self, parameter: inspect.Parameter, value: Argument | None) -> None:
        """Raise if an argument is invalid for every batch."""
        many = parameter.kind is inspect.Parameter.VAR_POSITIONAL
        if many and not value and parameter.name not in self.optional:
            raise MisuseError(f"{self.name} names no column.", hint=f"Write {self.example()}.")
        texts = value if many and isinstance(value, tuple) else (value,)
        if parameter.annotation in (str, "str") and not all(text is None or isinstance(text, str) for text in texts):
            raise MisuseError(f"{self.name}: {parameter.name} must be text, not {value!r}.")

    def signature(self) -> str:
        return str(inspect.Signature([each.replace(annotation=inspect.Parameter.empty) for each in self.parameters]))

    def example(self) -> str:
        """How it is written, with a threshold if it needs one."""
        text = f"{self.name}{self.signature()}"
        needs = self.default is None and not self.fixed
        return text if not needs else text[:-1] + ", " * (not text.endswith("()")) + "between=(low, high))"

    def targets(self, rule: Rule, context: RuleContext) -> list[MetricTarget]:
        """The metrics for the arguments of a rule, with what is expected of each."""
        positional: list[Any] = []
        named: dict[str, Any] = {}
        kinds = {each.name: each.kind for each in self.parameters}
        for name, value in rule.arguments:
            if kinds[name] is inspect.Parameter.VAR_POSITIONAL:
                positional += [*value] if isinstance(value, tuple) else [value]
            else:
                named[name] = value
        if self.needs_context:
            named["context"] = context
        answer = self.function(*positional, **named)
        targets = [answer] if isinstance(answer, (Metric, MetricTarget)) else list(answer)
        return [each if isinstance(each, MetricTarget) else MetricTarget(each) for each in targets]


@cache  # called several times for every rule, of which a check of a wide table has thousands
def _parameters_of(function: Callable[..., Answer]) -> tuple[inspect.Parameter, ...]:
    return tuple(inspect.signature(function).parameters.values())


_declared: dict[str, Constraint] = {}


def constraint(
    default: Predicate | None = None, fixed: bool = False, whole: bool = False, optional: tuple[str, ...] = ()
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Declare a constraint under the name of the function."""

    def declare(function: Callable[..., Answer]) -> Callable[..., Answer]:
        _declared[function.__name__] = Constraint(function.__name__, function, default, fixed, whole, optional)
        return function

    return declare


def constraints() -> dict[str, Constraint]:
    """All constraints by name: one for each registered metric, and those declared in `vocabulary`."""
    return dict(_constraints(tuple(metrics().values())))


@cache
def _constraints(kinds: tuple[type[Metric[Any]], ...]) -> dict[str, Constraint]:
    _import_vocabulary()
    plain_forms = (_plain_form(kind) for kind in kinds)
    return dict(sorted(({form.name: form for form in plain_forms} | _declared).items()))


def constraint_named(name: str) -> Constraint:
    known = constraints()
    if name not in known:
        raise MisuseError(f"no constraint is named {name!r};", hint=did_you_mean(name, known))
    return known[name]


def expectations(rule: Rule, context: RuleContext) -> list[Expectation]:
    """What a rule expects of a batch in this context."""
    constraint = constraint_named(rule.name)
    thresholds = [(rule.level, None if constraint.fixed else rule.expect or constraint.default)]
    thresholds += [(Level.WARN, rule.warn)] if rule.warn else []
    text = "" if constraint.metric else str(rule) + (f" where {rule.where}" if rule.where else "")
    return [
        Expectation(
            scope_metric(target.metric, rule.where).key, target.expects(predicate), target.source, level, rule=text
        )
        for target in constraint.targets(rule, context)
        for level, predicate in thresholds
    ]


def scope_metric(metric: Metric[Any], where: str | None) -> Metric[Any]:
    """The metric, restricted to the rows that also meet a filter."""
    return metric if where is None else msgspec.structs.replace(metric, where=join_filters(where, metric.where))


def plain(value: Any) -> Argument:
    """An argument as data: metrics and detectors by their keys, lists as tuples."""
    if isinstance(value, (str, bool, int, float)):
        return value
    key = getattr(value, "key", value)
    if isinstance(key, MetricKey):
        return str(key)
    if isinstance(value, timedelta):
        return f"{value.total_seconds():.6f}".rstrip("0").rstrip(".") + "s"
    if hasattr(value, "tolist") and getattr(value, "ndim", None):  # an array or a series
        value = value.tolist()
    if isinstance(value, Set):
        value = sorted(value, key=repr)
    if isinstance(value, Collection):
        return tuple(plain(each) for each in value)  # type: ignore[misc]
    if type(value).__name__ == "datetime64":
        value = value.astype("datetime64[us]")
    item = getattr(value, "item", None)
    scalar: Argument = item() if callable(item) else value  # a scalar of numpy, else a date or a decimal
    return scalar


def _unwrap_list(value: Any) -> Any:
    """The columns of `is_unique(["a", "b"])`, which means `is_unique("a", "b")`."""
    return value[0] if isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], list | tuple) else value


def _plain_form(kind: type[Metric[Any]]) -> Constraint:
    """The constraint that every metric has: `has_mean(column, between=...)`."""
    name = kind.name if kind.name.startswith("has_") else f"has_{kind.name}"

    def function(*args: Any, **named: Any) -> Metric[Any]:
        return kind(args, **named) if issubclass(kind, GroupMetric) else kind(*args, **named)

    function.__doc__ = (inspect.getdoc(kind) or "").partition("\n\n")[0]
    function.__signature__ = inspect.Signature(_parameters(kind))  # type: ignore[attr-defined]
    return Constraint(name, function, None, whole=issubclass(kind, SchemaMetric), metric=kind)


def _parameters(kind: type[Metric[Any]]) -> list[inspect.Parameter]:
    """The parameters of a metric's constraint: its columns, then its parameters."""
    grouped = issubclass(kind, GroupMetric)
    parameters = []
    for field in msgspec.structs.fields(kind):
        if field.name == "where":
            continue
        if grouped and field.name == "columns":
            parameters.append(inspect.Parameter("columns", inspect.Parameter.VAR_POSITIONAL, annotation=str))
            continue
        how = inspect.Parameter.KEYWORD_ONLY if grouped else inspect.Parameter.POSITIONAL_OR_KEYWORD
        default = inspect.Parameter.empty if field.required else field.default
        parameters.append(inspect.Parameter(field.name, how, default=default, annotation=field.type))
    columned = (ColumnMetric, PairMetric, GroupMetric, PredicateMetric, SchemaMetric)
    order = {"column": 0, "left": 0, "right": 1, "columns": 0, "predicate": 0} if issubclass(kind, columned) else {}
    return sorted(parameters, key=lambda each: (each.kind, order.get(each.name, 2)))


def _import_vocabulary() -> None:
    import headgate.checks.vocabulary as room

    for module in pkgutil.iter_modules(room.__path__):
        importlib.import_module(f"{room.__name__}.{module.name}")
