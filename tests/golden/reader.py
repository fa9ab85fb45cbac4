"""A reader of stored files that knows what docs/format.md says and nothing else: no part of the package is used."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa


class Refused(Exception):
    """The bytes are not what they should be."""


class Envelope(NamedTuple):
    tag: str
    key: str
    body: bytes
    length: int


def envelope(data: bytes) -> Envelope:
    """The first envelope in these bytes."""
    if len(data) < 50 or data[:4] != b"HGTE":
        raise Refused("no envelope")
    version, head, body = struct.unpack(">HIQ", data[4:18])
    length = 18 + head + body + 32
    if hashlib.sha256(data[: length - 32]).digest() != data[length - 32 : length]:
        raise Refused("the checksum does not match")
    if version not in (1, 2):
        raise Refused("a newer format")
    top, inside = plain(data[18 : 18 + head]), data[18 + head : 18 + head + body]
    raw = top.get("raw", 0)
    if raw:
        if raw > min(2**30, 200 * len(inside) + 2**22):
            raise Refused("it would expand too far")
        inside = pa.decompress(inside, decompressed_size=raw, codec="zstd", asbytes=True)
    return Envelope(top["tag"], top["key"], inside, length)


def plain(data: bytes) -> Any:
    """MessagePack as dictionaries, lists, texts, bytes and numbers."""
    return msgspec.msgpack.decode(data, strict=False)


def body(data: bytes, tag: str, key: str) -> bytes:
    found = envelope(data)
    if (found.tag, found.key) != (tag, key):
        raise Refused(f"{found.tag} of {found.key}")
    return found.body


class Store:
    """A store in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        if plain(body((root / "store.hg").read_bytes(), "store", ""))["format"] != 1:
            raise Refused("a newer store")

    def logs(self) -> dict[str, list[dict[str, Any]]]:
        """Every dataset's entries in order; of runs also their numbers, details and states."""
        found = {}
        for folder in sorted(path.parent for path in self.root.glob("*/log")):
            paths = sorted((folder / "log").iterdir())
            name = envelope(paths[0].read_bytes()).key.rpartition("#")[0]
            digest = hashlib.sha256(name.encode()).hexdigest()
            if not folder.name.endswith(f"-{digest[:16]}"):
                raise Refused("a folder of another dataset")
            found[name] = [self.entry(folder, path, name, at) for at, path in enumerate(paths, 1)]
        return found

    def entry(self, folder: Path, path: Path, name: str, sequence: int) -> dict[str, Any]:
        data = path.read_bytes()
        first = envelope(data)
        if (first.tag, first.key, path.name) != ("log_entry", f"{name}#{sequence}", f"{sequence:020}.hg"):
            raise Refused("an entry that is not in its place")
        entry: dict[str, Any] = plain(first.body)
        return entry | self.parts(folder, data[first.length :], entry) if entry["revision"] else entry

    def parts(self, folder: Path, rest: bytes, entry: dict[str, Any]) -> dict[str, Any]:
        places, key = entry["parts"], run_key(entry["revision"])

        def part(name: str) -> bytes:
            offset, length = places[name]
            return rest[offset : offset + length]

        numbers = body(part("numbers"), "numbers", key)
        lengths = body(part("index"), "state_index", key)
        states, at = {}, 0
        sizes = struct.unpack(f"<{len(lengths) // 8}Q", lengths)
        for state, size in zip(self.layout(folder, places["state_keys"]), sizes, strict=True):
            found = envelope(part("states")[at : at + size])
            states[state], at = plain(found.body), at + size
            if (found.key, found.tag) != (state, states[state]["type"]):
                raise Refused("a state under another's key")
        values = struct.unpack(f"<{len(numbers) // 8}d", numbers)
        names = self.layout(folder, places["number_keys"])
        return {
            "numbers": dict(zip(names, values, strict=True)),
            "details": plain(body(part("details"), "run_details", key)),
            "states": states,
        }

    def layout(self, folder: Path, digest: str) -> list[str]:
        data = body((folder / "layouts" / f"{digest}.hg").read_bytes(), "layout", digest)
        if hashlib.sha256(data).hexdigest() != digest:
            raise Refused("another layout")
        keys: list[str] = plain(data)
        return keys


def run_key(revision: dict[str, Any]) -> str:
    whole = hashlib.sha256()
    for field in ("dataset", "partition", "fingerprint", "suite"):
        text = revision[field].encode()
        whole.update(len(text).to_bytes(8, "big") + text)
    return whole.hexdigest()
