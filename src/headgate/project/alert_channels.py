"""Makes the alerts of a configuration into the one function that a gate notifies."""

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
    """A function that notifies all receivers, also after one has failed; None if there are no receivers."""
    if len(receivers) < 2:
        return receivers[0] if receivers else None

    def notify_all(notification: Notification) -> Any:
        deliveries = [each(notification) for each in receivers]
        failures = [each.why for each in deliveries if isinstance(each, Failed)]
        if failures:
            return Failed("; ".join(failures))
        from headgate.integrations.alerts import Delivered

        return next((each for each in deliveries if isinstance(each, Delivered)), deliveries[0])

    return notify_all


def make_receiver(alert: AlertConfig, folder: Path) -> Notify:
    """The function that notifies the receiver of one alert."""
    from headgate.integrations.alerts import Alerts

    channel, error = _open_channel(alert)
    if error is not None:
        raise error
    memory = None if alert.memory is None else folder / alert.memory
    return Alerts([channel], on=alert.on, every=alert.every, memory=memory).notify


def _open_channel(alert: AlertConfig) -> tuple[Any, MisuseError | None]:
    """The channel, or the error. It is returned, not raised: a traceback from here would show the address."""
    from headgate.integrations.alerts import Slack, Webhook

    try:
        if alert.slack is not None:
            return Slack(alert.slack.template()), None
        assert alert.webhook is not None
        headers = {name: value.template() for name, value in alert.headers.items()}
        return Webhook(alert.webhook.template(), headers=headers), None
    except MisuseError as error:
        message = str(error).removesuffix(error.hint).strip()
        return None, MisuseError(message, error.hint.replace(", or pass allow_http=True", ""))
