"""Holds the suggestions for a table, prints them, and converts them to a check, YAML or Python.

Tested by `tests/learn/rules/test_suggest.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, overload

import msgspec

from headgate.checks.check import Check
from headgate.display.blocks import Grid, Mark, Note, Tone
from headgate.display.page import Page, Paged
from headgate.display.table import Table
from headgate.learn.rules.rule import Suggestion

_MAX_SHOWN = 200  # suggestions that a terminal or a notebook cell shows


class Suggestions(Paged, Sequence[Suggestion]):
    """Suggestions in the order of the columns, with the number of training rows and of held-out rows."""

    def __init__(self, found: Sequence[Suggestion], training: int = 0, held_out: int = 0) -> None:
        self._suggestions = tuple(found)
        self.training = training
        self.held_out = held_out

    @overload
    def __getitem__(self, index: int) -> Suggestion: ...

    @overload
    def __getitem__(self, index: slice) -> Suggestions: ...

    def __getitem__(self, index: int | slice) -> Suggestion | Suggestions:
        if isinstance(index, slice):
            return Suggestions(self._suggestions[index], self.training, self.held_out)
        return self._suggestions[index]

    def __iter__(self) -> Iterator[Suggestion]:
        return iter(self._suggestions)

    def __len__(self) -> int:
        return len(self._suggestions)

    @property
    def holding(self) -> Suggestions:
        """The suggestions that hold on the held-out rows, or could not be evaluated on them."""
        holding = [each for each in self if each.coverage is None or each.coverage == 1.0]
        return Suggestions(holding, self.training, self.held_out)

    def to_check(self, name: str = "suggested") -> Check:
        """A check of the suggestions that hold on the held-out rows.

        To add others, pass their `suggestion.rule` to `Check.with_rules`.
        """
        return Check(name, rules=[each.rule for each in self.holding])

    def to_yaml(self, name: str = "suggested") -> str:
        """The `checks:` section of a configuration, with the suggestions that hold."""
        return self.to_check(name).to_yaml()

    def to_python(self, name: str = "suggested") -> str:
        """Python code for a check of the suggestions that hold."""
        return self.to_check(name).to_python()

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        plain = [
            {
                "column": each.column,
                "constraint": str(each),
                "why": each.why,
                "by": each.by,
                "coverage": each.coverage,
                "rule": msgspec.to_builtins(each.rule),
            }
            for each in self
        ]
        return {"training": self.training, "held_out": self.held_out, "suggestions": plain}

    # --- for people

    def table(self, most: int | None = None) -> Table:
        rows = [(str(each), each.why, _format_coverage(each.coverage)) for each in self._suggestions[:most]]
        return Table(("constraint", "why", "holds on the rest"), tuple(rows), numeric=frozenset({2}))

    def page(self) -> Page:
        tones = {None: Tone.PLAIN, 1.0: Tone.GOOD}
        marks = tuple(Mark(tones.get(each.coverage, Tone.BAD)) for each in self._suggestions[:_MAX_SHOWN])
        grid = Grid(self.table(_MAX_SHOWN), widest=72, marks=marks, marked=2)
        return Page(self._title(), blocks=(grid, *map(Note, self._more_lines())))

    def _title(self) -> str:
        columns = len(Counter(each.column for each in self))
        count = f"{len(self)} suggestion{'s' * (len(self) != 1)} for {columns} column{'s' * (columns != 1)}"
        failing = len(self) - len(self.holding)
        failing_note = f", {failing} of them not" if failing else ""
        return f"{count}, from {self.training:,} rows; held against {self.held_out:,} others{failing_note}"

    def _more_lines(self) -> list[str]:
        more = len(self) - _MAX_SHOWN
        return [f"... and {more:,} more; suggestions.table().text() has them all"] if more > 0 else []


def _format_coverage(coverage: float | None) -> str:
    if coverage is None:
        return "—"
    return "yes" if coverage == 1.0 else f"no, {min(coverage, 0.9999):.2%}" if coverage else "no"
