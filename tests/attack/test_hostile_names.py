"""Names of columns that mean something in YAML or to Spark.

A column called `${env:HOME}` made `headgate suggest` fail, because Spark's SQL cannot name it. Now only the constraints
that need SQL are left out for such a column, and every name reads back as it was written.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

import headgate as hg
from tests.cli.lake import called

ROWS = 6_000
VARIABLES = ("${env:HOME}", "$${env:HOME}", "$${x}", "${", "a ${env:HOME} b")
NAMES = (
    *VARIABLES, "it's", 'say "x"', "''", '"', "`", "a`b", "a\nb", "a\r\nb", "\n", "\t", "a: b", ":", "a:", "- a", "-",
    "? a", "!!python/object:os.system", "!a", "&a", "*a", "#a", "a #b", "%a", "@a", "{a}", "[a]", "a, b", "| a", "> a",
    "<<", "=", " a", "a ", "  ", "", "~", "null", "Null", "true", "no", "1", "1e3", "0x1F", "1_000", "1:30", ".inf",
    ".nan", "2026-01-31", "2026-01-31 10:00", "---", "...", "🚀", "é", "e\u0301", "\ufeff", "\u2028", "\x85", "\x00",
    "\x07", "\x7f", "\\", "\\u0041", "where", "checks", "a.b", "a" * 300,
)  # fmt: skip


def make_table(name: str) -> pa.Table:
    return pa.table({name: [row % 7 for row in range(ROWS)]})


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_what_is_suggested_for_a_column_reads_back_to_its_name(name: str) -> None:
    suggestions = hg.suggest(make_table(name))
    text = suggestions.to_yaml()
    check = hg.Check.from_yaml(text, "suggested")
    assert check == suggestions.to_check()
    assert {value for rule in check.rules for _, value in rule.arguments[:1]} <= {name, (name,)}
    assert any(rule.name == "is_complete" for rule in check.rules)
    assert {"is_complete": name} in yaml.safe_load(text)["checks"]  # other readers of YAML agree


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_what_is_suggested_holds_for_the_batch(name: str) -> None:
    check = hg.Check.from_yaml(hg.suggest(make_table(name)).to_yaml())
    assert hg.verify(make_table(name), check).status == "pass"


@pytest.mark.parametrize("name", VARIABLES)
def test_a_column_that_sql_cannot_name_keeps_the_constraints_without_sql(name: str) -> None:
    assert [each.rule.name for each in hg.suggest(make_table(name)).holding] == ["is_complete"]
    with pytest.raises(hg.HeadgateError, match="cannot be named in SQL"):
        hg.Check("orders").is_non_negative(name)


def test_the_command_prints_checks_that_can_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "a secret place")
    pq.write_table(pa.table({name: [row % 7 for row in range(ROWS)] for name in NAMES}), "orders.parquet")
    suggested = called("suggest", "orders.parquet")
    assert suggested.exit_code == 0, suggested.stderr
    assert "a secret place" not in suggested.stdout
    Path("checks.yml").write_text(suggested.stdout, encoding="utf-8", newline="")
    judged = called("check", "orders.parquet", "--checks", "checks.yml")
    assert judged.exit_code == 0, judged.output


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_the_checks_read_back_in_a_configuration(name: str, tmp_path: Path) -> None:
    checks = hg.suggest(make_table(name)).to_yaml()
    head = "store: file:history\ndatasets:\n  orders:\n    source: {format: parquet, path: 'lake/{partition}'}\n"
    path = tmp_path / "headgate.yml"
    path.write_text(head + textwrap.indent(checks, "    "), encoding="utf-8", newline="")
    assert hg.Project.open(path).dataset("orders").gate.checks[0].rules == hg.Check.from_yaml(checks).rules
