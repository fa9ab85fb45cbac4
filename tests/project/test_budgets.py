"""Budgets of groups of tables: alarms a week, shared by how many batches come."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.learn.calendar import Calendar
from headgate.project.budgets import MOST_SHARE, count_per_week
from headgate.project.project import Project
from headgate.store.memory import MemoryStore
from headgate.values.errors import ConfigError
from tests.gate.orders import named, orders
from tests.project.files import opened

HEAD = 'store: "memory:"\n'
DATASETS = """\
datasets:
  orders: {source: {path: "lake/orders/{partition}"}}
  lines: {source: {path: "lake/lines/{partition}"}}
  users: {source: {path: "lake/users/{partition}"}, false_alarms: 0.05}
"""


def budgets(tmp_path: Path, text: str) -> dict[str, float]:
    with opened(tmp_path, f"{HEAD}{text}\n{DATASETS}") as project:
        return {name: project.dataset(name).budget.share for name in project.names}


def test_without_a_group_a_table_has_its_own_budget(tmp_path: Path) -> None:
    assert budgets(tmp_path, "") == {"orders": 0.01, "lines": 0.01, "users": 0.05}


def test_a_group_shares_its_alarms_among_the_batches_of_its_tables(tmp_path: Path) -> None:
    found = budgets(tmp_path, "budget: {alarms_per_week: 0.14}")
    assert found == {"orders": 0.01, "lines": 0.01, "users": 0.05}  # 14 batches a week, as daily ones


def test_a_table_is_of_the_first_group_that_names_it(tmp_path: Path) -> None:
    text = 'budget: [{alarms_per_week: 0.07, datasets: "ord*"}, {alarms_per_week: 0.21}]'
    assert budgets(tmp_path, text) == {"orders": 0.01, "lines": 0.03, "users": 0.05}


def test_no_table_gets_more_than_a_tenth(tmp_path: Path) -> None:
    assert budgets(tmp_path, "budget: {alarms_per_week: 50}")["orders"] == MOST_SHARE


def test_the_history_tells_how_often_batches_come(tmp_path: Path) -> None:
    with opened(tmp_path, f"{HEAD}budget: {{alarms_per_week: 1}}\n{DATASETS}") as project:
        weekly = ["2026-01-05", "2026-01-12", "2026-01-19", "2026-01-26", "2026-02-02"]
        assert isinstance(project.store, MemoryStore)
        _record(project, "orders", weekly)
        _record(project, "lines", [named(day) for day in range(5)])
        budget = project.dataset("orders").budget
        assert budget.share == 0.1  # one of eight batches a week would be more
        assert budget.source == "1 a week for about 8 batches of 2 tables"
        assert project.dataset("orders").gate.settings.false_alarms == 0.1


def test_a_name_from_before_the_time_was_stated_stops_no_other_table(tmp_path: Path) -> None:
    with opened(tmp_path, f"{HEAD}budget: {{alarms_per_week: 0.14}}\n{DATASETS}") as project:
        _record(project, "lines", ["2026-01-05"])
        lines = project.config.datasets["lines"].model_copy(update={"time": "%Y%m%d"})
        project.config.datasets["lines"] = lines
        assert project.dataset("orders").budget.share == 0.01


def test_a_group_that_gets_no_table_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no table is left for group 2"):
        budgets(tmp_path, "budget: [{alarms_per_week: 5}, {alarms_per_week: 1, datasets: lines}]")
    with pytest.raises(ConfigError):
        budgets(tmp_path, "budget: {alarms_per_week: 5, datasets: []}")


def test_a_group_without_a_table_is_a_mistake_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no dataset is named 'ordres'.*orders"):
        budgets(tmp_path, "budget: {alarms_per_week: 1, datasets: ordres}")


@pytest.mark.parametrize("text", ["{alarms_per_week: 0}", "{alarms_per_week: -1}", "{alarms: 2}", "2", "[]x"])
def test_what_is_no_group_is_a_mistake(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError):
        budgets(tmp_path, f"budget: {text}")


@pytest.mark.parametrize(
    ("partitions", "expected"),
    [
        (["2026-01", "2026-02", "2026-03"], 12 * 7 / 365.25),
        (["2026-01-05T00", "2026-01-05T01", "2026-01-05T02", "2026-01-05T03"], 168.0),
        (["2026-01-05T00", "2026-01-05T06", "2026-01-05T12", "2026-01-05T18", "2026-01-06T00"], 28.0),
        ([f"2026-01-05/store={number}" for number in range(20)], 140.0),
        (["2026-01-05 a", "2026-01-05 b", "2026-01-06 a", "2026-01-06 b"], 14.0),
        (["a", "b", "c"], None),
        (["2026-01-05"], 7.0),
    ],
)
def test_the_names_of_partitions_tell_how_often_batches_come(partitions: list[str], expected: float | None) -> None:
    assert count_per_week(Calendar.of(partitions)) == expected


def _record(project: Project, name: str, partitions: list[str]) -> None:
    for day, partition in enumerate(partitions):
        project.dataset(name).gate.judge(orders(day), partition)
    project._datasets.clear()  # budgets are found once
    project._per_week.clear()
