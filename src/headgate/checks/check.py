"""A named list of rules that a person declares for a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

from headgate.checks.build_rule import as_names, build_rule, parse_level
from headgate.checks.methods import Methods
from headgate.checks.rule import Rule
from headgate.display.blocks import Point, Points
from headgate.display.page import Page, Paged
from headgate.values.errors import MisuseError
from headgate.values.expectation import Level
from headgate.values.extras import import_extra


class Check(Paged, Methods):
    """`hg.Check("orders").is_complete("id").has_mean("price", between=(5, 500))`. Every call gives a new check.

    There is a method for every metric, `has_` and its name, and for every constraint of the vocabulary. Each takes what
    is expected (`between= at_least= at_most= equals= one_of=`, or a function), `where=` (a SQL predicate that selects
    rows), `by=` (columns: each segment is judged separately), and `level=` ("warn" or "error") or two thresholds,
    `warn=` and `error=`.

    >>> check = Check("orders").is_complete("id").has_mean("price", between=(5, 500), level="warn")
    >>> print(check)
    orders: 2 rules
      is_complete(id)
      has_mean(price) within 5..500, warn

    Args:
        name: The name of the check, for reports.
        level: The level of rules that have none of their own: "error" (the default) or "warn".
        by: Columns. Rules that have no `by` of their own are judged separately for each of their segments.
        rules: Rules to begin with.
    """

    def __init__(
        self, name: str, *, level: Level | str = Level.ERROR, by: str | Sequence[str] = (), rules: Iterable[Rule] = ()
    ) -> None:
        if not name:
            raise MisuseError("a check needs a name.", hint='Write Check("orders").')
        self.name = name
        self.level = parse_level(level)
        self.by = as_names(by)
        self.rules = tuple(rules)

    def with_rule(self, name: str, /, *arguments: Any, **named: Any) -> Self:
        """This check with one more rule. `check.with_rule("is_complete", "id")` is `check.is_complete("id")`."""
        return self.with_rules([build_rule(name, arguments, named, level=self.level, by=self.by)])

    def with_rules(self, rules: Iterable[Rule]) -> Self:
        """This check with more rules; a rule that it already has is not added again."""
        every = tuple(dict.fromkeys((*self.rules, *rules)))
        return type(self)(self.name, level=self.level, by=self.by, rules=every)

    @property
    def storable(self) -> bool:
        """Whether it can be stored: a rule with a Python function exists in this process only."""
        return all(rule.storable for rule in self.rules)

    def to_yaml(self) -> str:
        """The `checks:` section of a configuration with the same rules."""
        import_extra("yaml", "checks in YAML need PyYAML.", "cli")
        from headgate.checks.yaml_form import write_yaml

        return write_yaml(self.rules)

    @classmethod
    def from_yaml(cls, text: str, name: str = "checks") -> Check:
        """A check from a `checks:` section, or from the list under it. Nothing in it runs as code."""
        import_extra("yaml", "checks in YAML need PyYAML.", "cli")
        from headgate.checks.yaml_form import read_rules

        return cls(name).with_rules(read_rules(text))

    def to_python(self) -> str:
        """Python code that makes the same check."""
        from headgate.checks.python_form import write_python

        return write_python(self.name, self.rules)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Check) and (self.name, self.rules) == (other.name, other.rules)

    def __hash__(self) -> int:
        return hash((self.name, self.rules))

    def __len__(self) -> int:
        return len(self.rules)

    def page(self) -> Page:
        title = f"{self.name}: {len(self.rules)} rule{'s' * (len(self.rules) != 1)}"
        points = Points(tuple(Point(_describe_rule(rule)) for rule in self.rules))
        return Page(title, blocks=(points,) if self.rules else ())


def _describe_rule(rule: Rule) -> str:
    parts = [str(rule)]
    parts += [str(rule.expect)] if rule.expect else []
    text = " ".join(parts)
    text += f" (warn: {rule.warn})" if rule.warn else ""
    text += f" where {rule.where}" if rule.where else ""
    text += f" by {', '.join(rule.by)}" if rule.by else ""
    return text + (", warn" if rule.level is Level.WARN else "")
