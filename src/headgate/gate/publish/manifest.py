"""The file that says which batch of a partition readers are to see.

Tested by `tests/gate/publish/test_folders.py`.
"""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from headgate.gate.publish.batch_moves import as_publish_error
from headgate.gate.publish.publisher import Delivery
from headgate.values.errors import CorruptBytes, NewerFormat, PublishError

FORMAT = 1


class DamagedManifest(PublishError, CorruptBytes):
    """A manifest cannot be read. It concerns one partition."""


class Manifest(msgspec.Struct, frozen=True):
    """Which batch of a partition readers are to see, where it is under the published folder, and which was before."""

    format: int
    delivery: Delivery
    path: str
    previous: Delivery | None = None

    def to_bytes(self) -> bytes:
        # The standard library escapes what is not Unicode; names of partitions may be anything.
        return json.dumps(msgspec.to_builtins(self), indent=1).encode()


def read_manifest(file: Path) -> Manifest | None:
    """The manifest in a file; None if there is no file."""
    with as_publish_error(file):
        try:
            text = file.read_bytes()
        except FileNotFoundError:
            return None
    try:
        parsed = json.loads(text)
        if isinstance(parsed, dict) and isinstance(newer := parsed.get("format"), int) and newer > FORMAT:
            raise NewerFormat(f"{file} has format {newer}; this version reads {FORMAT}.", hint="Upgrade headgate.")
        return msgspec.convert(parsed, Manifest)
    except (ValueError, RecursionError, msgspec.ValidationError):
        hint = "Move it away: the partition then counts as not published."
        raise DamagedManifest(f"{file} is not a manifest.", hint) from None
