"""A channel that posts notifications to an incoming webhook of Slack."""

from __future__ import annotations

from headgate.gate.notification import Notification
from headgate.integrations.alerts.address import Endpoint
from headgate.integrations.alerts.blocks import make_message
from headgate.integrations.alerts.post import RetryPolicy, post_json


class Slack:
    """Posts notifications as messages to an incoming webhook: `Slack("${env:SLACK_URL}")`.

    Args:
        url: The address of the webhook. It is a secret; `${env:NAME}` names a variable that holds it.
        timeout: Seconds for one attempt.
        retries: Attempts after the first.
        total: Seconds for all attempts together.
        allow_http: Whether an address without TLS is accepted.
    """

    def __init__(
        self, url: str, *, timeout: float = 10.0, retries: int = 4, total: float = 60.0, allow_http: bool = False
    ) -> None:
        self._policy = RetryPolicy(timeout, retries, total)
        self._endpoint = Endpoint(url, None, allow_http)

    def __repr__(self) -> str:
        return f"Slack({self._endpoint})"

    def send(self, notification: Notification) -> None:
        post_json(self._endpoint, make_message(notification), notification.key, self._policy)
