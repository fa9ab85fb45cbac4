"""Whatever is in the file, reading it gives a configuration or mistakes, and raises nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.project.reading import read_config
from tests.project.files import written
from tests.project.test_project import WHOLE

PIECES = st.sampled_from(
    [*WHOLE.split("\n"), *WHOLE.split(" "), ":", "- ", "{", "}", "[", "'", "\t", "\n", "  ", "null", "1"]
)


def is_told(folder: Path, text: str, settings: dict[str, str]) -> None:
    reading = read_config(written(folder, text), settings)
    assert (reading.config is None) == bool(reading.mistakes)
    assert all(mistake.message and mistake.hint for mistake in reading.mistakes)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200))
def test_any_text_is_read_or_told(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    is_told(tmp_path_factory.mktemp("any"), text, {})


@given(st.lists(PIECES, max_size=12), st.integers(0, len(WHOLE)), st.integers(0, 40))
def test_a_file_that_is_broken_anywhere_is_read_or_told(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str], at: int, gone: int
) -> None:
    is_told(tmp_path_factory.mktemp("broken"), WHOLE[:at] + "".join(pieces) + WHOLE[at + gone :], {})


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_setting_is_taken_or_told(tmp_path_factory: pytest.TempPathFactory, name: str, value: str) -> None:
    for prefix in ("", "datasets.", "datasets.orders.", "datasets.orders.checks."):
        is_told(tmp_path_factory.mktemp("setting"), WHOLE, {prefix + name: value})
