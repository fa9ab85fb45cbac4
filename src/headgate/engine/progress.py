"""How far a scan has come."""

from __future__ import annotations

import msgspec


class Progress(msgspec.Struct, frozen=True):
    """How much is done of what is known so far; the total can grow while Spark finds more to do.

    On Spark `done` and `total` count tasks, `stage` says which of the job's stages works, and Connect tells the
    `bytes` that were read; how many rows those are Spark does not say while it works. In this process `done` and `rows`
    are the rows that were folded, and `total` is all of them, 0 where that is not known before the end.
    """

    done: int
    total: int
    rows: int | None = None
    bytes: int | None = None
    stage: str = ""
