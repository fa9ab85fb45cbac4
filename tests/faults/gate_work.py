"""What is done while faults are tried on a gate: a job stages batches, the gate judges them, a person decides."""

from __future__ import annotations

import os
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from headgate.checks.check import Check
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.gate.history import content_of
from headgate.gate.publish.folders import Folders
from headgate.store.fault_points import watch
from headgate.store.files import log
from headgate.store.open import open_store
from headgate.store.port import HistoryStore
from headgate.values.run import Decision
from headgate.values.verdict import Verdict
from tests.faults.work import Doom

FILES = ("part-0.txt", "part-1.txt", "part-2.txt")
OFTEN = 5  # entries between checkpoints, so that short histories have them
CHECK = Check("orders").is_complete("id").is_unique("id")
ROWS = 40
FEW = 5  # runs to learn from: which columns there are, but no ranges, which take more runs and more time

WORDS: dict[Decision, Callable[..., Any]] = {
    Decision.ACCEPTED: Gate.accept,
    Decision.REJECTED: Gate.reject,
    Decision.RELEASED: Gate.release,
    Decision.DISCARDED: Gate.discard,
}


@dataclass(frozen=True)
class Batch:
    """One input of a partition. `flaw` says how it is broken, `named` whether the job knows a fingerprint of it, `word`
    what a person decides about it once it is judged."""

    partition: str
    seed: int
    flaw: str = ""
    named: bool = True
    word: Decision | None = None

    @property
    def text(self) -> str:
        """What its staged files hold."""
        return f"{self.partition}|{self.seed}|{self.flaw}"

    @property
    def fingerprint(self) -> str | None:
        return f"input {self.seed} {self.flaw}" if self.named else None

    def data(self) -> Any:
        """`nulls` breaks what was declared, `gone` what was learned; `unread` breaks off in the middle."""
        whole = orders(self.seed)
        if self.flaw == "nulls":
            return whole.set_column(0, "id", pa.array([None, None, *range(2, len(whole))]))
        if self.flaw == "gone":
            return whole.drop_columns("price")
        return breaking(whole) if self.flaw == "unread" else whole


def orders(seed: int, rows: int = ROWS) -> pa.Table:
    """A small table; another for every seed, all alike."""
    chance = np.random.default_rng(seed)
    prices, countries = chance.lognormal(3, 0.5, rows), chance.choice(["DE", "FR", "US"], rows, p=[0.5, 0.3, 0.2])
    return pa.table({"id": np.arange(rows) + 1, "price": np.round(prices, 2), "country": countries})


def breaking(whole: pa.Table) -> pa.RecordBatchReader:
    """Half of the rows, then trouble."""

    def batches() -> Iterator[pa.RecordBatch]:
        yield from whole.slice(0, len(whole) // 2).to_batches()
        raise OSError("the disk of the batch is gone")

    return pa.RecordBatchReader.from_batches(whole.schema, batches())


@dataclass(frozen=True)
class Lake:
    """The folders of one dataset and its history: the job writes there, readers look there."""

    url: str
    dataset: str
    root: Path
    manifest: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    runs: int = FEW

    @property
    def folders(self) -> Folders:
        """As a new process opens them."""
        return Folders(self.root, manifest=self.manifest)

    def gate(self, store: HistoryStore) -> Gate:
        publisher = self.folders
        return Gate(self.dataset, store=store, checks=CHECK, learn=("history",), runs=self.runs, publisher=publisher)

    def judge(self, batch: Batch) -> BatchVerdict:
        """The job from beginning to end, by a gate of its own."""
        self.stage(batch)
        with closing(open_store(self.url)) as store:
            return judged(self.gate(store), batch)

    def stage(self, batch: Batch) -> None:
        place = self.folders.staging_path(batch.partition)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for name in FILES:
            (place / name).write_text(batch.text)

    def seen(self) -> dict[str, str]:
        """By partition, the text of what readers see; a batch that is not whole fails the test."""
        found = {name: whole(place) for name, place in self.folders.paths().items()}
        if not self.manifest:  # readers do not ask: they list the folder
            places = [each for each in (self.root / "published").iterdir() if not each.name.startswith("_")]
            assert sorted(map(whole, places)) == sorted(found.values()), "there is a batch that no manifest names"
        return found

    def kept(self) -> set[str]:
        """The texts of all batches that are somewhere on the disk, to be published or not."""
        return {path.read_text() for path in self.root.rglob(FILES[-1])}


def whole(place: Path) -> str:
    """The one text of all files of a batch."""
    found = {each.name: each.read_text() for each in place.iterdir()}
    assert tuple(sorted(found)) == FILES, "a part of a batch"
    assert len(set(found.values())) == 1, "a mixture of batches"
    return found[FILES[0]]


def judged(gate: Gate, batch: Batch) -> BatchVerdict:
    return gate.judge(batch.data(), batch.partition, fingerprint=batch.fingerprint)


def printed_as(fingerprint: str) -> str:
    """A fingerprint without what no second try has: a batch that could not be read gets a name of its own each time,
    and one that was withdrawn and staged again is named after that."""
    return "unread" if fingerprint.startswith("unread:") else content_of(fingerprint)


def summed(verdict: Verdict) -> list[tuple[object, ...]]:
    """What a verdict says, without the words of errors, which stores may shorten."""
    return [(str(each.expectation), each.status, each.value) for each in verdict.judgements]


@dataclass(frozen=True)
class Told:
    """What the driver heard from the gate: of a verdict, or of a person's word that was carried out."""

    batch: Batch
    kind: str
    number: int
    sequence: int
    attempt: str = ""
    status: str = ""
    action: str = ""
    decision: Decision | None = None

    @classmethod
    def of(cls, batch: Batch, verdict: BatchVerdict) -> Told:
        made, status, action = verdict.revision, verdict.status.value, verdict.action.value
        return cls(batch, "verdict", made.number, made.sequence, made.attempt, status, action, verdict.decision)


@dataclass(frozen=True)
class Task:
    """What is left to do about a batch: `judged` is the revision of a verdict that was heard, `staged` if the job is
    known to have written it."""

    batch: Batch
    judged: int = 0
    staged: bool = False


def do(lake: Lake, gate: Gate, tasks: list[Task], tell: Callable[[object], None]) -> None:
    for task in tasks:
        batch, number = task.batch, task.judged
        if not number:
            if not task.staged:
                lake.stage(batch)
                tell(batch)
            verdict = judged(gate, batch)
            number = verdict.revision.number
            tell(Told.of(batch, verdict))
        if batch.word is not None:
            (ruling,) = WORDS[batch.word](gate, batch.partition, who="ann", number=number)
            tell(Told(batch, "word", ruling.number, ruling.sequence, decision=ruling.decision))


def driver(lake: Lake, tasks: list[Task], doom: Doom | None, pipe: Connection) -> None:
    """The whole life of a driver. The last thing it sends, if it comes so far, is how often it came to each step."""
    os.environ.update(lake.environment)
    log.CHECKPOINT_AFTER = OFTEN
    seen: Counter[str] = Counter()

    def watcher(name: str) -> None:
        seen[name] += 1
        if doom is not None and (name, seen[name]) == (doom.step, doom.times):
            os.kill(os.getpid(), signal.SIGKILL)

    with watch(watcher):
        pipe.send("begun")
        with closing(open_store(lake.url)) as store:
            do(lake, lake.gate(store), tasks, pipe.send)
    pipe.send(seen)
