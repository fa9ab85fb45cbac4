"""A channel that posts notices as JSON to any address."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.gate.notification import Notice
from headgate.integrations.alerts.address import Target
from headgate.integrations.alerts.post import Patience, post


class Webhook:
    """Posts `notice.to_dict()`, with the header `Idempotency-Key`: the same for the same message, whenever it is sent.

    `url` and the values of `headers` may name variables, `${env:NAME}`, which are read when a notice is sent. `timeout`
    is for one try, `total` for all of them, in seconds.

    >>> Webhook("https://example.org/hooks/secret"), Webhook("${env:HOOK_URL}")
    (Webhook(***), Webhook(${env:HOOK_URL}))
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
        self._patience = Patience(timeout, retries, total)
        self._target = Target(url, headers, allow_http)

    def __repr__(self) -> str:
        return f"Webhook({self._target})"

    def send(self, notice: Notice) -> None:
        post(self._target, notice.to_dict(), notice.key, self._patience)
