"""Proposals of pattern rules, with the injected issues that they catch."""

from __future__ import annotations

import pyarrow as pa
import pytest

from headgate.learn.budget import choose_proposals
from headgate.learn.patterns.infer import infer
from headgate.learn.patterns.pattern import Atom, AtomKind, Pattern
from headgate.learn.patterns.propose import propose_pattern
from headgate.learn.patterns.rule import Branch, PatternRule
from headgate.learn.patterns.segments import PatternSegment
from headgate.learn.patterns.settings import InferenceSettings
from headgate.values.errors import MisuseError
from tests.learn.patterns import lakes


def test_nothing_is_proposed_of_no_rule() -> None:
    with pytest.raises(MisuseError, match="no rule"):
        propose_pattern(None, "code", ["a"])  # type: ignore[arg-type]


def test_a_proposal_says_which_issues_it_catches_and_fits_a_budget() -> None:
    lake = lakes.lake()
    values = lakes.column(lakes.iso, size=300)
    found = infer(values, lake, lake.total, InferenceSettings.of("headgate"))
    assert found is not None
    proposal = propose_pattern(found, "day", values, rows=300, neighbour=pa.array(lakes.column(lakes.code, size=300)))
    caught = {issue for column, issue in proposal.catches if column == "day"}
    assert "schema_change(share=1.0)" in caught
    assert {issue.split("(")[0] for issue in caught} >= {"schema_change", "character_deletion"}
    assert choose_proposals([proposal], budget=0.5) == [proposal]
    assert choose_proposals([proposal], budget=found.alarm / 2) == []


def test_a_rule_catches_nothing_in_values_that_it_always_follows() -> None:
    loose = PatternRule((Branch((PatternSegment(Pattern((Atom(AtomKind.ALPHANUM),)), columns=9),)),), 10, 0, 0.1, 0.5)
    values = ["abc123"] * 300
    proposal = propose_pattern(loose, "code", values)
    assert not any(issue.startswith(("distribution_change", "casing_change")) for _, issue in proposal.catches)
