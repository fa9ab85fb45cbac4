"""How far a scan has come."""

from __future__ import annotations

import msgspec


class Progress(msgspec.Struct, frozen=True):
    """Tasks done of those known so far; the total can grow while Spark finds more to do."""

    done: int
    total: int
