"""`headgate suggest`: YAML and Python that can be used as printed."""

from __future__ import annotations

from pathlib import Path

from tests.cli.lake import called


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
