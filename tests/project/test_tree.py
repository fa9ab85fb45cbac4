"""Settings of the command line go before the file's, are held to the same rules, and are named where they are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.project.config import Config
from headgate.project.project import Project
from headgate.values.errors import ConfigError, Mistake
from tests.project.files import PLAIN, written

DOTTED = PLAIN.replace("  orders:", "  shop.orders:")
ALERTED = f"{PLAIN}alerts:\n  - slack: ${{env:SLACK_URL}}\n    on: status_change\n"


def config(folder: Path, settings: dict[str, str], text: str = PLAIN) -> Config:
    return Project.open(written(folder, text), settings=settings).config


def mistakes(folder: Path, settings: dict[str, str], text: str = PLAIN) -> tuple[Mistake, ...]:
    with pytest.raises(ConfigError) as caught:
        config(folder, settings, text)
    return caught.value.mistakes


def test_a_setting_goes_before_the_file(tmp_path: Path) -> None:
    text = f"{PLAIN}    false_alarms: 0.01\n"
    assert config(tmp_path, {"datasets.orders.false_alarms": "0.02"}, text).datasets["orders"].false_alarms == 0.02


def test_a_setting_may_say_what_the_file_does_not(tmp_path: Path) -> None:
    found = config(tmp_path, {"datasets.orders.owner": "payments@", "spark.master": "local[2]"})
    assert found.datasets["orders"].owner == "payments@"
    assert found.spark is not None
    assert found.spark.master == "local[2]"


def test_a_value_is_yaml(tmp_path: Path) -> None:
    found = config(
        tmp_path,
        {
            "datasets.orders.learn": "[history]",
            "datasets.orders.show_values": "true",
            "datasets.orders.checks": "[{is_unique: order_id}]",
            "datasets.lines": "{source: {path: x}}",
        },
    )
    orders = found.datasets["orders"]
    assert orders.learn.learners == ("history",)
    assert orders.show_values is True
    assert [rule.name for rule in orders.checks.rules] == ["is_unique"]
    assert list(found.datasets) == ["orders", "lines"]


@pytest.mark.parametrize("text", ["memory:", "a: b", "- a"])
def test_what_has_no_brackets_is_a_text(text: str, tmp_path: Path) -> None:
    assert config(tmp_path, {"datasets.orders.owner": text}).datasets["orders"].owner == text


def test_a_name_with_dots_is_known_from_the_file(tmp_path: Path) -> None:
    found = config(tmp_path, {"datasets.shop.orders.runs": "7"}, DOTTED)
    assert found.datasets["shop.orders"].runs == 7


def test_an_item_of_a_list_is_named_by_its_number(tmp_path: Path) -> None:
    assert config(tmp_path, {"alerts.0.on": "every_hold"}, ALERTED).alerts[0].on == "every_hold"


def test_a_setting_takes_the_place_of_what_is_wrong_in_the_file(tmp_path: Path) -> None:
    text = f"{PLAIN}    runs: many\n"
    assert config(tmp_path, {"datasets.orders.runs": "7"}, text).datasets["orders"].runs == 7


CASES = [
    ("datasets.orders.runs", "many", "datasets.orders.runs", "a whole number, not 'many'", "Write runs: 60"),
    ("datasets.orders.rnus", "3", "datasets.orders", "'rnus' is not known", "Did you mean 'runs'?"),
    ("zzz", "3", "", "'zzz' is not known", "there are store"),
    ("datasets.orders.mode", "gard", "datasets.orders.mode", "'gard'", "Did you mean 'guard'?"),
    ("datasets.orders.owner", "", "datasets.orders.owner", "nothing", "Write owner: payments@"),
    ("datasets.orders.checks", "[is_uniqe: a]", "datasets.orders.checks[0]", "'is_uniqe'", "Did you mean 'is_unique'?"),
    ("datasets.orders.source.path.x", "y", "", "has no 'x'", "as the file nests them"),
    ("alerts.0.on", "every_hold", "alerts", "a list, not a mapping", "Write alerts: ["),
    ("datasets.orders.learn", "[history", "", "not YAML", "Close the bracket"),
    ("datasets.orders.source.where", "{partition} = day", "", "not YAML", "quotes"),
    ("datasets.orders.runs", "*x", "", "alias", "Write it out"),
]


@pytest.mark.parametrize(("name", "value", "key", "wrong", "write"), CASES)
def test_a_wrong_setting_is_named(name: str, value: str, key: str, wrong: str, write: str, tmp_path: Path) -> None:
    (mistake,) = mistakes(tmp_path, {name: value})
    assert mistake.where == f"--set {name}"
    assert mistake.key == key
    assert wrong in mistake.message
    assert write in mistake.hint


def test_mistakes_of_the_file_and_of_settings_are_told_together(tmp_path: Path) -> None:
    found = mistakes(tmp_path, {"datasets.orders.runs": "many"}, f"{PLAIN}    mode: gard\n")
    assert [mistake.where.rpartition("/")[2] for mistake in found] == ["headgate.yml:5", "--set datasets.orders.runs"]


def test_a_number_beyond_the_list_is_named(tmp_path: Path) -> None:
    (mistake,) = mistakes(tmp_path, {"alerts.3.on": "every_hold"}, ALERTED)
    assert mistake.where == "--set alerts.3.on"
    assert "alerts has no '3'" in mistake.message
