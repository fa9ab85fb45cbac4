"""A history in files: numbered, immutable objects in a local folder or on an object store."""

from headgate.store.files.store import FileStore

__all__ = ["FileStore"]
