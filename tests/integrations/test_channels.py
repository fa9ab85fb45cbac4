"""Webhook and Slack against a real receiver on loopback: what arrives, what is tried again, what is told of trouble."""

from __future__ import annotations

import json
import socket
import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from headgate.gate.notification import Notification
from headgate.integrations.alerts import Alerts, Delivered, Slack, Webhook, post
from headgate.values.errors import DeliveryError, MisuseError
from headgate.values.outcome import Failed
from tests.integrations.receiver import FULL, Answer, notice, receiving

GOLDEN = Path(__file__).with_name("golden")


def golden(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited between tries, without waiting."""
    found: list[float] = []
    monkeypatch.setattr(post, "sleep", found.append)
    return found


def test_a_webhook_gets_the_notice_as_json() -> None:
    with receiving() as receiver:
        Webhook(receiver.url, headers={"X-Team": "payments"}).send(FULL)
    (request,) = receiver.requests
    assert request.content == golden("webhook.json")
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["Idempotency-Key"] == FULL.key
    assert request.headers["X-Team"] == "payments"


def test_slack_gets_blocks() -> None:
    with receiving() as receiver:
        Slack(receiver.url).send(FULL)
    assert receiver.requests[0].content == golden("slack.json")


def test_a_key_belongs_to_dataset_partition_revision_and_kind() -> None:
    keys = {
        each.key
        for each in (
            notice(),
            notice(headline="other words", status="error", at=1.0),
            notice("2026-11-15"),
            notice(revision=2),
            notice(kind="error"),
            notice(dataset="other"),
        )
    }
    assert len(keys) == 5
    assert notice().key == notice(headline="other words").key


def test_halves_of_characters_and_nuls_arrive_as_valid_json() -> None:
    with receiving() as receiver:
        Webhook(receiver.url).send(notice("a\ud800b\x00", owner="é😀"))
    assert receiver.requests[0].content["partition"] == "a?b\x00"
    assert receiver.requests[0].content["owner"] == "é😀"


def test_a_server_error_is_tried_again_with_growing_pauses(pauses: list[float]) -> None:
    with receiving(Answer(500), Answer(503), Answer(502), Answer(200)) as receiver:
        Webhook(receiver.url).send(FULL)
    assert len(receiver.requests) == 4
    assert len({request.headers["Idempotency-Key"] for request in receiver.requests}) == 1
    assert len(pauses) == 3
    for tries, pause in enumerate(pauses):
        assert 0.25 * 2**tries <= pause <= 0.75 * 2**tries


def test_tries_end_after_the_retries(pauses: list[float]) -> None:
    with receiving(Answer(500)) as receiver, pytest.raises(DeliveryError, match=r"it answered 500, 3 tries"):
        Webhook(receiver.url, retries=2).send(FULL)
    assert len(receiver.requests) == 3


def test_tries_end_after_the_total_time(pauses: list[float]) -> None:
    wait = (("Retry-After", "20"),)
    with receiving(Answer(503, headers=wait)) as receiver, pytest.raises(DeliveryError, match="it answered 503"):
        Webhook(receiver.url, retries=9, total=15).send(FULL)
    assert len(receiver.requests) == 1
    assert pauses == []


@pytest.mark.parametrize(
    ("asked", "least", "most"),
    [
        pytest.param("7", 7, 7, id="seconds"),
        pytest.param("86400", 30, 30, id="capped"),
        pytest.param("Sat, 14 Nov 2020 06:00:20 GMT", 0.25, 0.75, id="a date in the past"),
        pytest.param("soon", 0.25, 0.75, id="not readable"),
        pytest.param("-5", 0.25, 0.75, id="negative"),
        pytest.param("9" * 400, 0.25, 0.75, id="absurd"),
    ],
)
def test_too_many_requests_waits_as_long_as_is_asked(
    pauses: list[float], asked: str, least: float, most: float
) -> None:
    with receiving(Answer(429, headers=(("Retry-After", asked),)), Answer(200)) as receiver:
        Slack(receiver.url).send(FULL)
    assert len(receiver.requests) == 2
    assert least <= pauses[0] <= most


@pytest.mark.parametrize("status", [301, 302, 307, 400, 401, 403, 404, 408, 410])
def test_other_answers_are_final(pauses: list[float], status: int) -> None:
    with receiving(Answer(status, headers=(("Location", "http://127.0.0.1:9/"),))) as receiver:
        with pytest.raises(DeliveryError, match=f"it answered {status}"):
            Webhook(receiver.url).send(FULL)
        assert len(receiver.requests) == 1
    assert pauses == []


def test_the_word_of_the_receiver_is_told() -> None:
    with (
        receiving(Answer(404, body=b"no_service")) as receiver,
        pytest.raises(DeliveryError, match="404 \\(no_service\\)"),
    ):
        Slack(receiver.url).send(FULL)


def test_a_page_of_the_receiver_is_not_told() -> None:
    with receiving(Answer(404, body=b"<html>long page")) as receiver, pytest.raises(DeliveryError, match=r"404$"):
        Slack(receiver.url).send(FULL)


def test_no_answer_in_time_is_a_failed_value() -> None:
    with receiving(Answer(delay=1.0)) as receiver:
        told = Alerts([Webhook(receiver.url, timeout=0.1, retries=0)]).notify(FULL)
    assert told == Failed("Webhook(***): there was no answer within 0.1 s")


def test_a_receiver_that_answers_a_byte_at_a_time_does_not_outlast_the_timeout() -> None:
    """Each byte comes within the timeout of a single read."""
    began = time.monotonic()
    with receiving(Answer(drip=0.05)) as receiver:
        told = Alerts([Webhook(receiver.url, timeout=0.4, retries=0)]).notify(FULL)
    assert told == Failed("Webhook(***): there was no answer within 0.4 s")
    assert time.monotonic() - began < 2.0


def test_a_refused_connection_is_a_failed_value(pauses: list[float]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/"
        told = Alerts([Webhook(url, retries=2)]).notify(FULL)
    assert told == Failed("Webhook(***): the connection was refused, 3 tries")
    assert len(pauses) == 2


def test_a_connection_that_breaks_is_tried_again(pauses: list[float]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(5)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"

        def serve() -> None:
            for _ in range(2):
                connection, _address = server.accept()
                with connection:
                    connection.recv(10)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        told = Alerts([Webhook(url, retries=1)]).notify(FULL)
        thread.join(5)
    assert isinstance(told, Failed)
    assert "the connection broke" in told.why
    assert "2 tries" in told.why


def test_an_address_can_be_a_variable_read_when_a_notice_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    channel = Webhook("${env:HOOK_URL}", headers={"Authorization": "Bearer ${env:HOOK_TOKEN}"})
    with receiving() as receiver:
        monkeypatch.setenv("HOOK_URL", receiver.url + "\n")
        monkeypatch.setenv("HOOK_TOKEN", "t0")
        channel.send(FULL)
    assert receiver.requests[0].headers["Authorization"] == "Bearer t0"


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOOK_URL", raising=False)
    told = Alerts([Slack("${env:HOOK_URL}")]).notify(FULL)
    assert isinstance(told, Failed)
    assert told.why.startswith("Slack(${env:HOOK_URL}): the variable HOOK_URL is not set.")


REFUSED = [
    pytest.param("ftp://example.org/", id="another scheme"),
    pytest.param("file:///etc/passwd", id="a file"),
    pytest.param("javascript:alert(1)", id="a script"),
    pytest.param("example.org/hook", id="no scheme"),
    pytest.param("", id="empty"),
    pytest.param("https:///path", id="no host"),
    pytest.param("http://example.org/", id="http to another machine"),
    pytest.param("http://localhost.example.org/", id="a host that only begins with localhost"),
    pytest.param("http://127.0.0.1@example.org/", id="loopback as a user's name"),
    pytest.param("http://127.0.0.1.example.org/", id="loopback as a part of a name"),
    pytest.param("http://169.254.169.254/latest", id="metadata of a cloud"),
    pytest.param("https://example.org:port/", id="not an address"),
    pytest.param("https://example.org/\x00", id="NUL"),
]


@pytest.mark.parametrize("url", REFUSED)
@pytest.mark.parametrize("channel", [Webhook, Slack])
def test_an_address_that_is_not_safe_is_refused_at_once(channel: type[Webhook], url: str) -> None:
    with pytest.raises(MisuseError, match=r"Write https://|Use https://"):
        channel(url)


@pytest.mark.parametrize("url", REFUSED[:-1])  # a variable of the environment holds no NUL
def test_an_address_that_is_not_safe_is_refused_in_a_variable_too(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("HOOK_URL", url)
    told = Alerts([Webhook("${env:HOOK_URL}")]).notify(FULL)
    assert isinstance(told, Failed)
    assert "https://" in told.why or "is not set" in told.why


@pytest.mark.parametrize(
    "url", ["http://localhost:1/", "http://[::1]:1/", "http://127.9.9.9:1/", "HTTPS://Example.org"]
)
def test_loopback_and_https_are_accepted(url: str) -> None:
    assert repr(Webhook(url)) == "Webhook(***)"


def test_http_elsewhere_is_accepted_where_it_is_asked_for() -> None:
    assert repr(Webhook("http://example.org/", allow_http=True)) == "Webhook(***)"


def test_plain_http_does_not_go_through_a_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with receiving() as receiver:
        Webhook(receiver.url, retries=0).send(FULL)
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("wrong", [{"timeout": 0}, {"retries": -1}, {"total": 0}, {"timeout": float("nan")}])
def test_patience_that_cannot_be_kept_is_misuse(wrong: dict[str, Any]) -> None:
    with pytest.raises(MisuseError, match="cannot be kept"):
        Webhook("https://example.org/", **wrong)


def test_a_header_with_a_line_break_is_final(pauses: list[float]) -> None:
    with receiving() as receiver:
        told = Alerts([Webhook(receiver.url, headers={"X-Token": "a\r\nX-Other: b"})]).notify(FULL)
    assert isinstance(told, Failed)
    assert receiver.requests == []
    assert pauses == []


def test_words_of_a_notice_are_checked() -> None:
    with pytest.raises(MisuseError, match="'broken' is not a valid Status"):
        notice(status="broken")
    with pytest.raises(MisuseError, match="is not a valid Decision"):
        notice(action="lost")
    with pytest.raises(MisuseError, match="no kind of notification"):
        notice(kind="other")


def test_what_arrived_makes_the_same_notice_again() -> None:
    with receiving() as receiver:
        told = Alerts([Webhook(receiver.url)]).notify(FULL)
    assert told == Delivered(FULL)
    assert msgspec.convert(receiver.requests[0].content, Notification) == FULL
