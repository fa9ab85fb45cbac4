"""`headgate report`: pages of a batch, a dataset and all datasets."""

from __future__ import annotations

from pathlib import Path

from tests.cli.lake import BROKEN, called


def test_pages_are_written_from_the_history_alone(judged: Path) -> None:
    for page in (judged / "pages").rglob("*.html"):
        page.unlink()
    assert called("report").stdout == f"{judged / 'pages' / 'index.html'}\n"
    assert called("report", "orders", BROKEN, "--output", "one.html").stdout == "one.html\n"
    assert called("report", "orders", "-o", "set.html").exit_code == 0
    assert called("report", "-o", "all.html").exit_code == 0
    assert BROKEN in Path("one.html").read_text()
    assert {each.name for each in (judged / "pages").iterdir()} == {"index.html", "orders.html", "orders"}


def test_rows_are_in_a_report_only_if_values_may_be_shown(judged: Path) -> None:
    called("report", "orders", BROKEN, "-o", "hidden.html")
    called("report", "orders", BROKEN, "-o", "shown.html", "--set", "datasets.orders.show_values=true")
    assert ">XX<" not in Path("hidden.html").read_text()
    assert ">XX<" in Path("shown.html").read_text()
