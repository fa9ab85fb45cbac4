"""Which notices become messages: changes, holds, groups, health; with a clock that is set by hand."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest

from headgate.gate.notification import Notification
from headgate.integrations.alerts import Alerts, Delivered, Suppressed
from headgate.integrations.alerts.alerts import AlertResult
from headgate.values.errors import DeliveryError, MisuseError
from headgate.values.outcome import Failed
from tests.integrations.receiver import notice

START = 1_794_636_000.0  # 2026-11-14 06:00:00
HOUR = 3_600.0


class Recorder:
    """A channel that keeps what it is sent, or raises what it is told to."""

    def __init__(self, error: Exception | None = None) -> None:
        self.sent: list[Notification] = []
        self.error = error

    def __repr__(self) -> str:
        return "Recorder()"

    def send(self, notice: Notification) -> None:
        if self.error is not None:
            raise self.error
        self.sent.append(notice)

    @property
    def headlines(self) -> list[str]:
        return [each.headline for each in self.sent]


class Desk:
    """Alerts, their channel and their clock: `told(6.5, "d1", "fail", "pass")` is 6:30, a failure after a pass."""

    def __init__(self, *channels: Recorder, **options: Any) -> None:
        self.channel = channels[0] if channels else Recorder()
        self.now = START
        self.alerts = Alerts(channels or [self.channel], now=lambda: self.now, **options)

    def told(self, hour: float, partition: str, status: str, previous: str | None, **other: Any) -> AlertResult:
        self.now = START + (hour - 6) * HOUR
        return self.alerts.notify(notice(partition, status, previous, at=self.now, **other))


@pytest.mark.parametrize(
    ("previous", "status"),
    [
        ("pass", "fail"),
        ("pass", "error"),
        ("fail", "error"),
        ("error", "fail"),
        (None, "fail"),
        (None, "error"),
        ("skip", "fail"),
    ],
)
def test_a_change_to_trouble_is_told(previous: str | None, status: str) -> None:
    desk = Desk()
    assert desk.told(6, "d1", status, previous) == Delivered(desk.channel.sent[0])
    assert desk.channel.sent[0].headline == "orders d1: failed and was held."


@pytest.mark.parametrize(("previous", "status"), [("pass", "pass"), (None, "pass"), ("skip", "pass")])
def test_health_as_before_is_not_told(previous: str | None, status: str) -> None:
    desk = Desk()
    assert desk.told(6, "d1", status, previous) == Suppressed("it passed, as before")
    assert desk.channel.sent == []


def test_drift_of_a_batch_that_passed_is_told_unless_the_dataset_was_told_of_just_now() -> None:
    desk = Desk()
    drift = {"kind": "drift", "changed": ("price: median 48.9, 24.1 in d0 (about 2 times as large)",)}
    told = desk.told(6, "d1", "pass", "pass", **drift)
    assert isinstance(told, Delivered)
    assert desk.channel.sent[0].kind == "drift"
    assert desk.channel.headlines[0].endswith("price: median 48.9, 24.1 in d0 (about 2 times as large).")
    assert isinstance(desk.told(6.5, "d2", "pass", "pass", **drift), Suppressed)
    assert isinstance(desk.told(8, "d3", "pass", "pass", **drift), Delivered)


def test_nothing_to_judge_is_not_told_unless_the_batch_is_held() -> None:
    desk = Desk()
    assert desk.told(6, "d1", "skip", "pass", action="published") == Suppressed("there was nothing to judge")
    assert isinstance(desk.told(7, "d2", "skip", "pass"), Delivered)


def test_trouble_as_before_is_not_told() -> None:
    desk = Desk()
    desk.told(6, "d1", "fail", "pass")
    assert desk.told(30, "d2", "fail", "fail") == Suppressed("the status is fail, as before")
    assert len(desk.channel.sent) == 1


def test_a_fresh_process_without_memory_knows_a_change_from_the_notice() -> None:
    assert isinstance(Desk().told(6, "d2", "fail", "fail"), Suppressed)
    assert isinstance(Desk().told(6, "d2", "fail", "pass"), Delivered)
    healthy = Desk()
    assert isinstance(healthy.told(6, "d2", "pass", "fail"), Delivered)
    assert healthy.channel.headlines == ["orders d2: passed and was published."]


def test_health_after_trouble_says_how_much_and_how_long() -> None:
    desk = Desk()
    for day in range(3):
        desk.told(6 + 24 * day, f"d{day}", "fail", "fail" if day else "pass")
    told = desk.told(6 + 26 + 24, "d3", "pass", "fail")
    assert isinstance(told, Delivered)
    assert told.notification.headline == "orders is healthy again after 3 held batches, 50 hours."
    assert told.notification.kind == "recovered"
    assert told.notification.batches == ("d2", "d1", "d0")
    assert isinstance(desk.told(100, "d4", "pass", "pass"), Suppressed)
    assert isinstance(desk.told(124, "d5", "fail", "pass"), Delivered)
    desk.told(148, "d6", "pass", "fail")
    assert desk.channel.headlines[-1] == "orders is healthy again after 1 held batch, 24 hours."


def test_a_second_try_of_a_batch_is_one_batch() -> None:
    desk = Desk()
    desk.told(6, "d1", "fail", "pass")
    desk.told(9, "d1", "fail", "fail", revision=2)
    desk.told(10, "d1", "pass", "fail", revision=3)
    assert desk.channel.headlines[-1] == "orders is healthy again after 1 held batch, 4 hours."


def test_in_observe_mode_batches_are_failing_not_held() -> None:
    desk = Desk()
    observed = {"kind": "failing", "action": "published"}
    desk.told(6, "d1", "fail", "pass", **observed)
    desk.told(7.5, "d2", "pass", "fail")
    assert desk.channel.headlines[-1] == "orders is healthy again after 1 failing batch, 2 hours."


def test_every_hold_is_told_when_it_is_asked_for() -> None:
    desk = Desk(on="every_hold")
    for day in range(3):
        assert isinstance(desk.told(6 + 24 * day, f"d{day}", "fail", "fail" if day else "pass"), Delivered)
    assert isinstance(desk.told(100, "d4", "fail", "fail", kind="failing", action="published"), Suppressed)


def test_holds_inside_the_window_become_one_message() -> None:
    desk = Desk(on="every_hold")
    assert isinstance(desk.told(6, "d1", "fail", "pass"), Delivered)
    waits = desk.told(6.25, "d2", "fail", "fail")
    assert waits == Suppressed("the dataset was told of 15 minutes ago, and is at most once in 60 minutes; it waits")
    assert isinstance(desk.told(6.5, "d3", "fail", "fail"), Suppressed)
    told = desk.told(7, "d4", "fail", "fail")
    assert isinstance(told, Delivered)
    assert told.notification.batches == ("d4", "d3", "d2")
    assert told.notification.headline == (
        "3 batches of orders held since 2026-11-14 06:15:00 UTC, newest first: d4, d3, d2. "
        "orders d4: failed and was held."
    )
    assert told.notification.partition == "d4"
    assert isinstance(desk.told(7.9, "d5", "fail", "fail"), Suppressed)


def test_many_batches_are_counted_not_all_named() -> None:
    desk = Desk(on="every_hold")
    for at in range(301):
        desk.told(6 + at / 1_000, f"d{at:03}", "fail", "fail")
    desk.told(8, "last", "fail", "fail")
    assert desk.channel.headlines[-1].startswith("301 batches of orders held since 2026-11-14 06:00:00 UTC")
    assert ", d292 and 291 more." in desk.channel.headlines[-1]
    desk.told(9, "good", "pass", "fail")
    assert desk.channel.headlines[-1] == "orders is healthy again after 302 held batches, 3 hours."


def test_datasets_do_not_wait_for_each_other() -> None:
    desk = Desk()
    assert isinstance(desk.told(6, "d1", "fail", "pass"), Delivered)
    assert isinstance(desk.told(6, "d1", "fail", "pass", dataset="customers"), Delivered)


def test_a_change_inside_the_window_waits_and_is_told_with_the_next_notice() -> None:
    desk = Desk()
    desk.told(6, "d1", "fail", "pass")
    assert isinstance(desk.told(6.5, "d2", "error", "fail"), Suppressed)
    told = desk.told(7.5, "d3", "error", "error")
    assert isinstance(told, Delivered)
    assert told.notification.batches == ("d3", "d2")


def test_what_waits_can_be_flushed_when_the_window_is_over() -> None:
    desk = Desk(on="every_hold")
    desk.told(6, "d1", "fail", "pass")
    desk.told(6.2, "d2", "fail", "fail")
    desk.told(6.4, "d3", "fail", "fail")
    assert desk.alerts.flush() == ()
    desk.now = START + HOUR
    (told,) = desk.alerts.flush()
    assert isinstance(told, Delivered)
    assert told.notification.batches == ("d3", "d2")
    assert desk.alerts.flush() == ()


def test_a_dataset_that_flaps_sends_two_messages_in_a_window() -> None:
    desk = Desk()
    for minute in range(0, 59, 2):
        failed, passed = 6 + minute / 60, 6 + (minute + 1) / 60
        desk.told(failed, f"f{minute}", "fail", "pass")
        desk.told(passed, f"p{minute}", "pass", "fail")
    assert [each.kind for each in desk.channel.sent] == ["held", "recovered"]
    told = desk.told(7.2, "later", "pass", "pass")
    assert isinstance(told, Delivered)
    assert told.notification.headline == "orders is healthy again after 29 held batches, 70 minutes."


def test_health_is_told_at_once_after_trouble_that_was_told() -> None:
    desk = Desk()
    desk.told(6, "d1", "fail", "pass")
    assert isinstance(desk.told(6.1, "d2", "pass", "fail"), Delivered)


def test_a_message_of_health_does_not_delay_the_next_of_trouble() -> None:
    desk = Desk()
    desk.told(6, "d1", "fail", "pass")
    desk.told(6.9, "d2", "pass", "fail")
    assert isinstance(desk.told(7.1, "d3", "fail", "pass"), Delivered)


def test_without_a_window_nothing_waits() -> None:
    desk = Desk(on="every_hold", every=0)
    assert all(isinstance(desk.told(6, f"d{at}", "fail", "fail"), Delivered) for at in range(5))


def test_a_clock_that_was_set_back_makes_nobody_wait() -> None:
    desk = Desk(on="every_hold")
    desk.told(30, "d1", "fail", "pass")
    assert isinstance(desk.told(6, "d2", "fail", "fail"), Delivered)


def test_the_same_notice_is_told_once() -> None:
    desk = Desk(every=0)
    desk.told(6, "d1", "fail", "pass")
    assert desk.told(8, "d1", "fail", "pass") == Suppressed("it was told before")
    desk.told(9, "d2", "pass", "fail")
    assert desk.told(10, "d2", "pass", "fail") == Suppressed("it was told before")
    assert len(desk.channel.sent) == 2


def test_every_channel_that_failed_is_reported_and_the_others_are_told_once() -> None:
    good, bad, worse = Recorder(), Recorder(DeliveryError("it answered 500")), Recorder(RuntimeError("secret words"))
    desk = Desk(good, bad, worse)
    assert desk.told(6, "d1", "fail", "pass") == Failed("Recorder(): it answered 500; Recorder(): RuntimeError")
    assert len(good.sent) == 1
    assert isinstance(desk.told(8, "d2", "fail", "fail"), Suppressed)


def test_what_nobody_got_is_told_with_the_next_notice() -> None:
    channel = Recorder(DeliveryError("it answered 500"))
    desk = Desk(channel)
    assert isinstance(desk.told(6, "d1", "fail", "pass"), Failed)
    assert isinstance(desk.told(6.1, "d2", "fail", "fail"), Failed)
    channel.error = None
    told = desk.told(6.2, "d3", "fail", "fail")
    assert isinstance(told, Delivered)
    assert told.notification.batches == ("d3", "d2", "d1")


def test_health_that_nobody_was_told_of_is_told_with_the_next_notice() -> None:
    channel = Recorder()
    desk = Desk(channel)
    desk.told(6, "d1", "fail", "pass")
    channel.error = DeliveryError("it answered 500")
    assert isinstance(desk.told(7, "d2", "pass", "fail"), Failed)
    channel.error = None
    assert isinstance(desk.told(8, "d3", "pass", "pass"), Delivered)
    assert channel.headlines[-1] == "orders is healthy again after 1 held batch, 2 hours."


def test_without_a_channel_nothing_is_told() -> None:
    assert Alerts([]).notify(notice()) == Suppressed("there is no channel")


def test_misuse_says_what_to_write() -> None:
    with pytest.raises(MisuseError, match="status_change, every_hold"):
        Alerts([], on="always")  # type: ignore[arg-type]
    with pytest.raises(MisuseError, match="every=3600"):
        Alerts([], every=-1)
    with pytest.raises(MisuseError, match="every=3600"):
        Alerts([], every=float("nan"))


# Memory between processes: every Desk is a new process.


def test_a_later_process_remembers_through_the_file(tmp_path: Path) -> None:
    file = tmp_path / "state" / "alerts.json"
    Desk(memory=file, on="every_hold").told(6, "d1", "fail", "pass")
    assert isinstance(Desk(memory=file, on="every_hold").told(6.5, "d\ud800", "fail", "fail"), Suppressed)
    later = Desk(memory=file, on="every_hold")
    later.now = START + 2 * HOUR
    (told,) = later.alerts.flush()
    assert isinstance(told, Delivered)
    assert told.notification.partition == "d\ud800"
    last = Desk(memory=file)
    last.told(9, "d3", "pass", "fail")
    assert last.channel.headlines == ["orders is healthy again after 2 held batches, 3 hours."]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert os.listdir(file.parent) == ["alerts.json"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"null",
        b"[]",
        b'{"version": 1}',
        b'{"version": 1, "datasets": {"orders": 7}}',
        b"[" * 100_000,
    ],
)
def test_a_corrupt_memory_is_no_memory(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "alerts.json"
    file.write_bytes(content)
    assert isinstance(Desk(memory=file).told(6, "d1", "fail", "pass"), Delivered)
    assert list(json.loads(file.read_bytes())["datasets"]) == ["orders"]


def test_a_memory_cut_anywhere_never_raises(tmp_path: Path) -> None:
    file = tmp_path / "alerts.json"
    Desk(memory=file).told(6, "d1", "fail", "pass")
    whole = file.read_bytes()
    for end in range(0, len(whole), 7):
        file.write_bytes(whole[:end])
        assert isinstance(Desk(memory=file).told(7, "d2", "pass", "fail"), Delivered)


def test_a_memory_that_cannot_be_written_is_told_and_kept_in_the_process(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    desk = Desk(memory=blocked / "alerts.json", on="every_hold")
    told = desk.told(6, "d1", "fail", "pass")
    assert isinstance(told, Delivered)
    assert told.note.startswith("the memory of alerts could not be written (")
    waits = desk.told(6.5, "d2", "fail", "fail")
    assert isinstance(waits, Suppressed)
    assert "it waits; the memory of alerts could not be written" in waits.why


def test_healthy_datasets_are_forgotten_after_a_week(tmp_path: Path) -> None:
    file = tmp_path / "alerts.json"
    desk = Desk(memory=file)
    desk.told(6, "d1", "fail", "pass", dataset="short")
    desk.told(7, "d2", "pass", "fail", dataset="short")
    desk.told(7, "d1", "fail", "pass", dataset="long")
    desk.told(7 + 24 * 8, "d1", "fail", "pass")
    assert set(json.loads(file.read_bytes())["datasets"]) == {"long", "orders"}


def test_a_notice_is_never_changed_by_being_told() -> None:
    desk = Desk(on="every_hold")
    given = notice("d1", "fail", "pass")
    before = msgspec.to_builtins(given)
    desk.alerts.notify(given)
    assert msgspec.to_builtins(given) == before
