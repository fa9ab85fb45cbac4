"""The progress of a scan."""

from __future__ import annotations

import msgspec


class Progress(msgspec.Struct, frozen=True):
    """The progress of a scan so far.

    On Spark `done` and `total` count tasks; elsewhere they count rows.

    Args:
        done: Finished tasks, or rows that were read.
        total: Known tasks, which can grow while Spark plans more; or all rows, 0 if that is not known in advance.
        rows: Rows that were read. None on Spark, which does not report them while it runs.
        bytes: Bytes that were read. Only Spark Connect reports them.
        stage: The running stage of the Spark job, such as "stage 1 of 2".
        unit: What `done` and `total` count, if not rows.
    """

    done: int
    total: int
    rows: int | None = None
    bytes: int | None = None
    stage: str = ""
    unit: str = "tasks"
