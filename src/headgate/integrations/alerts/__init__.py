"""Alerts about failing and recovered datasets, sent to webhooks and to Slack."""

from headgate.values.errors import MisuseError

try:
    import httpx as _httpx  # noqa: F401
except ModuleNotFoundError:
    raise MisuseError("alerts need httpx.", hint="pip install 'headgate[alerts]'") from None

from headgate.integrations.alerts.alerts import Alerts, Delivered, Suppressed
from headgate.integrations.alerts.slack import Slack
from headgate.integrations.alerts.webhook import Webhook

__all__ = ["Alerts", "Delivered", "Slack", "Suppressed", "Webhook"]
