"""The mirror of `make style` counts what it says; class names that stand for two classes are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.imports import SOURCE
from tests.style import is_participle, measure_style, names_behind


@pytest.mark.parametrize("name", ["told", "_kept_runs", "measured", "blamed_rows"])
def test_a_participle_is_seen(name: str) -> None:
    assert is_participle(name)


@pytest.mark.parametrize("name", ["measure_effects", "read_csv", "split", "feed", "is_held", "set_limit", "embed"])
def test_a_verb_or_a_noun_is_no_participle(name: str) -> None:
    assert not is_participle(name)


def test_names_are_counted_over_a_whole_package(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("class Plan: ...\ndef told(): ...\ndef read_file(): ...\n", encoding="utf-8")
    (tmp_path / "b.py").write_text(
        "class Plan:\n    def __init__(self): ...\n    def run(self): ...\n", encoding="utf-8"
    )
    style = measure_style(tmp_path)
    assert (style.files, len(style.functions)) == (2, 3)
    assert (style.participles, style.one_word) == (["told"], ["told", "run"])
    assert list(style.double_classes) == ["Plan"]


def test_the_names_behind_a_method_are_those_of_what_it_calls_too() -> None:
    source = """
from headgate.a import f, unused
from headgate.b import g
class C:
    def m(self): self.n()
    def n(self): f(helper())
def helper(): return g
"""
    assert names_behind(source, "C.m") == {"headgate.a": {"f"}, "headgate.b": {"g"}}


def test_a_class_name_stands_for_one_class() -> None:
    assert measure_style(SOURCE).double_classes == {}
