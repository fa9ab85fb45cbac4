"""Attacks are tried on every store that is there."""

from tests.store.conftest import reopen, store

__all__ = ["reopen", "store"]
