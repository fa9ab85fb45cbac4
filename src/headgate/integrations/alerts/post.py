"""Posts JSON with retries, and reports errors without secrets.

Each attempt runs in its own thread. That caps its time whatever hangs (a name server, a receiver that answers one byte
at a time), and keeps addresses out of the caller's frames: an error comes back as a value.
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
_MAX_RESPONSE = 200  # bytes that are read; enough for an error name such as no_service
_ERROR_NAME = re.compile("[a-z][a-z_]{2,39}")
_CAUSES: dict[type[BaseException], str] = {
    ssl.SSLCertVerificationError: "its certificate is not trusted",
    socket.gaierror: "its host name is not known",
    ConnectionRefusedError: "the connection was refused",
}


class FailedAttempt(msgspec.Struct, frozen=True):
    """Why an attempt failed, whether to retry, and the seconds that the receiver asks to wait first."""

    why: str
    retry: bool = False
    wait: float | None = None


class RetryPolicy(msgspec.Struct, frozen=True):
    """The time of one attempt, the number of retries, and the time of all attempts together; times in seconds."""

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
    """Post `content` as JSON until it is accepted, or raise `DeliveryError`.

    Retried are connection errors, timeouts, and the status codes 5xx and 429. Every attempt sends the same `key`, so
    that the receiver can drop a second copy.
    """
    body = json.dumps(content, allow_nan=False, ensure_ascii=False).encode("utf-8", "replace")
    end = monotonic() + policy.total
    attempts = 0
    while True:
        left = end - monotonic()
        failure = _run_within(min(policy.timeout, left), lambda: attempt_post(endpoint, body, key, policy.timeout))
        if failure is None:
            return
        attempts += 1
        pause = _choose_pause(attempts, failure.wait)
        if not failure.retry or attempts > policy.retries or monotonic() + pause >= end:
            count = "" if attempts == 1 else f", {attempts} tries"
            raise DeliveryError(f"{failure.why}{count}")
        sleep(pause)


def attempt_post(endpoint: Endpoint, body: bytes, key: str, timeout: float) -> FailedAttempt | None:
    """One attempt; None if it succeeded. It raises nothing, and logs nothing: httpx logs whole addresses."""
    _SILENCED.set(True)
    try:
        return _send_request(endpoint, body, key, timeout)
    except HeadgateError as error:
        return FailedAttempt(str(error))
    except httpx.TimeoutException:
        return _no_answer(timeout)
    except httpx.TransportError as error:
        return FailedAttempt(_describe_error(error), retry=not isinstance(error, httpx.LocalProtocolError))
    except Exception as error:
        return FailedAttempt(f"it could not be sent ({type(error).__name__})")


def _send_request(endpoint: Endpoint, body: bytes, key: str, timeout: float) -> FailedAttempt | None:
    url, own = endpoint.url(), endpoint.headers()
    headers = {"User-Agent": "headgate", **own, "Content-Type": "application/json", "Idempotency-Key": key}
    # A proxy from the environment would see plain HTTP, and requests to this machine, so it is used for HTTPS only.
    encrypted = url.scheme == "https"
    with (
        httpx.Client(timeout=timeout, trust_env=encrypted, follow_redirects=False) as client,
        client.stream("POST", url, content=body, headers=headers) as response,
    ):
        if response.is_success:
            return None
        secrets = (str(url), *own.values())
        reason = f"it answered {response.status_code}{_find_error_name(response, secrets)}"
        retry = response.status_code == 429 or response.status_code >= 500
        return FailedAttempt(
            reason, retry=retry, wait=seconds_to_wait(response.headers.get("Retry-After"), datetime.now(UTC))
        )


def _find_error_name(response: httpx.Response, secrets: tuple[str, ...]) -> str:
    """The receiver's name for the error (Slack: no_service), unless it is other text or part of a secret."""
    name = next(response.iter_raw(_MAX_RESPONSE), b"").decode("ascii", "replace").strip()
    is_safe = _ERROR_NAME.fullmatch(name) and not any(name in secret for secret in secrets)
    return f" ({name})" if is_safe else ""


def seconds_to_wait(retry_after: str | None, now: datetime) -> float | None:
    """The seconds that a Retry-After header asks to wait, given as seconds or as a date; None if it is unreadable.

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


def _choose_pause(attempts: int, wait: float | None) -> float:
    """The pause before the next attempt: doubled each time, with jitter, so that jobs that failed together do not
    retry together."""
    backoff = _FIRST_PAUSE * 2.0 ** (attempts - 1) * random.uniform(0.5, 1.5)
    return min(LONGEST_PAUSE, backoff if wait is None else max(backoff, wait))


def _run_within(seconds: float, work: Callable[[], FailedAttempt | None]) -> FailedAttempt | None:
    """The result of `work` in a thread of its own; a failure if it takes longer than `seconds`."""
    answers: SimpleQueue[FailedAttempt | None] = SimpleQueue()
    Thread(target=lambda: answers.put(work()), name="headgate-alert", daemon=True).start()
    try:
        return answers.get(timeout=max(0.0, seconds))
    except Empty:
        return _no_answer(seconds)


def _no_answer(seconds: float) -> FailedAttempt:
    return FailedAttempt(f"there was no answer within {seconds:.3g} s", retry=True)


def _describe_error(error: BaseException) -> str:
    """The cause of a connection error in fixed words, since the library's message may contain the address."""
    cause: BaseException | None = error
    while cause is not None:
        for kind, words in _CAUSES.items():
            if isinstance(cause, kind):
                return words
        cause = cause.__cause__ or cause.__context__
    return f"the connection broke ({type(error).__name__})"


_SILENCED: ContextVar[bool] = ContextVar("headgate_alert", default=False)


def _is_logged(_: logging.LogRecord) -> bool:
    return not _SILENCED.get()


# A filter on a logger does not apply to its child loggers, so each is listed.
for _name in ("httpx", *(f"httpcore.{part}" for part in ("connection", "http11", "http2", "proxy", "socks"))):
    logging.getLogger(_name).addFilter(_is_logged)
