"""A channel that posts notices to an incoming webhook of Slack."""

from __future__ import annotations

from headgate.gate.notification import Notice
from headgate.integrations.alerts.address import Target
from headgate.integrations.alerts.blocks import message
from headgate.integrations.alerts.post import Patience, post


class Slack:
    """Posts a message of blocks to an incoming webhook. Its address is a secret: `Slack("${env:SLACK_URL}")`."""

    def __init__(
        self, url: str, *, timeout: float = 10.0, retries: int = 4, total: float = 60.0, allow_http: bool = False
    ) -> None:
        self._patience = Patience(timeout, retries, total)
        self._target = Target(url, None, allow_http)

    def __repr__(self) -> str:
        return f"Slack({self._target})"

    def send(self, notice: Notice) -> None:
        post(self._target, message(notice), notice.key, self._patience)
