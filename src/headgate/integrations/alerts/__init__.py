"""Alerts about failing and recovered datasets, sent to webhooks and to Slack."""

from headgate.values.extras import import_extra

import_extra("httpx", "alerts need httpx.", "alerts")

from headgate.integrations.alerts.alerts import Alerts, Delivered, Suppressed
from headgate.integrations.alerts.slack import Slack
from headgate.integrations.alerts.webhook import Webhook

__all__ = ["Alerts", "Delivered", "Slack", "Suppressed", "Webhook"]
