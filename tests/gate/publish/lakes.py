"""Publishers with the job that stages and the reader who looks, for the tests that every publisher must pass."""

from __future__ import annotations

import abc
import itertools
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headgate.gate.publish.folders import Folders
from headgate.gate.publish.publisher import Delivery, Part, Publisher
from headgate.gate.publish.table_publisher import PartitionMarks, TablePublisher
from headgate.gate.publish.table_refs import Ref, Refs, name_staged
from headgate.store.fault_points import fault_point

DAY = "day=2026-11-14"
FILES = ("part-0.txt", "part-1.txt", "part-2.txt")


class Lake(abc.ABC):
    """A publisher with the job that stages and the reader who looks. A batch is a text."""

    has_gaps: bool = False
    """Whether readers may miss a partition while it is replaced."""
    least_steps: int = 2
    """Steps of a call at which it can be killed, at least."""

    @property
    @abc.abstractmethod
    def publisher(self) -> Publisher:
        """A fresh one, as a new process would have."""

    @abc.abstractmethod
    def stage(self, batch: Delivery, text: str) -> Delivery:
        """Stage a batch. Returns the batch."""

    @abc.abstractmethod
    def seen(self, partition: str = DAY) -> str | None:
        """What readers see of a partition; a batch that is not whole fails the test."""

    @abc.abstractmethod
    def read_at(self, where: str) -> str:
        """The batch at a place that the publisher told."""

    @abc.abstractmethod
    def has(self, where: str) -> bool:
        """Whether there is something at a place that the publisher told."""

    @abc.abstractmethod
    def beside(self, name: str) -> Lake:
        """Another one, empty."""

    def edit(self, where: str, text: str) -> bool:
        """Change the batch at a place. False if nobody can."""
        return False


# --- folders


def stage_folder(place: Path, text: str) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for name in FILES:
        (place / name).write_text(text)


def read_folder(place: Path) -> str:
    found = {name: (place / name).read_text() for name in sorted(each.name for each in place.iterdir())}
    assert tuple(found) == FILES, "a part of a batch"
    assert len(set(found.values())) == 1, "a mixture of batches"
    return found[FILES[0]]


def stage_file(place: Path, text: str) -> None:
    place.write_text(text)


@dataclass
class FolderLake(Lake):
    least_steps = 4
    root: Path
    manifest: bool
    stage_at: Callable[[Path, str], None]
    read: Callable[[Path], str]

    @property
    def has_gaps(self) -> bool:  # type: ignore[override]
        return not self.manifest

    @property
    def publisher(self) -> Folders:
        return Folders(self.root, manifest=self.manifest)

    def stage(self, batch: Delivery, text: str) -> Delivery:
        self.stage_at(self.publisher.staging_path(batch.partition, batch.part), text)
        return batch

    def seen(self, partition: str = DAY) -> str | None:
        place = self.publisher.paths().get(partition)
        return None if place is None else self.read(place)

    def read_at(self, where: str) -> str:
        return self.read(Path(where))

    def has(self, where: str) -> bool:
        return Path(where).exists()

    def beside(self, name: str) -> FolderLake:
        return FolderLake(self.root / name, self.manifest, self.stage_at, self.read)

    def edit(self, where: str, text: str) -> bool:
        self.stage_at(Path(where), text)
        return True


# --- a table in memory, with the commits of a format that refuses a change of a partition that has changed


@dataclass
class MemoryTable:
    """Data by what identifies it, the refs, what readers see of each partition, and the notes."""

    data: dict[str, tuple[str, str | None, str]] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    main: dict[str, str] = field(default_factory=dict)
    commits: list[str] = field(default_factory=list)
    notes: dict[tuple[str, int], Delivery] = field(default_factory=dict)
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    lock: threading.Lock = field(default_factory=threading.Lock)


class MemoryPublisher(TablePublisher):
    table = "memory"

    def __init__(self, memory: MemoryTable) -> None:
        self.memory = memory

    def stage(self, partition: str, part: Part, text: str) -> str:
        before = Refs.choose(self.list_refs(), partition)
        source = f"memory:{next(self.memory.numbers)}"
        self.memory.data[source] = (partition, self.memory.main.get(partition), text)
        self.add_ref(name_staged(partition, part, source), source)
        for each in before.all:
            if each.kind == "staged" and each.part == part:
                self.remove_refs([each])
        return source

    def list_refs(self) -> list[Ref]:
        found = (Ref.parse(name, source) for name, source in list(self.memory.refs.items()))
        return [each for each in found if each is not None]

    def add_ref(self, name: str, source: str) -> None:
        self.memory.refs.setdefault(name, source)

    def remove_refs(self, refs: Sequence[Ref]) -> None:
        for each in refs:
            fault_point("memory.remove_ref")
            self.memory.refs.pop(each.name, None)

    def is_shown(self, source: str) -> bool:
        return source in self.memory.commits

    def show(self, delivery: Delivery, source: str) -> None:
        with self.memory.lock:
            if self.is_shown(source):
                return
            _, base, _ = self.memory.data[source]
            if self.memory.main.get(delivery.partition) != base:
                self._require_taken(delivery)  # the partition has changed: only a newer revision takes its place
            self.memory.main[delivery.partition] = source
            self.memory.commits.append(source)

    def read_marks(self, partition: str) -> PartitionMarks:
        refs = Refs.choose(self.list_refs(), partition)
        noted = [each for each in self.memory.notes.values() if each.partition == partition]
        return PartitionMarks(refs, max(noted, key=lambda each: each.number, default=None))

    def write_note(self, delivery: Delivery) -> None:
        self.memory.notes[delivery.partition, delivery.number] = delivery

    def is_kept(self, delivery: Delivery) -> bool:
        return delivery.partition in self.memory.main

    def name_partitions(self, refs: Sequence[Ref]) -> list[str]:
        return [self.memory.data[each.source][0] for each in refs]

    def describe(self, ref: Ref | None) -> str:
        return "main" if ref is None else ref.name


@dataclass
class MemoryLake(Lake):
    memory: MemoryTable = field(default_factory=MemoryTable)

    @property
    def publisher(self) -> MemoryPublisher:
        return MemoryPublisher(self.memory)

    def stage(self, batch: Delivery, text: str) -> Delivery:
        self.publisher.stage(batch.partition, batch.part, text)
        return batch

    def seen(self, partition: str = DAY) -> str | None:
        source = self.memory.main.get(partition)
        return None if source is None else self.memory.data[source][2]

    def read_at(self, where: str) -> str:
        return self.seen() or "" if where == "main" else self.memory.data[self.memory.refs[where]][2]

    def has(self, where: str) -> bool:
        return where in self.memory.refs

    def beside(self, name: str) -> MemoryLake:
        return MemoryLake()


LAKES: dict[str, Callable[[Path], Lake]] = {
    "plain folders": lambda path: FolderLake(path, False, stage_folder, read_folder),
    "plain files": lambda path: FolderLake(path, False, stage_file, Path.read_text),
    "manifest folders": lambda path: FolderLake(path, True, stage_folder, read_folder),
    "manifest files": lambda path: FolderLake(path, True, stage_file, Path.read_text),
    "a table in memory": lambda path: MemoryLake(),
}
