"""The paths of objects in a store of files, made of safe characters whatever the name of the dataset."""

from __future__ import annotations

import hashlib
import re

STORE = "store.hg"
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_READABLE = 60
_FOLDER = re.compile(rf"[A-Za-z0-9_-]{{0,{_READABLE}}}-[0-9a-f]{{16}}")


def dataset_folder(name: str) -> str:
    """The folder of a dataset: the start of its name with unsafe characters replaced, and a hash of the whole name.

    >>> dataset_folder("../orders")
    '___orders-b20e674b4c5892f0'
    """
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{_UNSAFE.sub('_', name)[:_READABLE]}-{digest[:16]}"


def is_dataset_folder(name: str) -> bool:
    return _FOLDER.fullmatch(name) is not None


def entry_path(folder: str, sequence: int) -> str:
    return f"{log_folder(folder)}/{object_name(sequence)}"


def log_folder(folder: str) -> str:
    return f"{folder}/log"


def layout_path(folder: str, digest: str) -> str:
    return f"{folder}/layouts/{digest}.hg"


def checkpoint_path(folder: str, sequence: int) -> str:
    return f"{checkpoints_folder(folder)}/{object_name(sequence)}"


def checkpoints_folder(folder: str) -> str:
    return f"{folder}/checkpoints"


def parse_sequences(names: list[str]) -> list[int]:
    """The numbers of numbered objects, ascending; other names are ignored."""
    return sorted(int(name[:-3]) for name in names if re.fullmatch(r"[0-9]{20}\.hg", name))


def object_name(sequence: int) -> str:
    """The name of a numbered object; names sort as their numbers do."""
    return f"{sequence:020}.hg"
