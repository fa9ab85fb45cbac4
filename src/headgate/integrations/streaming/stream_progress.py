"""How far a stream is: what was written and quarantined, which windows were judged, what the gate costs."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from headgate.display.blocks import Fact, Facts
from headgate.display.page import Page, Paged


class StreamProgress(Paged, msgspec.Struct, frozen=True, kw_only=True):
    """What a stream gate has done since it was started, and what waits. Seconds are those of the last micro-batch.

    `measure_seconds` is the scan, `write_seconds` the write to the sink and the quarantine. `open_windows` have rows
    that were not judged yet. `too_late` are rows that were written and count to no window, since theirs is too old.
    `error` is why windows wait, `alert_error` why the last alert of a micro-batch could not be sent.
    """

    dataset: str
    last_micro_batch: int = -1
    micro_batches: int = 0
    rows: int = 0
    quarantined: int = 0
    too_late: int = 0
    windows: int = 0
    failed_windows: tuple[str, ...] = ()
    open_windows: tuple[str, ...] = ()
    watermark: float | None = None
    measure_seconds: float = 0.0
    write_seconds: float = 0.0
    other_seconds: float = 0.0
    error: str = ""
    alert_error: str = ""

    def page(self) -> Page:
        rows = [
            ("micro-batches", f"{self.micro_batches:,}, the last has number {self.last_micro_batch}"),
            ("rows", f"{self.rows:,}"),
            ("in quarantine", f"{self.quarantined:,}"),
            ("too late for their window", f"{self.too_late:,}"),
            ("windows judged", f"{self.windows:,}"),
            ("windows that failed", _list_names(self.failed_windows)),
            ("open windows", _list_names(self.open_windows)),
            ("complete up to", "—" if self.watermark is None else _format_time(self.watermark)),
            (
                "last micro-batch",
                f"{self.measure_seconds:.2f} s to measure, {self.write_seconds:.2f} s to write, "
                f"{self.other_seconds:.2f} s for the rest",
            ),
        ]
        if self.error:
            rows.append(("windows wait", self.error))
        if self.alert_error:
            rows.append(("alert not sent", self.alert_error))
        return Page(f"{self.dataset}: a stream", blocks=(Facts(tuple(Fact(*each) for each in rows)),))


def _list_names(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[-3:])
    return f"{len(names)}: {'..., ' if len(names) > 3 else ''}{shown}" if names else "none"


def _format_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
