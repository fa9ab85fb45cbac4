"""A channel that posts notifications to an incoming webhook of Slack."""

from __future__ import annotations

from headgate.gate.notification import Notification
from headgate.integrations.alerts.address import Endpoint
from headgate.integrations.alerts.blocks import make_message
from headgate.integrations.alerts.post import RetryPolicy, post_json


class Slack:
    """Posts a message of blocks to an incoming webhook. Its address is a secret: `Slack("${env:SLACK_URL}")`."""

    def __init__(
        self, url: str, *, timeout: float = 10.0, retries: int = 4, total: float = 60.0, allow_http: bool = False
    ) -> None:
        self._policy = RetryPolicy(timeout, retries, total)
        self._endpoint = Endpoint(url, None, allow_http)

    def __repr__(self) -> str:
        return f"Slack({self._endpoint})"

    def send(self, notification: Notification) -> None:
        post_json(self._endpoint, make_message(notification), notification.key, self._policy)
