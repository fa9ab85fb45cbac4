"""A channel that posts notifications as JSON to any address."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.gate.notification import Notification
from headgate.integrations.alerts.address import Endpoint
from headgate.integrations.alerts.post import RetryPolicy, post_json


class Webhook:
    """Posts `notification.to_dict()` with the header `Idempotency-Key`, which is the same in every attempt.

    `url` and the values of `headers` may name variables, `${env:NAME}`, which are read when a notification is sent.

    >>> Webhook("https://example.org/hooks/secret"), Webhook("${env:HOOK_URL}")
    (Webhook(***), Webhook(${env:HOOK_URL}))

    Args:
        url: The address to post to.
        headers: Further headers, such as `Authorization`.
        timeout: Seconds for one attempt.
        retries: Attempts after the first.
        total: Seconds for all attempts together.
        allow_http: Whether an address without TLS is accepted.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = 10.0,
        retries: int = 4,
        total: float = 60.0,
        allow_http: bool = False,
    ) -> None:
        self._policy = RetryPolicy(timeout, retries, total)
        self._endpoint = Endpoint(url, headers, allow_http)

    def __repr__(self) -> str:
        return f"Webhook({self._endpoint})"

    def send(self, notification: Notification) -> None:
        post_json(self._endpoint, notification.to_dict(), notification.key, self._policy)
