"""How a gate is set: mistakes are refused with what to write, and only what changes a verdict changes the suite."""

from __future__ import annotations

import msgspec
import pytest

from headgate.checks.check import Check
from headgate.gate.settings import Settings
from headgate.learn.learned import Learner
from headgate.learn.pins import read_pins
from headgate.learn.scope import LearningScope
from headgate.values.account import Action, Mode
from headgate.values.day_lists import DayLists
from headgate.values.errors import MisuseError
from headgate.values.expectation import Status


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"false_alarms": 1.5}, "false_alarms=0.01"),
        ({"runs": 0}, "runs=30"),
        ({"learn": ["histroy"]}, "Did you mean 'history'"),
        ({"mode": "observ"}, "Did you mean 'observe'"),
    ],
)
def test_a_mistake_says_what_to_write(given: dict[str, object], words: str) -> None:
    settings = {"false_alarms": 0.01, "learn": tuple(Learner), "mode": "guard", "runs": 30, "owner": "", **given}
    with pytest.raises(MisuseError, match=words):
        Settings.of(**settings)  # type: ignore[arg-type]


def test_one_learner_may_be_given_by_its_name_alone() -> None:
    assert Settings.of(0.01, "history", "guard", 30, "").learners == (Learner.HISTORY,)


@pytest.mark.parametrize("status", Status)
def test_only_a_pass_is_published_and_observing_holds_nothing(status: Status) -> None:
    assert Settings().action(status) is (Action.PUBLISH if status is Status.PASS else Action.HOLD)
    assert Settings(mode=Mode.OBSERVE).action(status) is Action.PUBLISH


def test_the_suite_changes_with_what_a_verdict_depends_on_and_not_with_the_owner() -> None:
    settings, checks = Settings(), [Check("orders").is_unique("id")]
    suite = settings.suite(checks)
    assert msgspec.structs.replace(settings, owner="ann").suite(checks) == suite
    others = [
        settings.suite([]),
        msgspec.structs.replace(settings, false_alarms=0.02).suite(checks),
        msgspec.structs.replace(settings, runs=31).suite(checks),
        msgspec.structs.replace(settings, days=DayLists.of({"holidays": ["2026-12-25"]})).suite(checks),
        msgspec.structs.replace(settings, mode=Mode.OBSERVE).suite(checks),
        msgspec.structs.replace(settings, learners=(Learner.HISTORY,)).suite(checks),
        msgspec.structs.replace(settings, scope=LearningScope(ignore=("id",))).suite(checks),
        msgspec.structs.replace(settings, scope=LearningScope(columns=("id",))).suite(checks),
        msgspec.structs.replace(settings, scope=LearningScope(metrics=("mean",))).suite(checks),
        msgspec.structs.replace(settings, pins=read_pins({"id": {"min": (1, None)}})).suite(checks),
        msgspec.structs.replace(settings, pins=read_pins({"id": {"min": (2, None)}})).suite(checks),
    ]
    assert len({suite, *others}) == 12


def test_the_suite_of_a_gate_that_sets_nothing_is_that_of_recorded_histories() -> None:
    assert Settings().suite([]) == "0dccf4aa29d04786"
    assert Settings().suite([Check("orders").is_unique("id")]) == "e92ab26139a84bc9"


def test_what_is_set_is_described_in_words() -> None:
    settings = Settings(scope=LearningScope(ignore=("etl_id",)), pins=read_pins({"price": {"mean": (20, 30)}}))
    assert settings.describe_scope() == "etl_id ignored; pinned: mean(price) within 20..30"
    assert Settings().describe_scope() == ""
