"""Paths with `{partition}` in them: lists the batches of a source, and the files of one batch.

The name of a batch becomes part of a path only if it is harmless. Any other name is compared with the names of a
listing, so that no name can lead out of the folders of the template.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from pyarrow import ArrowException

from headgate.engine.file_errors import make_read_error
from headgate.engine.file_systems import is_s3, open_file_system
from headgate.values.errors import NoSuchBatch
from headgate.values.run import LONGEST_NAME, partition_sort_key

PARTITION = "{partition}"
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9=+,@ :_.-]*")
_MAX_NAMES = 5
_PASSWORD = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^/:@]+:(?!\d+/)[^@]*@|.*[?&]secret_key=)", re.IGNORECASE)


def template_mistake(path: str) -> tuple[str, str] | None:
    """The message and the hint of a mistake in a path; None if it is correct.

    >>> template_mistake("lake/orders/day={partition}/hour=*")
    >>> template_mistake("lake/{day}")
    ('{day} stands for nothing.', 'Write {partition} where the name of the batch is.')
    """
    hint = f"Write {PARTITION} where the name of the batch is."
    if _PASSWORD.match(path):
        return "there is a password in it.", "Credentials belong into the environment."
    bare = path.replace(PARTITION, "")
    if "\0" in path:
        return "there is a NUL in it.", hint
    if "{" in bare or "}" in bare:
        brace = re.search(r"\{[^}]*\}?|\}", bare)
        return f"{brace[0] if brace else '{'} stands for nothing.", hint
    if "**" in path:
        return "** is not understood.", "A folder is read whole: leave ** out, or write one * for each level."
    if f"*{PARTITION}" in path or f"{PARTITION}*" in path or PARTITION * 2 in path:
        return f"nothing tells where {PARTITION} ends.", f"Put a character between: {PARTITION}-*.parquet."
    return None


class BatchFile(NamedTuple):
    """One file of a batch, as the file system lists it."""

    path: str
    size: int
    changed: int  # time of the last change, in nanoseconds


class PathTemplate:
    """The path of a source: relative to a folder, absolute, or the address of an object store."""

    def __init__(self, text: str, folder: Path) -> None:
        self.text = text
        scheme = _SCHEME.match(text)
        self.absolute = text if scheme or text.startswith("/") else f"{folder.as_posix()}/{text}"
        self.scheme = scheme[1].lower() if scheme else "file"
        path = self.absolute.removeprefix(scheme[0] if scheme else "")
        parts = [each for each in path.split("/") if each not in ("", ".")]
        fixed = next((index for index, part in enumerate(parts) if PARTITION in part or "*" in part), len(parts))
        self._fixed_parts, self._open_parts = parts[:fixed], parts[fixed:]

    @property
    def has_partition(self) -> bool:
        return any(PARTITION in each for each in self._open_parts)

    @property
    def is_local(self) -> bool:
        return self.scheme == "file"

    @property
    def is_in_s3(self) -> bool:
        return is_s3(self.scheme)

    @cached_property
    def filesystem(self) -> Any:
        bucket = self._fixed_parts[0] if self._fixed_parts else ""
        return open_file_system(self.scheme, bucket, "Write engine: spark, or a path of a mounted folder.")

    @property
    def root(self) -> str:
        """The folder above the first part that varies."""
        return ("/" if self.is_local else "") + "/".join(self._fixed_parts)

    @property
    def exists(self) -> bool:
        """Whether the root is there."""
        return self._is_there(self.root)

    def partitions(self) -> tuple[str, ...]:
        """The names of the batches that have a file, in the order of partitions."""
        names = self._list_batches_at_once() if self.is_in_s3 else self._list_batches()
        return tuple(sorted(names, key=lambda each: (partition_sort_key(each), each)))

    def _list_batches(self) -> set[str]:
        names: set[str] = set()
        for path, name in self._walk_paths(self.root, self._open_parts, None, None):
            if name is not None and name not in names and next(self._list_files(path), None) is not None:
                names.add(name)
        return names

    def _list_batches_at_once(self) -> set[str]:
        """As `_list_batches`, by one listing of all objects, since every question to an object store takes long."""
        from pyarrow import fs

        depth, pattern = len(self._open_parts), _compile_part("/".join(self._open_parts))
        names: set[str] = set()
        for entry in self._list_folder(self.root, True):
            parts = entry.path[len(self.root) + 1 :].split("/")
            match = pattern.fullmatch("/".join(parts[:depth]))
            if entry.type != fs.FileType.File or not entry.size or match is None:
                continue
            listed = [part for part, wanted in zip(parts, self._open_parts, strict=False) if part != wanted]
            raw = match.groupdict().get("partition")
            if raw is not None and _is_name(raw, None) and not any(map(_is_hidden, [*listed, *parts[depth:]])):
                names.add(_decode_name(raw))
        return names

    def paths(self, partition: str) -> list[str]:
        """The files and folders of a batch; empty if it is not there."""
        return sorted(path for path, _ in self._walk_paths(self.root, self._open_parts, None, partition))

    def files(self, partition: str) -> list[BatchFile]:
        """All files of a batch, without hidden and empty ones."""
        return [each for path in self.paths(partition) for each in sorted(self._list_files(path))]

    def no_such_batch(self, dataset: str, partition: str) -> NoSuchBatch:
        """The error of a missing batch: the path that was tried, and what is there."""
        path = self.text.replace(PARTITION, partition)
        if not self._is_there(self.root):
            return NoSuchBatch(f"{dataset}: there is no {self.root}.", hint=self._hint_nearest())
        known = self.partitions() if self.has_partition else ()
        if not known:
            seen = ", ".join(sorted(self._list_names(self.root))[:_MAX_NAMES]) or "nothing"
            return NoSuchBatch(f"{dataset}: nothing is at {path}.", hint=f"In {self.root} there is {seen}.")
        if partition in known:
            return NoSuchBatch(f"{dataset}: {path} has no files.", hint="Write the batch, then judge it.")
        newest = ", ".join(reversed(known[-_MAX_NAMES:]))
        more = f" and {len(known) - _MAX_NAMES} more" if len(known) > _MAX_NAMES else ""
        return NoSuchBatch(f"{dataset} has no batch {partition}: nothing is at {path}.", f"There are {newest}{more}.")

    def _hint_nearest(self) -> str:
        """A hint with the content of the nearest folder above the root that exists."""
        parts = self._fixed_parts
        while parts := parts[:-1]:
            folder = ("/" if self.is_local else "") + "/".join(parts)
            if self._is_there(folder):
                seen = ", ".join(sorted(self._list_names(folder))[:_MAX_NAMES]) or "nothing"
                return f"In {folder} there is {seen}."
        return "Paths in headgate.yml are relative to its folder."

    def _walk_paths(
        self, base: str, rest: list[str], bound: str | None, wanted: str | None
    ) -> Iterator[tuple[str, str | None]]:
        """The paths that match the rest of the template, each with the name of its batch.

        `bound` is the name that an earlier part of the path has set, `wanted` the only name to look for.
        """
        if not rest:
            if self._is_there(base):
                yield base, bound if bound is None else _decode_name(bound)
            return
        for name, raw in self._match_names(base, rest[0], bound, wanted):
            yield from self._walk_paths(f"{base}/{name}", rest[1:], raw, wanted)

    def _match_names(
        self, base: str, part: str, bound: str | None, wanted: str | None
    ) -> Iterator[tuple[str, str | None]]:
        if bound is not None:
            part = part.replace(PARTITION, bound)
        if PARTITION not in part and "*" not in part:
            yield part, bound
            return
        if wanted is not None and "*" not in part and _SAFE_NAME.fullmatch(wanted):
            name = part.replace(PARTITION, wanted)  # one lookup instead of a listing
            if self._is_there(f"{base}/{name}"):
                yield name, wanted
                return
        pattern = _compile_part(part)
        for name in self._list_names(base):
            if not (match := pattern.fullmatch(name)):
                continue
            raw = match.groupdict().get("partition", bound)
            if raw is not None and bound is None and not _is_name(raw, wanted):
                continue
            yield name, raw

    def _list_names(self, folder: str) -> list[str]:
        return [name for each in self._list_folder(folder, False) if not _is_hidden(name := each.base_name)]

    def _list_files(self, path: str) -> Iterator[BatchFile]:
        from pyarrow import fs

        info = self._read_info(path)
        entries = [info] if info.type == fs.FileType.File else self._list_folder(path, True)
        for entry in entries:
            below = entry.path[len(path) :].split("/") if entry is not info else []
            if entry.type == fs.FileType.File and entry.size and not any(map(_is_hidden, below)):
                yield BatchFile(entry.path, entry.size, entry.mtime_ns or 0)

    def _list_folder(self, folder: str, deep: bool) -> list[Any]:
        from pyarrow import fs

        try:
            entries: list[Any] = self.filesystem.get_file_info(
                fs.FileSelector(folder, recursive=deep, allow_not_found=True)
            )
        except (OSError, UnicodeDecodeError, ArrowException) as error:
            raise make_read_error(f"{folder} cannot be listed", error, "May it be read?") from None
        return entries

    def _read_info(self, path: str) -> Any:
        try:
            return self.filesystem.get_file_info(path)
        except (OSError, ArrowException) as error:
            raise make_read_error(f"{path} cannot be looked at", error, "May it be read?") from None

    def _is_there(self, path: str) -> bool:
        from pyarrow import fs

        return bool(self._read_info(path).type != fs.FileType.NotFound)


def _compile_part(part: str) -> re.Pattern[str]:
    """The pattern of one part of a path; a second `{partition}` must have the name of the first."""
    text = re.escape(part).replace(r"\*", "[^/]*")
    first, *others = text.split(re.escape(PARTITION))
    if not others:
        return re.compile(text, re.DOTALL)
    return re.compile(f"{first}(?P<partition>[^/]+){'(?P=partition)'.join(others)}", re.DOTALL)


def _is_name(raw: str, wanted: str | None) -> bool:
    if wanted is not None:
        return wanted in (raw, _decode_name(raw))
    return len(raw) <= LONGEST_NAME


def _decode_name(raw: str) -> str:
    """The name of a folder that Hive or Spark has percent-encoded.

    >>> _decode_name("2026-11-14 06%3A00"), _decode_name("100%")
    ('2026-11-14 06:00', '100%')
    """
    name = unquote(raw, errors="replace")
    return raw if "\ufffd" in name else name


def _is_hidden(name: str) -> bool:
    return name.startswith(("_", ".")) and "=" not in name
