"""`headgate mute` and `unmute`: what is recorded, said and refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.lake import called, document

DAY = str((datetime.now(UTC) + timedelta(days=30)).date())


def test_a_mute_is_recorded_and_shown(judged: Path) -> None:
    result = called("mute", "orders", "price", "--until", DAY, "--note", "backfill", "--who", "ann")
    assert result.stdout == f"orders: price is muted until {DAY} by ann: backfill.\n"
    assert f"price is muted until {DAY} by ann: backfill." in called("history", "orders").stdout.splitlines()
    (mute,) = document("history", "orders")["mutes"]
    assert (mute["column"], mute["who"], mute["note"]) == ("price", "ann", "backfill")


def test_unmute_ends_it(judged: Path) -> None:
    called("mute", "orders", "price", "--until", DAY)
    assert document("unmute", "orders", "price", "--who", "bea")["mute"]["until"] is None
    assert document("history", "orders")["mutes"] == []


def test_who_is_the_login_unless_it_is_given(judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "bea")
    assert document("mute", "orders", "price", "--until", DAY)["mute"]["who"] == "bea"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["mute", "orders", "price"], "--until"),
        (["mute", "orders", "price", "--until", "2020-01-01"], "2020-01-01 is past. Name a time to come"),
        (["mute", "orders", "price", "--until", "soon"], "Write a date such as 2026-12-01"),
        (["mute", "orders", "prise", "--until", DAY], "Did you mean 'price'?"),
        (["unmute", "orders", "price"], "price is not muted; there are none."),
    ],
)
def test_a_mistake_is_wrong_usage_and_says_what_to_write(judged: Path, words: list[str], said: str) -> None:
    result = called(*words)
    assert result.exit_code == 2
    assert said in result.stderr
