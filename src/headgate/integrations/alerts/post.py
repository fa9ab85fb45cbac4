"""Posting JSON: what is tried again, for how long, and how trouble is told without secrets.

A try is made in a thread of its own. Its time is then capped whatever hangs (a name server, a receiver that answers a
byte at a time), and no frame of the caller ever holds an address: what went wrong comes back as a value.
"""

from __future__ import annotations

import json
import logging
import random
import re
import socket
import ssl
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic, sleep
from typing import Any

import httpx
import msgspec

from headgate.integrations.alerts.address import Endpoint
from headgate.values.errors import DeliveryError, HeadgateError, MisuseError

LONGEST_PAUSE = 30.0  # seconds, whatever Retry-After asks for
_FIRST_PAUSE = 0.5
_READ = 200  # bytes of an answer; enough for a word such as no_service
_WORD = re.compile("[a-z][a-z_]{2,39}")
_CAUSES: dict[type[BaseException], str] = {
    ssl.SSLCertVerificationError: "its certificate is not trusted",
    socket.gaierror: "its host name is not known",
    ConnectionRefusedError: "the connection was refused",
}


class FailedAttempt(msgspec.Struct, frozen=True):
    """Why one try did not deliver, whether another may, and how long the receiver asks to wait before it."""

    why: str
    again: bool = False
    wait: float | None = None


class RetryPolicy(msgspec.Struct, frozen=True):
    """How long one try may take, how many follow the first, and how long all of it may take."""

    timeout: float = 10.0
    retries: int = 4
    total: float = 60.0

    def __post_init__(self) -> None:
        if not (self.timeout > 0 and self.retries >= 0 and self.total > 0):
            raise MisuseError(
                f"timeout={self.timeout}, retries={self.retries}, total={self.total} cannot be kept.",
                hint="Give seconds above 0, and retries of 0 or more.",
            )


def post_json(endpoint: Endpoint, content: Any, key: str, policy: RetryPolicy) -> None:
    """Post `content` as JSON until it is taken, or raise `DeliveryError`.

    Tried again: no connection, no answer, 5xx and 429. The key is the same for every try, so that a receiver can drop a
    second copy of what it already took.
    """
    body = json.dumps(content, allow_nan=False, ensure_ascii=False).encode("utf-8", "replace")
    end = monotonic() + policy.total
    tries = 0
    while True:
        left = end - monotonic()
        trouble = _run_within(min(policy.timeout, left), lambda: attempt_post(endpoint, body, key, policy.timeout))
        if trouble is None:
            return
        tries += 1
        pause = _choose_pause(tries, trouble.wait)
        if not trouble.again or tries > policy.retries or monotonic() + pause >= end:
            count = "" if tries == 1 else f", {tries} tries"
            raise DeliveryError(f"{trouble.why}{count}")
        sleep(pause)


def attempt_post(endpoint: Endpoint, body: bytes, key: str, timeout: float) -> FailedAttempt | None:
    """One try; None if it was taken. Nothing is raised, and nothing is logged: httpx logs whole addresses."""
    _SILENCED.set(True)
    try:
        return _send_request(endpoint, body, key, timeout)
    except HeadgateError as error:
        return FailedAttempt(str(error))
    except httpx.TimeoutException:
        return _no_answer(timeout)
    except httpx.TransportError as error:
        return FailedAttempt(_describe_error(error), again=not isinstance(error, httpx.LocalProtocolError))
    except Exception as error:
        return FailedAttempt(f"it could not be sent ({type(error).__name__})")


def _send_request(endpoint: Endpoint, body: bytes, key: str, timeout: float) -> FailedAttempt | None:
    url, own = endpoint.url(), endpoint.headers()
    headers = {"User-Agent": "headgate", **own, "Content-Type": "application/json", "Idempotency-Key": key}
    # A proxy of the environment would carry what is meant for loopback, or sent in the open, through other hands.
    encrypted = url.scheme == "https"
    with (
        httpx.Client(timeout=timeout, trust_env=encrypted, follow_redirects=False) as client,
        client.stream("POST", url, content=body, headers=headers) as response,
    ):
        if response.is_success:
            return None
        secrets = (str(url), *own.values())
        said = f"it answered {response.status_code}{_find_error_word(response, secrets)}"
        again = response.status_code == 429 or response.status_code >= 500
        return FailedAttempt(
            said, again=again, wait=seconds_to_wait(response.headers.get("Retry-After"), datetime.now(UTC))
        )


def _find_error_word(response: httpx.Response, secrets: tuple[str, ...]) -> str:
    """The receiver's own word for what is wrong (Slack: no_service), if it is one and no part of a secret."""
    said = next(response.iter_raw(_READ), b"").decode("ascii", "replace").strip()
    is_safe = _WORD.fullmatch(said) and not any(said in secret for secret in secrets)
    return f" ({said})" if is_safe else ""


def seconds_to_wait(retry_after: str | None, now: datetime) -> float | None:
    """What a Retry-After header asks for, in seconds or as a date; None if it says nothing that can be read.

    >>> now = datetime(2026, 11, 14, 6, 0, tzinfo=UTC)
    >>> seconds_to_wait("7", now), seconds_to_wait("Sat, 14 Nov 2026 06:00:20 GMT", now), seconds_to_wait("soon", now)
    (7.0, 20.0, None)
    """
    if retry_after is None:
        return None
    if re.fullmatch("[0-9]{1,9}", retry_after):
        return float(retry_after)
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - now).total_seconds())
    except (TypeError, ValueError):
        return None


def _choose_pause(tries: int, wait: float | None) -> float:
    """Twice as long each time and of random length, so that jobs that failed together do not come back together."""
    own = _FIRST_PAUSE * 2.0 ** (tries - 1) * random.uniform(0.5, 1.5)
    return min(LONGEST_PAUSE, own if wait is None else max(own, wait))


def _run_within(seconds: float, work: Callable[[], FailedAttempt | None]) -> FailedAttempt | None:
    answers: SimpleQueue[FailedAttempt | None] = SimpleQueue()
    Thread(target=lambda: answers.put(work()), name="headgate-alert", daemon=True).start()
    try:
        return answers.get(timeout=max(0.0, seconds))
    except Empty:
        return _no_answer(seconds)


def _no_answer(seconds: float) -> FailedAttempt:
    return FailedAttempt(f"there was no answer within {seconds:.3g} s", again=True)


def _describe_error(error: BaseException) -> str:
    """What broke, in words of our own: those of the library may hold the address."""
    at: BaseException | None = error
    while at is not None:
        for kind, words in _CAUSES.items():
            if isinstance(at, kind):
                return words
        at = at.__cause__ or at.__context__
    return f"the connection broke ({type(error).__name__})"


_SILENCED: ContextVar[bool] = ContextVar("headgate_alert", default=False)


def _is_logged(_: logging.LogRecord) -> bool:
    return not _SILENCED.get()


# A filter of a logger does not hold for the loggers below it, so each is named.
for _name in ("httpx", *(f"httpcore.{part}" for part in ("connection", "http11", "http2", "proxy", "socks"))):
    logging.getLogger(_name).addFilter(_is_logged)
