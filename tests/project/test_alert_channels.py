"""Alerts of a configuration: who is notified, and what is remembered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headgate.gate.notification import Notification
from headgate.integrations.alerts import Delivered, Suppressed
from headgate.project.alert_channels import combine_receivers
from headgate.values.errors import ConfigError
from headgate.values.outcome import Failed
from tests.integrations.receiver import FULL, Answer, receiving
from tests.project.files import PLAIN, lake, opened


def alerted(url: str, more: str = "") -> str:
    return f"{PLAIN}alerts:\n  - webhook: {url}\n{more}"


def test_alerts_are_sent_for_a_held_batch(tmp_path: Path) -> None:
    lake(tmp_path, [9])
    with receiving(Answer()) as receiver:
        text = f"{PLAIN}    checks: [{{has_mean: price, at_least: 1000}}]\nalerts:\n  - webhook: {receiver.url}\n"
        with opened(tmp_path, text) as project:
            found = project.dataset("orders")
            verdict = found.gate.judge(found.read("2026-11-09"), "2026-11-09")
    assert isinstance(verdict.notified, Delivered)
    assert [request.path for request in receiver.requests] == ["/hook"]


def test_an_alert_remembers_what_it_has_sent(tmp_path: Path) -> None:
    with receiving(Answer()) as receiver:
        text = alerted(receiver.url, "    on: every_hold\n    every: 0\n    memory: told.json\n")
        answers = [opened(tmp_path, text).dataset("orders").gate.notify(FULL) for _ in range(2)]  # type: ignore[misc]
    assert [type(each) for each in answers] == [Delivered, Suppressed]
    assert (tmp_path / "told.json").exists()


def test_an_address_in_the_open_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"headgate.yml:6: alerts\[0\]: http:// sends secrets in the open. Use https"):
        _ = opened(tmp_path, alerted("http://example.org/hook")).dataset("orders").gate


def test_a_receiver_that_fails_keeps_no_other_from_being_notified() -> None:
    received: list[Notification] = []

    def receive(notification: Notification) -> Any:
        received.append(notification)
        return Delivered(notification)

    notify = combine_receivers([lambda _: Failed("no"), receive])
    assert notify is not None
    assert notify(FULL) == Failed("no")
    assert received == [FULL]
    both = combine_receivers([lambda _: Suppressed("why"), receive])
    assert both is not None
    assert both(FULL) == Delivered(FULL)


def test_one_receiver_is_used_as_it_is_and_none_is_none() -> None:
    assert combine_receivers([]) is None
    assert combine_receivers([print]) is print
