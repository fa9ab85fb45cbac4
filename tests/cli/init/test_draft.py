"""The text of a new headgate.yml: its checks, names and paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.cli.init import draft
from headgate.cli.init.draft import quote_scalar
from headgate.project.project import Project
from tests.cli.init.files import orders, run_headgate, write, write_csv


def test_suggestions_that_do_not_hold_on_earlier_batches_are_only_mentioned() -> None:
    write("lake/orders/day=2026-11-13/x.parquet", orders(13, region=["EU", "ASIA"] * 200))
    write("lake/orders/day=2026-11-14/x.parquet", orders(14))
    run_headgate("init", "lake/orders")
    text = Path("headgate.yml").read_text(encoding="utf-8")
    assert "(not in 2026-11-13)" in text
    with Project.open() as project:
        rules = [str(rule) for rule in project.dataset("orders").settings.checks.rules]
        assert any("is_unique" in rule for rule in rules)
        assert not any("region" in rule and "values" in rule for rule in rules)
        assert not any(rule.startswith("is_in_range") for rule in rules)


def test_every_batch_that_was_looked_at_passes_the_checks_that_are_suggested() -> None:
    for day in range(10, 15):
        write(f"lake/orders/day=2026-11-{day}/x.parquet", orders(day))
    run_headgate("init", "lake/orders")
    assert "5 published" in run_headgate("run").output


def row_limits() -> list[object]:
    """What the drafted checks of the row count expect."""
    with Project.open() as project:
        rules = project.dataset(project.names[0]).settings.checks.rules
    return [str(rule.expect) for rule in rules if rule.name == "has_size"]


def test_the_row_count_is_limited_to_a_tenth_and_ten_times_of_what_was_seen() -> None:
    for day, rows in ((12, 390), (13, 410), (14, 400)):
        write(f"lake/orders/day=2026-11-{day}/x.parquet", orders(14).slice(0, rows))
    run_headgate("init", "lake/orders")
    assert row_limits() == ["within 39..4,000"]


def test_one_batch_gives_a_least_row_count_only() -> None:
    write("lake/orders/day=2026-11-14/x.parquet", orders(14))
    run_headgate("init", "lake/orders")
    assert row_limits() == ["at least 40"]


def test_rows_beyond_those_that_are_read_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft, "SUGGESTION_ROWS", 100)
    write("lake/orders/day=2026-11-14/x.parquet", orders(14))
    run_headgate("init", "lake/orders")
    assert row_limits() == ["at least 40"]


def test_checks_that_a_csv_file_suggests_hold_when_it_is_judged() -> None:
    for day in (13, 14):
        rows = "".join(f"{day}{row:03},{'' if row % 3 else 'ok'}\n" for row in range(300))
        write_csv(f"in/orders-2026-11-{day}.csv", f"id,note\n{rows}")
    run_headgate("init", "in")
    run_headgate("run")


def test_a_batch_that_cannot_be_read_costs_its_suggestions_only() -> None:
    write_csv("lake/orders/day=2026-11-14/x.parquet", "this is no parquet")
    run_headgate("init", "lake/orders")
    assert "# No checks are suggested: " in Path("headgate.yml").read_text(encoding="utf-8")
    with Project.open() as project:
        assert project.dataset("orders").partitions() == ("2026-11-14",)


@pytest.mark.parametrize("name", ["my orders", "größe", "it's", 'a"b', "on", "2026", "#1", "a: b", "x\\y"])
def test_odd_names_read_back(name: str) -> None:
    write(f"lake/{name}/day=2026-11-14/x.parquet")
    run_headgate("init", f"lake/{name}")
    with Project.open() as project:
        assert project.dataset(project.names[0]).partitions() == ("2026-11-14",)


def test_a_batch_with_a_line_break_in_its_name_writes_no_line_of_its_own() -> None:
    write("lake/orders/day=1\nalerts: []/x.parquet")
    run_headgate("init", "lake/orders")
    assert "\nalerts" not in Path("headgate.yml").read_text(encoding="utf-8")
    with Project.open() as project:
        assert project.names == ("orders",)


def test_data_elsewhere_are_named_by_their_whole_path(tmp_path: Path) -> None:
    write("lake/orders/day=2026-11-14/x.parquet")
    said = run_headgate("init", "lake/orders", "--config", "quality/headgate.yml").output
    assert "headgate run --config quality/headgate.yml" in said
    with Project.open("quality/headgate.yml") as project:
        assert project.dataset("orders").settings.source.path == f"{tmp_path}/lake/orders/day={{partition}}"
        assert project.dataset("orders").partitions() == ("2026-11-14",)


@pytest.mark.parametrize("text", ["yes", "Null", "", "-", "a b", "ünï", "1e3"])
def test_words_of_yaml_are_quoted(text: str) -> None:
    assert quote_scalar(text) == f'"{text}"'
