"""A judged batch: the verdict, in words, as data, and down to the rows that are to blame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from headgate.display.blocks import Block, Grid, Mark, Note, Tone
from headgate.display.page import Page, Paged
from headgate.display.table import Table
from headgate.engine.analysis import Analysis
from headgate.engine.row_rule import RowRule
from headgate.engine.rows import failing_rows, split_rows
from headgate.evaluate.measurements import Measurements
from headgate.evaluate.row_rules import Judged, Segment, blamed_rows, offence_of, row_rules
from headgate.values.errors import MisuseError
from headgate.values.expectation import GRAVEST, Judgement, Level, Status
from headgate.values.run import Run
from headgate.values.state import State
from headgate.values.verdict import Verdict

TONES = {Status.PASS: Tone.GOOD, Status.FAIL: Tone.BAD, Status.ERROR: Tone.UNSURE, Status.SKIP: Tone.UNSURE}
_MARKS = {Status.PASS: "✓", Status.FAIL: "✗", Status.SKIP: "·", Status.ERROR: "!"}
_WORDS = {Status.ERROR: "not evaluated", Status.FAIL: "not met", Status.SKIP: "skipped", Status.PASS: "met"}
_SHOWN = 60  # judgements that a terminal or a notebook cell shows


class Verification(Paged):
    """The verdict over a batch. Given the same data again, `rows` and `split` find the rows that are to blame."""

    def __init__(
        self,
        judged: Sequence[Judged],
        found: Measurements,
        tables: Mapping[str, Any],
    ) -> None:
        self.judged = tuple(judged)
        self.verdict = Verdict(tuple(each.judgement for each in judged))
        self._found = found
        self._tables = dict(tables)

    @property
    def status(self) -> Status:
        return self.verdict.status

    @property
    def passed(self) -> bool:
        return self.verdict.passed

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        return self.verdict.judgements

    @property
    def failures(self) -> tuple[Judgement, ...]:
        """What was not met, at any level."""
        return self.verdict.failures

    @property
    def errors(self) -> tuple[Judgement, ...]:
        """What could not be evaluated."""
        return tuple(each for each in self.judgements if each.status is Status.ERROR)

    @cached_property
    def checks(self) -> dict[str, Verdict]:
        """The verdict of each check."""
        found: dict[str, list[Judgement]] = {}
        for each in self.judged:
            found.setdefault(each.check, []).append(each.judgement)
        return {name: Verdict(tuple(judgements)) for name, judgements in found.items()}

    @property
    def analysis(self) -> Analysis:
        """What was measured of the whole batch."""
        return self._found.whole

    # --- rows

    def rows(self, data: Any) -> Any:
        """The rows that break a failed rule, with a column `headgate_reasons`: rule, level, columns and value of each.

        One pass and no cap. A failure that no single row is to blame for (a mean out of range) marks no row.
        """
        return failing_rows(data, self._row_rules, self._tables)

    def split(self, data: Any) -> tuple[Any, Any]:
        """The rows that break no rule of level error, and those that do, with their reasons.

        Refused where a rule could not be evaluated: rows that nothing is known of are not good.
        """
        if self.errors:
            raise MisuseError(
                f"{len(self.errors)} rules could not be evaluated, so which rows are good is not known.",
                hint="verdict.errors says why; verdict.rows(df) has the rows that break the others.",
            )
        rules = [each for each in self._row_rules if each.level == Level.ERROR]
        return split_rows(data, rules, self._tables)

    @cached_property
    def _row_rules(self) -> tuple[RowRule, ...]:
        return row_rules(self.judged)

    def blame(self) -> list[tuple[Judgement, bool]]:
        """What failed at level error, and whether single rows are to blame for it."""
        failed = [each for each in self.judged if each.judgement.expectation.level is Level.ERROR]
        return [
            (each.judgement, offence_of(each) is not None) for each in failed if each.judgement.status is Status.FAIL
        ]

    def blamed_rows(self, judgement: Judgement) -> str:
        """How many rows are to blame for a judgement, in words; empty where no single row is."""
        return next((self._blamed(each) for each in self.judged if each.judgement == judgement), "")

    # --- for people and programs

    def explain(self) -> str:
        """The verdict in words: what was not met, what could not be evaluated, and why."""
        trouble = [each for each in self.judged if each.judgement.status in (Status.FAIL, Status.ERROR)]
        return "\n".join([self._title(), *(self._line(each) for each in trouble)])

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "status": self.status.value,
            "passed": self.passed,
            "checks": {name: verdict.status.value for name, verdict in self.checks.items()},
            "judgements": [{"check": each.check, **record_of(each.judgement)} for each in self.judged],
        }

    def to_run(self, dataset: str, partition: str, fingerprint: str, suite: str = "") -> Run:
        """This as a run for a store to keep, from whose series `has_no_anomalies` learns."""
        return Run(
            dataset=dataset,
            partition=partition,
            fingerprint=fingerprint,
            suite=suite,
            schema=self.analysis.schema,
            outcomes=self.analysis.outcomes,
            states=self.analysis.states,
            verdict=self.verdict,
        )

    def table(self) -> Table:
        headers = ("", "check", "level", "what was found")
        return Table(headers, tuple(self._cells(each) for each in self._ranked()[:_SHOWN]))

    def _ranked(self) -> list[Judged]:
        return sorted(self.judged, key=lambda each: GRAVEST.index(each.judgement.status))

    def _cells(self, each: Judged) -> tuple[str, str, str, str]:
        judgement = each.judgement
        return _MARKS[judgement.status], each.check, judgement.expectation.level.value, self._said(each)

    def _said(self, each: Judged) -> str:
        """The reason, with the segment and how many rows are to blame."""
        where = _named(each.judgement.segment)
        blamed = self._blamed(each)
        return each.judgement.reason + (f" in {where}" if where else "") + (f" ({blamed})" if blamed else "")

    def _line(self, each: Judged) -> str:
        judgement = each.judgement
        check = f"[{each.check}] " if len(self.checks) > 1 else ""
        return f"{_MARKS[judgement.status]} {judgement.expectation.level.value:<5}  {check}{self._said(each)}"

    def _blamed(self, each: Judged) -> str:
        return "" if offence_of(each) is None else blamed_rows(each, self._state(each))

    def _state(self, each: Judged) -> State | None:
        assert each.metric is not None
        segment = each.judgement.segment
        analyses = self._found.segments(tuple(name for name, _ in segment))
        return analyses[tuple(value for _, value in segment)].states.get(each.metric.state_key)

    def _title(self) -> str:
        total = len(self.judgements)
        counts = {status: sum(each.status is status for each in self.judgements) for status in Status}
        words = [f"{counts[status]} {word}" for status, word in _WORDS.items() if counts[status]]
        return f"{self.status.value.upper()}: of {total} expectation{'s' * (total != 1)} {', '.join(words) or 'none'}"

    def page(self) -> Page:
        marks = tuple(
            Mark(TONES[each.judgement.status], each.judgement.status.value) for each in self._ranked()[:_SHOWN]
        )
        blocks: list[Block] = []
        if self.judged:
            blocks.append(Grid(self.table(), widest=32, last=160, marks=marks))
        if len(self.judged) > _SHOWN:
            blocks.append(Note(f"... and {len(self.judged) - _SHOWN:,} more; verdict.to_dict() has them all"))
        return Page(self._title(), TONES[self.status], self.status.value.upper(), tuple(blocks))


def record_of(judgement: Judgement) -> dict[str, Any]:
    """A judgement as plain data."""
    expectation = judgement.expectation
    return {
        "rule": expectation.rule or str(expectation.metric),
        "metric": str(expectation.metric),
        "expected": str(expectation.predicate),
        "level": expectation.level.value,
        "source": expectation.source.value,
        "segment": dict(judgement.segment),
        "status": judgement.status.value,
        "value": judgement.value,
        "reason": judgement.reason,
    }


def _named(segment: Segment) -> str:
    return ", ".join(f"{name}={'null' if value is None else value}" for name, value in segment)
