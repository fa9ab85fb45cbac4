"""Paths with a place for the batch's name: which batches there are, and which files are one.

The name of a batch becomes part of a path only if it is harmless; any other is compared with names that a listing gave,
so that no name can lead out of the folders that the pattern names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from headgate.values.errors import EngineError, NoSuchBatch
from headgate.values.run import LONGEST_NAME, partition_sort_key

PARTITION = "{partition}"
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9=+,@ :_.-]*")
_MAX_NAMES = 5
_ARROW_SCHEMES = {"s3a": "s3", "s3n": "s3"}  # what Hadoop calls it, and what Arrow does


def template_mistake(path: str) -> tuple[str, str] | None:
    """What is wrong with a path and what to write; None if nothing is.

    >>> template_mistake("lake/orders/day={partition}/hour=*")
    >>> template_mistake("lake/{day}")
    ('{day} stands for nothing.', 'Write {partition} where the name of the batch is.')
    """
    write = f"Write {PARTITION} where the name of the batch is."
    bare = path.replace(PARTITION, "")
    if "\0" in path:
        return "there is a NUL in it.", write
    if "{" in bare or "}" in bare:
        strange = re.search(r"\{[^}]*\}?|\}", bare)
        return f"{strange[0] if strange else '{'} stands for nothing.", write
    if "**" in path:
        return "** is not understood.", "A folder is read whole: leave ** out, or write one * for each level."
    if f"*{PARTITION}" in path or f"{PARTITION}*" in path or PARTITION * 2 in path:
        return f"nothing tells where {PARTITION} ends.", f"Put a character between: {PARTITION}-*.parquet."
    return None


class BatchFile(NamedTuple):
    """One file of a batch, as the file system lists it."""

    path: str
    size: int
    changed: int  # in nanoseconds


class PathTemplate:
    """The pattern of a source, relative to a folder or an address of an object store."""

    def __init__(self, text: str, folder: Path) -> None:
        self.text = text
        scheme = _SCHEME.match(text)
        whole = text if scheme or text.startswith("/") else f"{folder.as_posix()}/{text}"
        self.scheme = scheme[1].lower() if scheme else "file"
        parts = [each for each in whole.removeprefix(scheme[0] if scheme else "").split("/") if each not in ("", ".")]
        fixed = next((at for at, each in enumerate(parts) if PARTITION in each or "*" in each), len(parts))
        self.absolute = whole
        self._fixed_parts, self._open_parts = parts[:fixed], parts[fixed:]

    @property
    def has_partition(self) -> bool:
        return any(PARTITION in each for each in self._open_parts)

    @property
    def is_local(self) -> bool:
        return self.scheme == "file"

    @cached_property
    def filesystem(self) -> Any:
        from pyarrow import fs

        if self.is_local:
            return fs.LocalFileSystem()
        scheme = _ARROW_SCHEMES.get(self.scheme, self.scheme)
        try:
            return fs.FileSystem.from_uri(f"{scheme}://{'/'.join(self._fixed_parts)}")[0]
        except Exception as trouble:  # of many kinds; the words of some hold credentials of the environment
            raise EngineError(
                f"{self.scheme}:// cannot be read by this process ({type(trouble).__name__}).",
                hint="Write engine: spark, or a path of a mounted folder.",
            ) from None

    @property
    def root(self) -> str:
        """The folder below which names vary."""
        return ("/" if self.is_local else "") + "/".join(self._fixed_parts)

    def partitions(self) -> tuple[str, ...]:
        """The names of the batches that have a file, in their order."""
        found: dict[str, None] = {}
        for path, name in self._walk_paths(self.root, self._open_parts, None, None):
            if name is not None and name not in found and next(self._list_files(path), None) is not None:
                found[name] = None
        return tuple(sorted(found, key=lambda each: (partition_sort_key(each), each)))

    def places(self, partition: str) -> list[str]:
        """The files and folders that are this batch; none if it is not there."""
        return sorted(path for path, _ in self._walk_paths(self.root, self._open_parts, None, partition))

    def files(self, partition: str) -> list[BatchFile]:
        """All files of a batch; what is hidden or empty is none."""
        return [each for path in self.places(partition) for each in sorted(self._list_files(path))]

    def no_such_batch(self, dataset: str, partition: str) -> NoSuchBatch:
        """The error of a batch that is not there: what was looked for, and what is there."""
        looked = self.text.replace(PARTITION, partition)
        if not self._is_there(self.root):
            return NoSuchBatch(f"{dataset}: there is no {self.root}.", hint=self._hint_nearest())
        known = self.partitions() if self.has_partition else ()
        if not known:
            seen = ", ".join(sorted(self._list_names(self.root))[:_MAX_NAMES]) or "nothing"
            return NoSuchBatch(f"{dataset}: nothing is at {looked}.", hint=f"In {self.root} there is {seen}.")
        if partition in known:
            return NoSuchBatch(f"{dataset}: {looked} has no files.", hint="Write the batch, then judge it.")
        newest = ", ".join(reversed(known[-_MAX_NAMES:]))
        more = f" and {len(known) - _MAX_NAMES} more" if len(known) > _MAX_NAMES else ""
        return NoSuchBatch(f"{dataset} has no batch {partition}: nothing is at {looked}.", f"There are {newest}{more}.")

    def _hint_nearest(self) -> str:
        above = self._fixed_parts
        while above := above[:-1]:
            folder = ("/" if self.is_local else "") + "/".join(above)
            if self._is_there(folder):
                seen = ", ".join(sorted(self._list_names(folder))[:_MAX_NAMES]) or "nothing"
                return f"In {folder} there is {seen}."
        return "Paths in headgate.yml are relative to its folder."

    def _walk_paths(
        self, base: str, rest: list[str], bound: str | None, wanted: str | None
    ) -> Iterator[tuple[str, str | None]]:
        """The paths that match, each with the name that stands in the partition's place."""
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
            name = part.replace(PARTITION, wanted)  # one look instead of a listing, for a name that is one
            if self._is_there(f"{base}/{name}"):
                yield name, wanted
                return
        fits = _compile_part(part)
        for name in self._list_names(base):
            if not (found := fits.fullmatch(name)):
                continue
            raw = found.groupdict().get("partition", bound)
            if raw is not None and bound is None and not _is_name(raw, wanted):
                continue
            yield name, raw

    def _list_names(self, folder: str) -> list[str]:
        return [name for each in self._list_folder(folder, False) if not _is_hidden(name := each.base_name)]

    def _list_files(self, path: str) -> Iterator[BatchFile]:
        from pyarrow import fs

        info = self._read_info(path)
        listed = [info] if info.type == fs.FileType.File else self._list_folder(path, True)
        for each in listed:
            below = each.path[len(path) :].split("/") if each is not info else []
            if each.type == fs.FileType.File and each.size and not any(map(_is_hidden, below)):
                yield BatchFile(each.path, each.size, each.mtime_ns or 0)

    def _list_folder(self, folder: str, deep: bool) -> list[Any]:
        from pyarrow import fs

        try:
            found: list[Any] = self.filesystem.get_file_info(
                fs.FileSelector(folder, recursive=deep, allow_not_found=True)
            )
        except (OSError, UnicodeDecodeError) as trouble:
            raise EngineError(
                f"{folder} cannot be listed: {_describe_error(trouble)}.", hint="May it be read?"
            ) from None
        return found

    def _read_info(self, path: str) -> Any:
        try:
            return self.filesystem.get_file_info(path)
        except OSError as trouble:
            raise EngineError(
                f"{path} cannot be looked at: {_describe_error(trouble)}.", hint="May it be read?"
            ) from None

    def _is_there(self, path: str) -> bool:
        from pyarrow import fs

        return bool(self._read_info(path).type != fs.FileType.NotFound)


def _compile_part(part: str) -> re.Pattern[str]:
    text = re.escape(part).replace(r"\*", "[^/]*")
    first, *others = text.split(re.escape(PARTITION))
    if not others:
        return re.compile(text, re.DOTALL)
    return re.compile(f"{first}(?P<partition>.+){'(?P=partition)'.join(others)}", re.DOTALL)


def _is_name(raw: str, wanted: str | None) -> bool:
    if wanted is not None:
        return wanted in (raw, _decode_name(raw))
    return len(raw) <= LONGEST_NAME


def _decode_name(raw: str) -> str:
    """The name that Hive and Spark wrote with percent signs.

    >>> _decode_name("2026-11-14 06%3A00"), _decode_name("100%")
    ('2026-11-14 06:00', '100%')
    """
    name = unquote(raw, errors="replace")
    return raw if "\ufffd" in name else name


def _is_hidden(name: str) -> bool:
    return name.startswith(("_", ".")) and "=" not in name


def _describe_error(trouble: Exception) -> str:
    return (getattr(trouble, "strerror", None) or str(trouble) or type(trouble).__name__).rstrip(".")
