"""The batch that an argument names, and errors of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.lake import called


def test_a_file_without_a_telling_name_needs_its_format(files: Path) -> None:
    assert called("profile", "odd").exit_code == 2
    assert called("profile", "odd", "--format", "csv").exit_code == 0


def test_what_is_wrong_with_a_file_is_told_without_what_is_known(files: Path) -> None:
    Path("ragged.csv").write_text("a,b\n1,2\n1,2,3\n")
    said = called("profile", "ragged.csv").stderr
    assert said.startswith("error: ragged.csv could not be read as csv: CSV parse error: Row #3")


def test_a_file_that_may_not_be_read_is_not_said_to_be_of_another_format(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pyarrow.dataset.dataset", denied)
    result = called("profile", "orders.csv")
    assert result.exit_code == 3
    assert result.stderr == "error: orders.csv may not be read. Let this user read it, or name another file.\n"
