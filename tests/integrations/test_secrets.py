"""Test S5 for alerts: an address or a header that is secret is in no word that leaves the channel."""

from __future__ import annotations

import logging
import socket
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from headgate.integrations.alerts import Alerts, Slack, Webhook, post
from headgate.values.errors import DeliveryError, MisuseError
from tests.integrations.receiver import FULL, Answer, receiving

CANARY = "hunterxcanary"
ECHO = (("Location", f"http://127.0.0.1:9/{CANARY}"), ("Retry-After", CANARY))
ANSWERS = [
    pytest.param(Answer(), id="taken"),
    pytest.param(Answer(500, CANARY.encode()), id="500 that echoes the address"),
    pytest.param(Answer(404, CANARY.encode(), ECHO), id="404 that echoes the address"),
    pytest.param(Answer(302, b"", ECHO), id="a redirect"),
    pytest.param(Answer(429, CANARY.encode(), ECHO), id="429"),
    pytest.param(Answer(delay=1.0), id="no answer"),
]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(post, "sleep", lambda _: None)


class Words(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(f"{record.name} {record.getMessage()} {record.args} {record.exc_info}")


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """Everything that any library logs, down to debug."""
    words, root = Words(), logging.getLogger()
    before = root.level
    root.addHandler(words)
    root.setLevel(logging.DEBUG)
    yield words.found
    root.removeHandler(words)
    root.setLevel(before)


def with_secret(url: str) -> str:
    """A secret as the user, in the path and in the query."""
    return url.replace("http://", f"http://user:{CANARY}@") + f"/{CANARY}?token={CANARY}"


def literal(url: str, _: pytest.MonkeyPatch) -> list[Any]:
    hooks = Webhook(with_secret(url), headers={"X-Token": CANARY}, timeout=0.6, retries=0)
    return [hooks, Slack(with_secret(url), timeout=0.6, retries=0)]


def by_reference(url: str, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    monkeypatch.setenv("HOOK_URL", with_secret(url))
    monkeypatch.setenv("HOOK_TOKEN", CANARY)
    hooks = Webhook("${env:HOOK_URL}", headers={"X-Token": "Bearer ${env:HOOK_TOKEN}"}, timeout=0.6, retries=0)
    return [hooks, Slack("${env:HOOK_URL}", timeout=0.6, retries=0)]


def raised(channel: Any) -> DeliveryError | None:
    try:
        channel.send(FULL)
    except DeliveryError as error:
        return error
    return None


def everything_said(channel: Any) -> str:
    """All words of a try: the channel's, those of what it raises with the locals of every frame, the policy's."""
    said = [repr(channel), str(channel), f"{channel}", repr(Alerts([channel])), str(Alerts([channel]).notify(FULL))]
    if error := raised(channel):
        assert error.__cause__ is None
        assert error.__context__ is None
        frames = traceback.TracebackException.from_exception(error, capture_locals=True)
        said += [str(error), repr(error), repr(error.args), error.hint, "".join(frames.format())]
        assert "notification = Notification(" in said[-1]  # locals are among the words
    return "\n".join(said)


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("made", [literal, by_reference])
def test_a_secret_is_never_said_whatever_the_receiver_answers(
    answer: Answer,
    made: Callable[..., list[Any]],
    logged: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with receiving(answer) as receiver:
        for channel in made(receiver.url, monkeypatch):
            assert CANARY not in everything_said(channel)
        assert CANARY in receiver.requests[0].path  # it was sent
        assert CANARY in receiver.requests[0].headers["X-Token"]
    assert CANARY not in "\n".join(logged)
    assert CANARY not in "".join(capfd.readouterr())


@pytest.mark.parametrize("made", [literal, by_reference])
def test_a_secret_is_never_said_when_nobody_listens(
    made: Callable[..., list[Any]],
    logged: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        for channel in made(f"http://127.0.0.1:{unused.getsockname()[1]}", monkeypatch):
            assert CANARY not in everything_said(channel)
    assert CANARY not in "\n".join(logged)
    assert CANARY not in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    "address",
    [
        f"https://{CANARY}.invalid/",
        f"ftp://{CANARY}/",
        f"https://example.org:{CANARY}/",
        f"http://example.org/{CANARY}",
        CANARY,
    ],
)
def test_a_secret_in_an_address_that_is_refused_is_never_said(
    address: str, logged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOOK_URL", address)
    assert CANARY not in everything_said(Webhook("${env:HOOK_URL}", timeout=2, retries=0))
    assert CANARY not in "\n".join(logged)
    if not address.startswith("https://hunter"):
        with pytest.raises(MisuseError) as caught:
            Webhook(address)
        assert CANARY not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_secret_in_a_header_that_cannot_be_sent_is_never_said(logged: list[str]) -> None:
    with receiving() as receiver:
        for value in (f"{CANARY}\r\nX: y", f"{CANARY}é\u2028"):
            assert CANARY not in everything_said(Webhook(receiver.url, headers={"X-Token": value}))
    assert CANARY not in "\n".join(logged)


def test_the_log_of_others_who_use_the_same_library_is_left_alone(logged: list[str]) -> None:
    """That httpx logs addresses is also why the tests above can fail."""
    with receiving() as receiver:
        Webhook(receiver.url).send(FULL)
        assert not any("HTTP Request" in line for line in logged)
        with httpx.Client(trust_env=False) as client:
            client.post(f"{receiver.url}/{CANARY}", json={})
    assert any("HTTP Request" in line and CANARY in line for line in logged)
