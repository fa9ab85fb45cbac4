"""Stores a pattern index as one memory-mapped file, whose bytes are checked before they are used.

    header | directory | entries | sums

Numbers are little-endian. The header is zeros up to a multiple of 4,096 bytes, but for

    magic "HGPI" | format, 2 | bytes of an entry, 2 | of the header, 4 | of a block, 4 | bits, 4 | bytes of about, 4 |
    entries, 8 | offset and length of directory, entries and sums, 6 x 8 | SHA-256 of the sums, 32 | about

and its last 32 bytes, the SHA-256 of all bytes before. Every format keeps magic, format, length and SHA-256 there.
`about` is a msgpack map. The directory has 2**bits + 1 numbers of 4 bytes: the entries whose keys have the leading bits
b are those from number b up to number b + 1; zeros fill its last block. The entries are rows of `ENTRY`, sorted by key.
The sums are a CRC-32 of 4 bytes for each block of directory and entries; the last block may be short.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import secrets
import struct
import tempfile
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Self, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.learn.patterns.entries import ENTRY, Entries, Keys, Rows
from headgate.values.errors import CorruptBytes, MisuseError, NewerFormat
from headgate.values.local_path import to_local_path

MAGIC = b"HGPI"
FORMAT = 1
BLOCK = 4_096
MAX_HEADER = 1 << 20
MAX_ENTRIES = (1 << 32) - 1  # the directory has 4 bytes for each bucket

_FIXED = struct.Struct("<4sHHIIIIQ6Q32s")
_DIGEST = 32
_BUCKET = 8  # entries of a bucket on average, at least; less than twice as many
_SUM = np.dtype("<u4")
_START = np.dtype("<u4")
_PIECE = BLOCK * 16  # entries handled at a time: whole blocks, 2.4 MB
_MERGE_SIZE = 1 << 18  # entries that a merge holds at a time, for all files together

Offsets: TypeAlias = npt.NDArray[np.int64]


class _FileLayout(NamedTuple):
    """The offsets and lengths of the sections, which follow from the header's length and the number of entries."""

    directory: int
    directory_length: int
    entries: int
    entries_length: int
    sums: int
    sums_length: int

    @classmethod
    def of(cls, header: int, count: int) -> _FileLayout:
        directory, rows = ((1 << _bucket_bits(count)) + 1) * _START.itemsize, count * ENTRY.itemsize
        entries = header + _count_blocks(directory) * BLOCK
        sums = entries + rows
        return cls(header, directory, entries, rows, sums, _count_blocks(sums - header) * _SUM.itemsize)

    @property
    def end(self) -> int:
        return self.sums + self.sums_length


class _IndexHeader(msgspec.Struct, frozen=True):
    count: int
    layout: _FileLayout
    digest: bytes
    about: dict[str, Any]


class PatternFile:
    """An open index file. A block is checked when something in it is first read.

    Several threads may call `find_entries` at once: a block may be checked twice, but is never used unchecked.
    Writers replace the file and never change it in place, because a change in place would be seen by open readers.
    """

    def __init__(self, path: Path, mapped: mmap.mmap, head: _IndexHeader, sums: npt.NDArray[np.uint32]) -> None:
        self.path = path
        self._mapped: mmap.mmap | None = mapped
        self._head, self._sums = head, sums
        self._checked = np.zeros(len(sums), np.bool_)
        self._shift = np.uint64(64 - _bucket_bits(head.count))

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Check the header, the table of sums and the length of the file; blocks are checked when they are read."""
        path = to_local_path(path, "the path of the index")
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            head = _read_head(file, path, size)
            file.seek(head.layout.sums)
            table = file.read(head.layout.sums_length)
            if hashlib.sha256(table).digest() != head.digest:
                raise CorruptBytes(f"{path}: the table of sums was altered.")
            mapped = mmap.mmap(file.fileno(), head.layout.end, access=mmap.ACCESS_READ)
        # Look-ups gain nothing from reading the blocks beside the one they need.
        _advise_kernel(mapped, "MADV_RANDOM", 0, head.layout.end)
        return cls(path, mapped, head, np.frombuffer(table, _SUM))

    @property
    def about(self) -> dict[str, Any]:
        """The writer's description of the index: its name, its source, how it was built."""
        return dict(self._head.about)

    def __len__(self) -> int:
        return self._head.count

    def find_entries(self, keys: Keys) -> Rows:
        """The entries of these keys, in the same order; a row of zeros (no columns) for a key that is missing."""
        if keys.dtype != np.uint64 or keys.ndim != 1:
            raise MisuseError("keys are a one-dimensional array of 64-bit numbers.", hint="Give it dtype=np.uint64.")
        mapped = self._demand_open()
        rows = np.zeros(len(keys), ENTRY)
        if not len(self) or not len(keys):
            return rows
        low, high = self._find_buckets(mapped, keys)
        entries = np.frombuffer(mapped, ENTRY, len(self), self._head.layout.entries)
        end = high.copy()
        while (going := np.flatnonzero(low < high)).size:
            middle = (low[going] + high[going]) >> 1
            self._check_once(mapped, self._head.layout.entries, middle * ENTRY.itemsize, ENTRY.itemsize)
            less = entries["key"][middle] < keys[going]
            low[going[less]] = middle[less] + 1
            high[going[~less]] = middle[~less]
        # The entry at `low`, unless that is the end, was compared above, so its block has been checked.
        hits = np.flatnonzero(low < end)
        hits = hits[entries["key"][low[hits]] == keys[hits]]
        rows[hits] = entries[low[hits]]
        return rows

    def read_chunks(self, size: int = _PIECE) -> Iterator[Entries]:
        """All entries in the order of their keys, `size` at a time; every block is checked again."""
        if size < 1:
            raise MisuseError(f"chunks of {size} entries do not end.", hint="Give a size of 1 or more.")
        last = -1
        for start in range(0, len(self), size):
            count = min(size, len(self) - start)
            offset = self._head.layout.entries + start * ENTRY.itemsize
            rows = np.frombuffer(self._copy_bytes(offset, count * ENTRY.itemsize), ENTRY)
            try:
                chunk = Entries(rows)
            except MisuseError as error:
                raise CorruptBytes(f"{self.path}: this is no index: {error}") from None
            if int(rows["key"][0]) <= last:
                raise CorruptBytes(f"{self.path}: this is no index: its keys are not in order.")
            last = int(rows["key"][-1])
            yield chunk

    def verify(self) -> None:
        """Check every block, the order of the entries, and that the directory leads to them."""
        offset = self._head.layout.directory
        for starts in _make_directory((chunk.rows["key"] for chunk in self.read_chunks()), _bucket_bits(len(self))):
            stored = self._copy_bytes(offset, starts.nbytes)
            if stored != starts.tobytes():
                raise CorruptBytes(f"{self.path}: the directory does not lead to the entries.")
            offset += starts.nbytes

    def close(self) -> None:
        """Close the file; it is unmapped when the last look-up that still runs has ended."""
        self._mapped = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _demand_open(self) -> mmap.mmap:
        if self._mapped is None:
            raise MisuseError(f"{self.path} has been closed.", hint="Open it again with PatternFile.open(path).")
        return self._mapped

    def _find_buckets(self, mapped: mmap.mmap, keys: Keys) -> tuple[Offsets, Offsets]:
        """For each key, the first entry of its bucket and the first entry after it."""
        layout, bucket = self._head.layout, (keys >> self._shift).astype(np.int64)
        self._check_once(mapped, layout.directory, bucket * _START.itemsize, 2 * _START.itemsize)
        starts = np.frombuffer(mapped, _START, layout.directory_length // _START.itemsize, layout.directory)
        low, high = starts[bucket].astype(np.int64), starts[bucket + 1].astype(np.int64)
        if bool(((low > high) | (high > len(self))).any()):
            raise CorruptBytes(f"{self.path}: the directory does not lead to the entries.")
        return low, high

    def _check_once(self, mapped: mmap.mmap, section: int, offsets: Offsets, length: int) -> None:
        """Check the blocks that hold `length` bytes at each offset of a section, unless they were checked before.

        `length` is at most that of a block, so that only the first and last byte need to be looked at.
        """
        first = offsets + (section - self._head.layout.directory)
        blocks = np.concatenate([first, first + (length - 1)]) // BLOCK
        fresh = blocks[~self._checked[blocks]]
        if fresh.size:
            once = sorted(set(fresh.tolist()))  # np.unique would first import numpy.ma, which takes 50 ms
            body = memoryview(mapped)[self._head.layout.directory : self._head.layout.sums]
            self._check_blocks(once, [body[block * BLOCK : (block + 1) * BLOCK] for block in once])
            self._checked[fresh] = True

    def _copy_bytes(self, offset: int, length: int) -> bytes:
        """A checked copy of bytes of directory or entries, so that reading a whole file keeps little in memory."""
        mapped, body = self._demand_open(), self._head.layout.directory
        first, last = (offset - body) // BLOCK, -(-(offset - body + length) // BLOCK)
        begin, end = body + first * BLOCK, min(body + last * BLOCK, self._head.layout.sums)
        _advise_kernel(mapped, "MADV_WILLNEED", begin, end)
        data = mapped[begin:end]
        _advise_kernel(mapped, "MADV_DONTNEED", begin, end)
        view = memoryview(data)
        self._check_blocks(range(first, last), [view[start : start + BLOCK] for start in range(0, len(data), BLOCK)])
        return data[offset - begin : offset - begin + length]

    def _check_blocks(self, blocks: Sequence[int], contents: Sequence[memoryview]) -> None:
        for block, content, expected in zip(blocks, contents, self._sums[blocks].tolist(), strict=True):
            if zlib.crc32(content) != expected:
                raise CorruptBytes(
                    f"{self.path}: the block at byte {self._head.layout.directory + block * BLOCK:,} was altered.",
                    hint="Fetch or build the index again.",
                )


def write_index(path: str | Path, entries: Entries | Iterable[Entries], about: dict[str, Any]) -> None:
    """Write an index atomically, from entries or from several of them in the order of their keys.

    Takes memory for one piece at a time and a thousandth of the file, and disk space for the entries twice.
    """
    path, encoded = to_local_path(path, "the path of the index"), _encode_about(about)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with tempfile.TemporaryFile(dir=path.parent) as spool, open(temporary, "xb") as file:
            count = _spool_entries([entries] if isinstance(entries, Entries) else entries, spool)
            _assemble_file(file, spool, count, encoded)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def merge_indexes(paths: Iterable[str | Path], target: str | Path, about: dict[str, Any]) -> None:
    """Write the sum of several indexes, byte for byte as `write_index` would, with one piece of each in memory."""
    with ExitStack() as stack:
        files = [stack.enter_context(PatternFile.open(path)) for path in paths]
        write_index(target, _merge_entries(files), about)


def _merge_entries(files: Sequence[PatternFile]) -> Iterator[Entries]:
    """The sum in pieces in the order of keys: each ends with the last key of the piece that ends first.

    No file can have a smaller key after that, so the entries up to it are complete.
    """
    size = max(_MERGE_SIZE // max(len(files), 1), 1_024)
    sources = [file.read_chunks(size) for file in files]
    pieces: list[Rows] = [np.empty(0, ENTRY)] * len(files)
    while True:
        for index, source in enumerate(sources):
            if not len(pieces[index]) and (chunk := next(source, None)) is not None:
                pieces[index] = chunk.rows
        if not any(map(len, pieces)):
            return
        reach = min(piece["key"][-1] for piece in pieces if len(piece))
        cuts = [int(np.searchsorted(piece["key"], reach, "right")) for piece in pieces]
        yield Entries.of(np.concatenate([piece[:cut] for piece, cut in zip(pieces, cuts, strict=True)]))
        pieces = [piece[cut:] for piece, cut in zip(pieces, cuts, strict=True)]


def _spool_entries(parts: Iterable[Entries], spool: IO[bytes]) -> int:
    """Write the entries one after the other, and return their number."""
    count, last = 0, -1
    for part in parts:
        if not len(part):
            continue
        if int(part.rows["key"][0]) <= last:
            hint = "Write their sum, or use merge_indexes."
            raise MisuseError("the entries are not in the order of their keys.", hint=hint)
        count, last = count + len(part), int(part.rows["key"][-1])
        if count > MAX_ENTRIES:
            raise MisuseError(f"an index has at most {MAX_ENTRIES:,} entries.", hint="Write .at_least(2), or 3.")
        for start in range(0, len(part), _PIECE):
            spool.write(part.rows[start : start + _PIECE].tobytes())
    return count


def _assemble_file(file: IO[bytes], spool: IO[bytes], count: int, encoded: bytes) -> None:
    header = _count_blocks(_FIXED.size + len(encoded) + _DIGEST) * BLOCK
    layout, sums = _FileLayout.of(header, count), array("I")
    file.seek(header)
    for block in _cut_blocks(_make_body(spool, layout, _bucket_bits(count))):
        sums.append(zlib.crc32(block))
        file.write(block)
    table = np.array(sums, _SUM).tobytes()
    file.write(table)
    fixed = (MAGIC, FORMAT, ENTRY.itemsize, header, BLOCK, _bucket_bits(count), len(encoded), count, *layout)
    front = (_FIXED.pack(*fixed, hashlib.sha256(table).digest()) + encoded).ljust(header - _DIGEST, b"\0")
    file.seek(0)
    file.write(front + hashlib.sha256(front).digest())


def _make_body(spool: IO[bytes], layout: _FileLayout, bits: int) -> Iterator[bytes]:
    """The directory, padded to whole blocks, then the entries."""
    for starts in _make_directory((np.frombuffer(piece, ENTRY)["key"] for piece in _read_pieces(spool)), bits):
        yield starts.tobytes()
    yield bytes(layout.entries - layout.directory - layout.directory_length)
    yield from _read_pieces(spool)


def _read_pieces(spool: IO[bytes]) -> Iterator[bytes]:
    spool.seek(0)
    while piece := spool.read(_PIECE * ENTRY.itemsize):
        yield piece


def _cut_blocks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        data = rest + piece
        whole = len(data) // BLOCK * BLOCK
        yield from (data[start : start + BLOCK] for start in range(0, whole, BLOCK))
        rest = data[whole:]
    if rest:
        yield rest


def _make_directory(keys: Iterable[Keys], bits: int) -> Iterator[npt.NDArray[np.uint32]]:
    """The directory of keys that come sorted and in pieces: the first entry of each bucket, then the entry count."""
    bucket = seen = 0
    for piece in keys:
        buckets = piece >> np.uint64(64 - bits)
        beyond = int(buckets[-1]) + 1
        for low in range(bucket, beyond, _PIECE):
            wanted = np.arange(low, min(low + _PIECE, beyond), dtype=np.uint64)
            yield (seen + np.searchsorted(buckets, wanted)).astype(_START)
        bucket, seen = beyond, seen + len(piece)
    for low in range(bucket, (1 << bits) + 1, _PIECE):
        yield np.full(min(_PIECE, (1 << bits) + 1 - low), seen, _START)


def _read_head(file: IO[bytes], path: Path, size: int) -> _IndexHeader:
    """Read the header and verify its checksum; its other numbers must follow from the number of entries."""
    start = file.read(_FIXED.size)
    if len(start) < _FIXED.size or start[:4] != MAGIC:
        raise CorruptBytes(f"{path} does not begin like a pattern index of Headgate.")
    _, version, entry, header, block, bits, about_length, count, *sections, digest = _FIXED.unpack(start)
    if not _FIXED.size + _DIGEST <= header <= min(size, MAX_HEADER):
        raise CorruptBytes(f"{path}: the length of the header cannot be {header:,}: truncated or altered.")
    whole = start + file.read(header - _FIXED.size)
    if hashlib.sha256(whole[:-_DIGEST]).digest() != whole[-_DIGEST:]:
        raise CorruptBytes(f"{path}: the checksum of the header does not match: it was truncated or altered.")
    if version > FORMAT:
        raise NewerFormat(f"{path} has format {version}; this version reads up to {FORMAT}.", hint="Upgrade headgate.")
    layout = _FileLayout.of(header, min(count, MAX_ENTRIES))
    stated = (version, entry, block, bits, header % BLOCK, count, tuple(sections))
    if stated != (FORMAT, ENTRY.itemsize, BLOCK, _bucket_bits(count), 0, min(count, MAX_ENTRIES), layout):
        raise CorruptBytes(f"{path}: the numbers in the header do not agree.")
    if size != layout.end:
        raise CorruptBytes(f"{path} has {size:,} bytes and should have {layout.end:,}: it was truncated or altered.")
    return _IndexHeader(count, layout, digest, _decode_about(whole[_FIXED.size : -_DIGEST], about_length, path))


def _encode_about(about: dict[str, Any]) -> bytes:
    try:
        encoded = msgspec.msgpack.encode(about, order="deterministic")
    except (TypeError, OverflowError, RecursionError) as error:
        raise MisuseError(f"`about` cannot be stored: {error}.", hint="Use text, numbers, lists and maps.") from None
    if len(encoded) > MAX_HEADER - 2 * BLOCK:
        raise MisuseError(f"`about` has {len(encoded):,} bytes, which is too much.", hint="Keep it to a few words.")
    return encoded


def _decode_about(data: bytes, length: int, path: Path) -> dict[str, Any]:
    try:
        return msgspec.msgpack.decode(data[:length], type=dict[str, Any])
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise CorruptBytes(f"{path}: what the header says about the index cannot be read: {error}.") from None


def _bucket_bits(count: int) -> int:
    """The number of leading bits of a key that select its bucket."""
    return max(1, (count // _BUCKET).bit_length() - 1)


def _count_blocks(length: int) -> int:
    return -(-length // BLOCK)


def _advise_kernel(mapped: mmap.mmap, advice: str, begin: int, end: int) -> None:
    """Advise the kernel how a part of the file will be read, on systems that support it."""
    begin -= begin % mmap.PAGESIZE
    if (option := getattr(mmap, advice, None)) is not None:
        with suppress(OSError):
            mapped.madvise(option, begin, end - begin)


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
