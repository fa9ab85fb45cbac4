"""An open index: rules, tags, what it says of a pattern and of itself, and sums of indexes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import headgate as hg
from headgate.learn.patterns import index_file
from headgate.learn.patterns.index import PatternIndex
from headgate.learn.patterns.pattern import Atom, AtomKind, Pattern
from headgate.values.errors import MisuseError
from tests.learn.patterns import lakes
from tests.pages import assert_harmless, terminal

ISO = Pattern(
    (
        Atom(AtomKind.DIGIT, 4),
        Atom(AtomKind.CONST, text="-"),
        Atom(AtomKind.DIGIT, 2),
        Atom(AtomKind.CONST, text="-"),
        Atom(AtomKind.DIGIT, 2),
    )
)


@pytest.fixture
def index(tmp_path: Path) -> PatternIndex:
    return lakes.index(tmp_path / "lake.hgi")


def test_a_rule_is_inferred_from_the_file(index: PatternIndex) -> None:
    rule = index.infer(lakes.column(lakes.iso))
    assert str(rule) == str(ISO)
    assert rule.coverage == 20


def test_a_tag_is_the_pattern_that_the_fewest_columns_have(index: PatternIndex) -> None:
    """The rule for codes is safe for codes to come; the tag tells codes from everything else in the lake."""
    values = lakes.column(lakes.code)
    tag = index.tag(values)
    assert tag is not None
    rows = index.find_entries(np.array([Pattern(tag.branches[0].segments[0].pattern.atoms).key], np.uint64))
    assert int(rows["columns"][0]) == tag.coverage
    carrying = [draw.__name__ for draw in lakes.DOMAINS if tag.matches(lakes.column(draw, seed=77)).mean() > 0.95]
    assert carrying == ["code"]


def test_a_tag_that_may_miss_nothing_is_no_narrower(index: PatternIndex) -> None:
    values = lakes.column(lakes.status)
    tight, loose = index.tag(values, missed=0.0), index.tag(values, missed=0.3)
    assert loose is not None
    assert tight is None or tight.coverage >= loose.coverage


def test_it_says_what_it_has_seen_of_a_pattern(index: PatternIndex) -> None:
    seen = index.look_up(ISO)
    assert (seen.columns, seen.fpr, seen.led, seen.broken) == (20, 0.0, 20, 0)
    assert index.look_up(Pattern((Atom(AtomKind.CONST, text="nowhere"),))).columns == 0


def test_stats_count_patterns_by_tokens_and_by_columns(index: PatternIndex) -> None:
    stats = index.stats()
    assert (stats.patterns, stats.columns) == (len(index), 160)
    assert sum(stats.by_tokens.values()) == stats.by_columns[1] == len(index)
    assert stats.by_columns[1] > stats.by_columns[10]
    assert "patterns of 160 columns" in str(stats)
    assert "By tokens:" in terminal(stats)
    assert_harmless(stats)


def test_the_sum_of_two_lakes_is_the_index_of_both(tmp_path: Path) -> None:
    columns = lakes.columns(6)
    parts = [columns[::2], columns[1::2]]
    for at, part in enumerate(parts):
        about = {"name": f"lake {at}", "columns": len(part), "tau": 13, "language": 1}
        index_file.write_index(tmp_path / f"{at}.hgi", lakes.entries(part), about)
    merged = PatternIndex.merge([tmp_path / "0.hgi", tmp_path / "1.hgi"], tmp_path / "both.hgi")
    index_file.write_index(tmp_path / "once.hgi", lakes.entries(columns), merged.about)
    assert (tmp_path / "both.hgi").read_bytes() == (tmp_path / "once.hgi").read_bytes()
    assert (merged.columns, merged.about["name"]) == (48, "lake 0 + lake 1")


def test_indexes_of_different_tau_are_not_added_up(tmp_path: Path) -> None:
    for tau in (8, 13):
        index_file.write_index(
            tmp_path / f"{tau}.hgi", lakes.entries([["a"] * 9]), {"columns": 1, "tau": tau, "language": 1}
        )
    with pytest.raises(MisuseError, match="tau"):
        PatternIndex.merge([tmp_path / "8.hgi", tmp_path / "13.hgi"], tmp_path / "both.hgi")


def test_one_path_and_a_generator_of_paths_are_merged_alike(index: PatternIndex, tmp_path: Path) -> None:
    path = tmp_path / "lake.hgi"
    for given in (path, str(path), (each for each in [path])):
        assert len(PatternIndex.merge(given, tmp_path / "again.hgi")) == len(index)


def test_nothing_is_merged_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="no index"):
        PatternIndex.merge([], tmp_path / "none.hgi")


def test_an_index_in_another_form_is_refused(tmp_path: Path) -> None:
    index_file.write_index(tmp_path / "new.hgi", lakes.entries([["a"] * 9]), {"columns": 1, "tau": 13, "language": 99})
    with pytest.raises(MisuseError, match="form 99"):
        PatternIndex.open(tmp_path / "new.hgi")


def test_a_closed_index_answers_nothing(index: PatternIndex) -> None:
    with index:
        assert index.infer(lakes.column(lakes.iso)) is not None
    with pytest.raises(MisuseError, match="closed"):
        index.infer(lakes.column(lakes.iso))


def test_the_public_face_has_it() -> None:
    assert hg.PatternIndex is PatternIndex
