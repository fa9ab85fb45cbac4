"""F9: golden files are read, newer formats are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.formats import newer_envelope, newer_schema, newer_store, same_history


def test_the_golden_history_reads_as_it_did(tmp_path: Path) -> None:
    assert same_history(tmp_path)


@pytest.mark.parametrize("refused", [newer_envelope, newer_store, newer_schema])
def test_a_newer_format_is_refused_in_clear_words(refused: object, tmp_path: Path) -> None:
    refused(tmp_path)  # type: ignore[operator]
