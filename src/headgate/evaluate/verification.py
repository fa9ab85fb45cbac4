"""The verdict of checks over a batch: in words, as data, and down to the failing rows.

Tested by `tests/evaluate/test_verify.py`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from headgate.display.blocks import Block, Grid, Mark, Note, Tone
from headgate.display.page import Page
from headgate.display.table import Table
from headgate.display.text import escape_line
from headgate.engine.analysis import Analysis
from headgate.evaluate.judged_batch import JudgedBatch
from headgate.evaluate.row_rules import JudgedExpectation, RowFinder
from headgate.values.expectation import GRAVEST, Judgement, Segment, Status
from headgate.values.outcome import to_json_number
from headgate.values.run import Run
from headgate.values.verdict import Verdict

TONES = {Status.PASS: Tone.GOOD, Status.FAIL: Tone.BAD, Status.ERROR: Tone.UNSURE, Status.SKIP: Tone.UNSURE}
_SIGNS = {Status.PASS: "✓", Status.FAIL: "✗", Status.SKIP: "·", Status.ERROR: "!"}
_WORDS = {Status.ERROR: "not evaluated", Status.FAIL: "not met", Status.SKIP: "skipped", Status.PASS: "met"}
_MAX_ROWS = 60  # judgements that a terminal or a notebook cell shows


class Verification(JudgedBatch):
    """The verdict over a batch. Given the same data again, `rows` and `split` find the failing rows."""

    def __init__(self, finder: RowFinder) -> None:
        self._row_finder = finder

    @property
    def _finder(self) -> RowFinder:
        return self._row_finder

    @property
    def judged(self) -> tuple[JudgedExpectation, ...]:
        """Every judgement with its check, its rule and its metric."""
        return self._row_finder.judged

    @cached_property
    def verdict(self) -> Verdict:
        return Verdict(tuple(each.judgement for each in self.judged))

    @cached_property
    def checks(self) -> dict[str, Verdict]:
        """The verdict of each check."""
        by_check: dict[str, list[Judgement]] = {}
        for judged in self.judged:
            by_check.setdefault(judged.check, []).append(judged.judgement)
        return {name: Verdict(tuple(judgements)) for name, judgements in by_check.items()}

    @property
    def analysis(self) -> Analysis:
        """What was measured of the whole batch."""
        assert self._row_finder.measurements is not None
        return self._row_finder.measurements.whole

    # --- for people and programs

    def explain(self) -> str:
        """The verdict in words: what was not met, what could not be evaluated, and why."""
        failed = [each for each in self.judged if each.judgement.status in (Status.FAIL, Status.ERROR)]
        return "\n".join(map(escape_line, [self._title(), *(self._format_line(each) for each in failed)]))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "status": self.status.value,
            "passed": self.passed,
            "checks": {name: verdict.status.value for name, verdict in self.checks.items()},
            "judgements": [{"check": each.check, **judgement_to_dict(each.judgement)} for each in self.judged],
        }

    def to_run(self, dataset: str, partition: str, fingerprint: str, suite: str = "") -> Run:
        """This as a run for a store to keep, from whose series `has_no_anomalies` learns.

        Args:
            dataset: The name of the table that recurs.
            partition: The key of this batch in it.
            fingerprint: What tells this input from another: a checksum, the id of a snapshot.
            suite: What tells these checks from others.
        """
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
        """The judgements, those that need somebody first."""
        headers = ("", "check", "level", "what was found")
        return Table(headers, tuple(self._cells(each) for each in self._rank_judged()[:_MAX_ROWS]))

    def page(self) -> Page:
        ranked = self._rank_judged()[:_MAX_ROWS]
        marks = tuple(Mark(TONES[each.judgement.status], each.judgement.status.value) for each in ranked)
        blocks: list[Block] = []
        if self.judged:
            blocks.append(Grid(self.table(), widest=32, last=160, marks=marks))
        if len(self.judged) > _MAX_ROWS:
            blocks.append(Note(f"... and {len(self.judged) - _MAX_ROWS:,} more; verdict.to_dict() has them all"))
        return Page(self._title(), TONES[self.status], self.status.value.upper(), tuple(blocks))

    def _title(self) -> str:
        total = len(self.judgements)
        counts = {status: sum(each.status is status for each in self.judgements) for status in Status}
        words = [f"{counts[status]} {word}" for status, word in _WORDS.items() if counts[status]]
        return f"{self.status.value.upper()}: of {total} expectation{'s' * (total != 1)} {', '.join(words) or 'none'}"

    def _rank_judged(self) -> list[JudgedExpectation]:
        return sorted(self.judged, key=lambda each: GRAVEST.index(each.judgement.status))

    def _cells(self, judged: JudgedExpectation) -> tuple[str, str, str, str]:
        judgement = judged.judgement
        level = judgement.expectation.level.value
        return _SIGNS[judgement.status], judged.check, level, self._describe(judgement)

    def _format_line(self, judged: JudgedExpectation) -> str:
        judgement = judged.judgement
        check = f"[{judged.check}] " if len(self.checks) > 1 else ""
        level = judgement.expectation.level.value
        return f"{_SIGNS[judgement.status]} {level:<5}  {check}{self._describe(judgement)}"

    def _describe(self, judgement: Judgement) -> str:
        """The reason, with the segment and the number of failing rows."""
        segment, rows = _format_segment(judgement.segment), self._row_finder.count_failing_rows(judgement)
        return judgement.reason + (f" in {segment}" if segment else "") + (f" ({rows})" if rows else "")


def judgement_to_dict(judgement: Judgement) -> dict[str, Any]:
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
        "value": to_json_number(judgement.value),
        "reason": judgement.reason,
    }


def _format_segment(segment: Segment) -> str:
    return ", ".join(f"{name}={'null' if value is None else value}" for name, value in segment)
