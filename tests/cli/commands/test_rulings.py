"""`headgate accept`, `reject`, `release` and `discard`: what is recorded, and by whom."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.values import login
from tests.cli.lake import BROKEN, called, document


@pytest.mark.parametrize(
    ("act", "decision", "action"),
    [
        ("accept", "accepted", "publish"),
        ("reject", "rejected", "hold"),
        ("release", "released", "publish"),
        ("discard", "discarded", "hold"),
    ],
)
def test_a_ruling_is_recorded(judged: Path, act: str, decision: str, action: str) -> None:
    result = called(act, "orders", BROKEN, "--note", "because", "--who", "ann")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"orders {BROKEN} was {decision} by ann (because).")
    verdict = document("explain", "orders", BROKEN)["verdict"]
    assert (verdict["decision"], verdict["action"]) == (decision, action)


def test_who_is_the_login_unless_it_is_given(judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "bea")
    assert document("reject", "orders", BROKEN)["ruling"]["who"] == "bea"


def test_a_machine_without_logins_has_an_unknown_person(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("uid not found")

    monkeypatch.setattr(login.getpass, "getuser", nobody)
    assert login.find_login_name() == "unknown"
