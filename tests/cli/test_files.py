"""Files without any configuration: profiled, asked for suggestions, checked."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

from tests.cli.lake import called, document
from tests.gate.orders import orders


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    table = orders(1)
    pq.write_table(table, "orders.parquet")
    csv.write_csv(table, "orders.csv")
    csv.write_csv(table, "orders.tsv", csv.WriteOptions(delimiter="\t"))
    Path("orders.csv.gz").write_bytes(gzip.compress(Path("orders.csv").read_bytes()))
    Path("orders.json").write_text("\n".join(json.dumps(row) for row in table.to_pylist()))
    orc.write_table(table, "orders.orc")
    for day in ("a", "b"):
        Path(f"folder/day={day}").mkdir(parents=True)
        pq.write_table(table, f"folder/day={day}/part.parquet")
    Path("odd").write_bytes(Path("orders.csv").read_bytes())
    return tmp_path


NAMES = ["orders.parquet", "orders.csv", "orders.tsv", "orders.csv.gz", "orders.json", "orders.orc"]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_any_format_is_profiled(files: Path, name: str) -> None:
    found = document("profile", name)["profile"]
    assert found["rows"] == len(orders(1))
    assert list(found["columns"]) == orders(1).column_names
    assert found["columns"]["price"]["completeness"] == 1.0


def test_an_empty_field_of_a_csv_file_is_nothing_as_it_is_for_a_dataset(files: Path) -> None:
    Path("notes.csv").write_text('id,note\n1,\n2,ok\n3,""\n4,ok\n')
    assert document("profile", "notes.csv")["profile"]["columns"]["note"]["completeness"] == 0.75


def test_a_folder_is_one_batch_and_its_names_are_columns(files: Path) -> None:
    found = document("profile", "folder")["profile"]
    assert found["rows"] == 2 * len(orders(1))
    assert "day" in found["columns"]


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


def test_only_the_columns_that_are_named_are_profiled(files: Path) -> None:
    lines = called("profile", "orders.csv", "--column", "price", "--column", "code").stdout.splitlines()
    assert lines[0] == f"{len(orders(1))} rows, 2 columns"


def test_what_is_suggested_can_be_checked(files: Path) -> None:
    suggested = called("suggest", "orders.parquet")
    assert suggested.stdout.startswith("checks:\n")
    Path("checks.yml").write_text(suggested.stdout)
    result = called("check", "orders.csv", "--checks", "checks.yml")
    assert result.exit_code == 0
    assert result.stdout.startswith("PASS: ")


def test_suggestions_as_python_run_as_printed(files: Path) -> None:
    code = called("suggest", "orders.parquet", "--python").stdout
    compile(code, "suggested.py", "exec")
    assert code.startswith("import headgate as hg\n")


def test_suggestions_give_their_reasons(files: Path) -> None:
    assert "holds on the rest" in called("suggest", "orders.parquet", "--why").stdout


@pytest.mark.parametrize(
    ("checks", "fail_on", "code"),
    [
        ("- has_mean: price\n  at_most: 1", "error", 1),
        ("- has_mean: price\n  at_most: 1", "never", 0),
        ("- has_mean: price\n  at_most: 1\n  level: warn", "error", 0),
        ("- has_mean: price\n  at_most: 1\n  level: warn", "warn", 1),
        ("- has_mean: nothing\n  at_most: 1", "error", 3),
        ("- has_mean: nothing\n  at_most: 1", "never", 3),
        ("- has_mean: price\n  at_mos: 1", "error", 2),
    ],
)
def test_how_a_check_ends(files: Path, checks: str, fail_on: str, code: int) -> None:
    Path("checks.yml").write_text(f"checks:\n{checks}\n")
    assert called("check", "orders.csv", "--checks", "checks.yml", "--fail-on", fail_on).exit_code == code


def test_a_check_of_no_rows_is_not_a_pass(files: Path) -> None:
    pq.write_table(orders(1).slice(0, 0), "empty.parquet")
    Path("checks.yml").write_text("checks:\n- has_mean: price\n  at_most: 1\n")
    assert called("check", "empty.parquet", "--checks", "checks.yml").exit_code == 3


def test_quiet_checks_say_nothing_unless_they_fail(files: Path) -> None:
    Path("checks.yml").write_text("checks:\n- has_mean: price\n  at_most: 1000\n")
    assert called("check", "orders.csv", "--checks", "checks.yml", "-q").stdout == ""
    assert "mean(price)" not in called("check", "orders.csv", "--checks", "checks.yml").stdout
    assert "mean(price)" in called("check", "orders.csv", "--checks", "checks.yml", "-v").stdout


def test_patterns_of_text_columns_are_inferred(files: Path) -> None:
    rules = {each["column"]: each for each in document("index", "infer", "orders.parquet")["rules"]}
    assert set(rules) == {"country", "code"}
    assert rules["code"]["pattern"] == "<alphanum>+-<digit>+"


def test_a_file_without_texts_has_no_patterns(files: Path) -> None:
    pq.write_table(pa.table({"x": [1, 2]}), "numbers.parquet")
    assert called("index", "infer", "numbers.parquet").stdout == "There is no text column.\n"
