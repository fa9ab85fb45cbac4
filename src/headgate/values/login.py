"""Who is logged in."""

from __future__ import annotations

import getpass


def find_login_name() -> str:
    """The login name of the user; "unknown" in a container that has none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
