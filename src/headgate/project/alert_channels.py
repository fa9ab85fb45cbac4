"""The alerts of a configuration as the one function that a gate tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from headgate.gate.notification import Notification
from headgate.project.config import AlertConfig
from headgate.values.errors import MisuseError
from headgate.values.outcome import Failed

Notify = Callable[[Notification], Any]


def combine_receivers(receivers: Sequence[Notify]) -> Notify | None:
    """What tells all of them; None if there is nobody. One that cannot be reached keeps no other from hearing of it."""
    if len(receivers) < 2:
        return receivers[0] if receivers else None

    def notify_all(notification: Notification) -> Any:
        answers = [each(notification) for each in receivers]
        failed = [each.why for each in answers if isinstance(each, Failed)]
        if failed:
            return Failed("; ".join(failed))
        from headgate.integrations.alerts import Delivered

        return next((each for each in answers if isinstance(each, Delivered)), answers[0])

    return notify_all


def make_receiver(alert: AlertConfig, folder: Path) -> Notify:
    """What tells the receiver of one alert."""
    from headgate.integrations.alerts import Alerts

    channel, trouble = _open_channel(alert)
    if trouble is not None:
        raise trouble
    memory = None if alert.memory is None else folder / alert.memory
    return Alerts([channel], on=alert.on, every=alert.every, memory=memory).notify


def _open_channel(alert: AlertConfig) -> tuple[Any, MisuseError | None]:
    """The channel, or why there is none; an error that is raised further on shows no frame that holds the address."""
    from headgate.integrations.alerts import Slack, Webhook

    try:
        if alert.slack is not None:
            return Slack(alert.slack.template()), None
        assert alert.webhook is not None
        headers = {name: value.template() for name, value in alert.headers.items()}
        return Webhook(alert.webhook.template(), headers=headers), None
    except MisuseError as trouble:
        message = str(trouble).removesuffix(trouble.hint).strip()
        return None, MisuseError(message, trouble.hint.replace(", or pass allow_http=True", ""))
