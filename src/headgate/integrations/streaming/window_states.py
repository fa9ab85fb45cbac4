"""What was measured of the micro-batches of a stream, kept until their windows are judged and no rows can come late.

A micro-batch is one file, with the measurements of each window that it has rows of. When a window is judged, its
measurements become one file, which says of which micro-batches it is. A file of a micro-batch is deleted when all its
windows have such files. So a kill loses nothing and counts nothing twice, whenever it comes.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterable
from functools import reduce
from itertools import pairwise
from operator import add
from threading import RLock
from typing import NamedTuple, TypeVar

import msgspec

from headgate.evaluate.measurements import Measurements
from headgate.integrations.streaming.state_folder import StateFolder
from headgate.integrations.streaming.windows import WindowSize
from headgate.values.codec import Head, pack, seal, unseal
from headgate.values.errors import CorruptBytes, MisuseError

_BATCHES, _WINDOWS, _STREAM = "batches", "windows", "stream"
_TAG = "stream"
_T = TypeVar("_T", bound=msgspec.Struct)


class MicroBatchStates(msgspec.Struct, frozen=True):
    """What a micro-batch adds to each window: measurements as bytes, by the start of the window.

    `latest` is its highest event time in seconds since 1970; None if no row has one.
    """

    number: int
    windows: dict[int, bytes]
    latest: float | None = None
    rows: int = 0
    quarantined: int = 0
    at: float = msgspec.field(default_factory=time.time)


class WindowRecord(msgspec.Struct, frozen=True):
    """A window that was judged: the micro-batches that it has rows of, and what was measured of them together."""

    start: int
    numbers: tuple[int, ...]
    measurements: bytes
    latest: float
    failed: bool


class MergedWindow(NamedTuple):
    """A window with all that is known of it."""

    start: int
    numbers: tuple[int, ...]
    measurements: Measurements


class _Stream(msgspec.Struct, frozen=True):
    id: str
    seconds: int


class _KnownBatch(NamedTuple):
    """A micro-batch whose file is kept: its windows, and the highest event time."""

    windows: frozenset[int]
    latest: float | None


class _KnownWindow(NamedTuple):
    """A window that was judged: its micro-batches, the highest event time, whether it failed."""

    numbers: frozenset[int]
    latest: float
    failed: bool


class WindowStates:
    """The measurements of one stream, in a folder of its own.

    Args:
        folder: Where they are kept.
        size: The length of the windows.
        late: For how many seconds after its end, by the highest event time, rows are added to a window.
    """

    def __init__(self, folder: StateFolder, size: WindowSize, late: int) -> None:
        self.folder, self.size, self.late = folder, size, late
        self._lock = RLock()
        self.id = self._identify_stream()
        self._batches: dict[int, _KnownBatch] = {}
        self._windows: dict[int, _KnownWindow] = {}
        for name in folder.list(_BATCHES):
            batch = self._read_batch(int(name))
            self._batches[batch.number] = _KnownBatch(frozenset(batch.windows), batch.latest)
        for name in folder.list(_WINDOWS):
            record = self._read_window(int(name))
            self._windows[record.start] = _KnownWindow(frozenset(record.numbers), record.latest, record.failed)

    def _identify_stream(self) -> str:
        """A name that no other stream has, made when the folder is first used."""
        data = self.folder.read(_STREAM, _STREAM)
        if data is None:
            made = _Stream(secrets.token_hex(8), self.size.seconds)
            self.folder.write(_STREAM, _STREAM, _write(made))
            return made.id
        found = _read(data, _Stream)
        if found.seconds != self.size.seconds:
            raise MisuseError(
                f"{self.folder.place} has windows of {found.seconds} seconds, not of {self.size.seconds}.",
                hint="Name another folder: state=...",
            )
        return found.id

    # --- what is known

    @property
    def last_number(self) -> int:
        """The highest number of a micro-batch; -1 if there is none."""
        with self._lock:
            numbers = [*self._batches, *(number for each in self._windows.values() for number in each.numbers)]
            return max(numbers, default=-1)

    @property
    def latest(self) -> float | None:
        """The highest event time so far."""
        with self._lock:
            known = [each.latest for each in self._windows.values()]
            known += [each.latest for each in self._batches.values() if each.latest is not None]
            return max(known, default=None)

    @property
    def open_windows(self) -> tuple[int, ...]:
        """The starts of windows that have rows which were not judged yet, in order."""
        with self._lock:
            starts = {start for batch in self._batches.values() for start in batch.windows}
            return tuple(sorted(start for start in starts if self._find_new(start)))

    @property
    def failed_windows(self) -> tuple[int, ...]:
        """The starts of kept windows that failed, in order."""
        with self._lock:
            return tuple(sorted(start for start, each in self._windows.items() if each.failed))

    def has_batch(self, number: int) -> bool:
        with self._lock:
            return number in self._batches or any(number in each.numbers for each in self._windows.values())

    def is_too_late(self, start: int) -> bool:
        """Whether a window is so old that it takes no more rows."""
        latest = self.latest
        return latest is not None and self.size.find_end(start) + self.late < latest

    def find_due(self, watermark: float) -> list[int]:
        """The windows that end at or before a moment and have rows which were not judged, in order.

        Windows between others that have no row at all are among them.
        """
        with self._lock:
            known = sorted({*self._windows, *self.open_windows})
            gaps = (gap for one, two in pairwise(known) for gap in self.size.list_between(one, two))
            return sorted(each for each in (*self.open_windows, *gaps) if self.size.find_end(each) <= watermark)

    def _find_new(self, start: int) -> list[int]:
        """The micro-batches that have rows of a window which were not judged."""
        judged = self._windows.get(start, _NOT_JUDGED).numbers
        return sorted(
            number for number, each in self._batches.items() if start in each.windows and number not in judged
        )

    # --- changes

    def write_batch(self, batch: MicroBatchStates) -> None:
        """Keep what was measured of a micro-batch; written again, it takes the place of the one before."""
        self.folder.write(_BATCHES, f"{batch.number:012}", _write(batch))

    def add_batch(self, batch: MicroBatchStates) -> None:
        """Count a micro-batch to its windows, after its rows were written."""
        with self._lock:
            self._batches[batch.number] = _KnownBatch(frozenset(batch.windows), batch.latest)

    def merge(self, start: int) -> MergedWindow:
        """All that was measured of a window; of one without rows, what would be measured of an empty batch."""
        with self._lock:
            new = self._find_new(start)
            is_judged = start in self._windows
            example = None if new or is_judged else self._find_nearest(start)
        if example is not None:
            return MergedWindow(start, (), self.merge(example).measurements.empty())
        numbers: list[int] = []
        found: list[Measurements] = []
        if is_judged:
            record = self._read_window(start)
            numbers += record.numbers
            found += [Measurements.from_bytes(record.measurements)] if record.numbers or not new else []
        for number in new:
            numbers.append(number)
            found.append(Measurements.from_bytes(self._read_batch(number).windows[start]))
        return MergedWindow(start, tuple(sorted(numbers)), reduce(add, found))

    def identify(self, window: MergedWindow) -> str:
        """A text that is the same for the same micro-batches of a window of this stream, and for no others."""
        text = f"{self.id} {window.start} {' '.join(map(str, window.numbers))}"
        return f"stream:{hashlib.sha256(text.encode()).hexdigest()[:32]}"

    def put_window(self, window: MergedWindow, *, failed: bool) -> None:
        """Keep a window that was judged as one file, and delete the files that are no longer needed."""
        latest = float(window.start)
        with self._lock:
            known = [self._batches[each].latest for each in window.numbers if each in self._batches]
            if window.start in self._windows:
                known.append(self._windows[window.start].latest)
        latest = max([latest, *(each for each in known if each is not None)])
        record = WindowRecord(window.start, window.numbers, window.measurements.to_bytes(), latest, failed)
        self.folder.write(_WINDOWS, f"{window.start:012}", _write(record))
        with self._lock:
            self._windows[window.start] = _KnownWindow(frozenset(window.numbers), latest, failed)
        self._delete_merged()
        self._delete_old()

    def _delete_merged(self) -> None:
        """Delete micro-batches of which all windows were judged, but for the last."""
        with self._lock:
            last = self.last_number
            done = [
                number
                for number, batch in self._batches.items()
                if number < last and all(number in self._list_judged(start) for start in batch.windows)
            ]
        self._delete(_BATCHES, done)
        with self._lock:
            for number in done:
                del self._batches[number]

    def _delete_old(self) -> None:
        """Delete windows that take no more rows, but for the last two, from which gaps are seen."""
        with self._lock:
            needed = set(sorted(self._windows)[-2:]) | set(self.open_windows)
            old = [start for start in self._windows if start not in needed and self.is_too_late(start)]
        self._delete(_WINDOWS, old)
        with self._lock:
            for start in old:
                del self._windows[start]

    def _list_judged(self, start: int) -> frozenset[int]:
        return self._windows.get(start, _NOT_JUDGED).numbers

    def _delete(self, folder: str, names: Iterable[int]) -> None:
        for name in names:
            self.folder.delete(folder, f"{name:012}")

    def _find_nearest(self, start: int) -> int:
        return min({*self._windows, *self.open_windows}, key=lambda each: abs(each - start))

    def _read_batch(self, number: int) -> MicroBatchStates:
        return _read(self._read_file(_BATCHES, number), MicroBatchStates)

    def _read_window(self, start: int) -> WindowRecord:
        return _read(self._read_file(_WINDOWS, start), WindowRecord)

    def _read_file(self, folder: str, number: int) -> bytes:
        data = self.folder.read(folder, f"{number:012}")
        if data is None:
            raise CorruptBytes(f"{self.folder.place}/{folder}/{number:012} is gone.", hint="Restore the folder.")
        return data


_NOT_JUDGED = _KnownWindow(frozenset(), 0.0, False)


def _write(value: msgspec.Struct) -> bytes:
    return seal(pack(value), Head(_TAG, type(value).__name__))


def _read(data: bytes, kind: type[_T]) -> _T:
    head, body = unseal(data)
    if head.tag != _TAG:
        raise CorruptBytes(f"these bytes hold a {head.tag}, not the state of a stream.")
    try:
        return msgspec.msgpack.decode(body, type=kind)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise CorruptBytes(f"the bytes do not hold the state of a stream: {error}.") from None
