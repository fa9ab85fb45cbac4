"""The checks before a release: `make release-check` builds it twice, looks inside, and lists what it depends on."""

from __future__ import annotations


class ReleaseError(Exception):
    """The release cannot be checked; the message says what to do."""
