"""The smallest world in which the protocol can go wrong: one partition, two jobs with a gate each, and a person.

Everything in it is the real code, but for the data: an input is a short text in one file, and is measured beforehand.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

import headgate as hg
from headgate.engine.analysis import Analysis
from headgate.gate.notification import Notification
from headgate.gate.publish.folders import Folders
from headgate.gate.publish.publisher import Delivery
from headgate.metrics.checksum import Checksum
from headgate.store.fault_points import fault_point
from headgate.store.memory import MemoryStore
from headgate.values.errors import MisuseError, PublishError
from headgate.values.expectation import Status
from headgate.values.run import Decision, Revision, Ruling
from tests.model.actors import Actor

PARTITION = "p"
CHECK = hg.Check("orders").is_complete("id")
OPENS = (Decision.ACCEPTED, Decision.RELEASED)


class Story(NamedTuple):
    """What happens, in whatever order: the inputs of the two jobs, and what the person says of the first held batch;
    or "recover", if there is no person, but another process that recovers.

    An input is `good` or `bad` with a number; the same text is the same rows. `crashes` are the numbers of the fault
    points at which the jobs and the person die, 0 if they do not.
    """

    first: str
    second: str
    word: str = ""
    crashes: tuple[int, int, int] = (0, 0, 0)


class Broken(AssertionError):
    """A promise that was not kept."""


@cache
def measure(text: str) -> Analysis:
    """An input as it is scanned; a bad one has a null."""
    kind, _, number = text.partition(" ")
    ids = [int(number), int(number) + 1 if kind == "good" else None]
    return hg.analyze(pa.table({"id": pa.array(ids, pa.int64())}), ["size()", "completeness(id)", Checksum()])


class World:
    """The folders, the history, and who knows what."""

    def __init__(self, root: Path, story: Story, manifest: bool) -> None:
        self.root = root
        self.folders = Folders(root, manifest=manifest)
        self.store = MemoryStore(hide=False)
        self.story = story
        self.notifications: list[Notification] = []
        self.staged: list[str] = []  # the inputs that a job has staged, in order
        self.texts: dict[str, str] = {}  # the input of every run, by its attempt
        self.words: set[str] = set()  # the inputs that the person read about and let through
        self.newest_shown = 0
        self.is_quiet = False  # whether both jobs have ended

    def actors(self) -> list[Actor]:
        first, second, word = self.story.crashes
        works: list[tuple[str, Callable[[], None], int]] = [
            ("first job", lambda: self.run_job(self.story.first), first),
            ("second job", lambda: self.run_job(self.story.second), second),
        ]
        if self.story.word == "recover":
            works.append(("another process", self.recover_meanwhile, word))
        elif self.story.word:
            works.append(("person", self.decide, word))
        return [Actor(*each) for each in works]

    # --- what actors do

    def make_gate(self) -> hg.Gate:
        """As another process has it."""
        folders = Folders(self.root, manifest=self.folders.manifest)
        return hg.Gate(
            "orders", store=self.store, checks=CHECK, learn=(), publisher=folders, notify=self.notifications.append
        )

    def run_job(self, text: str) -> None:
        """Stage an input, then judge what is staged."""
        self.stage(text)
        fault_point("job.staged")
        self.judge_staged()

    def stage(self, text: str) -> None:
        place, written = self.folders.staging_path(PARTITION), self.root / f"written {len(self.staged)}"
        written.mkdir()
        (written / "rows").write_text(text)
        shutil.rmtree(place, ignore_errors=True)
        written.rename(place)
        self.staged.append(text)

    def judge_staged(self) -> None:
        """What `headgate run` does with one partition."""
        seen: list[str] = []

        def read() -> Analysis:
            seen.append((self.folders.staging_path(PARTITION) / "rows").read_text())
            return measure(seen[0])

        with suppress(PublishError):  # told to the job, which tries again
            self.make_gate().judge(read, PARTITION)

    def recover_meanwhile(self) -> None:
        """Another process recovers while the jobs are at work."""
        with suppress(PublishError):
            self.make_gate().recover()

    def decide(self) -> None:
        """A person reads of a held batch, and says so of that revision."""
        from tests.model import actors

        me: Actor = actors._current.actor
        if not self.held:
            return
        revision = self.held[0].revision
        text = self.text_of(revision)
        if self.story.word in ("accept", "release"):
            self.words.add(text)
        me.pause()  # they think
        with suppress(PublishError, MisuseError):  # told to the person
            getattr(self.make_gate(), self.story.word)(PARTITION, number=revision, who="ann")

    @property
    def held(self) -> list[Notification]:
        """What a person was told about held batches."""
        return [each for each in self.notifications if each.action == Decision.HELD]

    # --- what must be true

    def revisions(self) -> tuple[Revision, ...]:
        return self.store.revisions("orders", PARTITION)

    def text_of(self, number: int) -> str:
        """The input of a revision, known by its checksum."""
        (revision,) = (each for each in self.revisions() if each.number == number)
        return self.text_of_run(revision)

    def text_of_run(self, revision: Revision) -> str:
        if revision.unread:
            raise Broken(f"revision {revision.number} is recorded as unreadable, but another gate has taken it")
        checksum = self.store.run(revision).states[Checksum().state_key]
        return next(text for text in set(self.staged) if measure(text).states[Checksum().state_key] == checksum)

    def shown(self) -> str | None:
        """What readers see."""
        found = self.folders.paths().get(PARTITION)
        if found is None:
            return None
        return (found / "rows").read_text()

    def check_always(self) -> None:
        """Whatever is interrupted: nothing is seen that was not let in, and nothing older than before."""
        text = self.shown()
        if text is None:
            return
        passed = any(self.text_of_run(each) == text for each in self.revisions() if each.status is Status.PASS)
        if not passed and text not in self.words:
            raise Broken(f"readers see {text!r} without a pass of it, or a word about it")
        current = self.folders.find_published("orders", PARTITION)
        assert current is not None
        if current.number < self.newest_shown:
            raise Broken(f"revision {current.number} has replaced revision {self.newest_shown}")
        self.newest_shown = current.number

    def check_end(self) -> None:
        """After recovery everything is published, held, or was dropped on purpose, and the history says so."""
        if self.store.find_undecided("orders"):
            raise Broken("a revision waits for ever")
        if self.folders.identify_staged(PARTITION):
            raise Broken("a batch is staged for ever")
        rulings = self.store.rulings("orders", PARTITION)
        for revision in self.revisions():
            self._check_revision(revision, [each for each in rulings if each.number == revision.number])
        if self.staged and self.staged[-1] not in map(self.text_of_run, self.revisions()):
            raise Broken(f"{self.staged[-1]!r} was staged last, and is in no revision")
        self._check_kept()
        self._check_readers()

    def _check_revision(self, revision: Revision, rulings: list[Ruling]) -> None:
        lies, name = self.folders.state(Delivery.of(revision)), f"revision {revision.number}"
        match revision.decision:
            case Decision.PUBLISHED | Decision.ACCEPTED | Decision.RELEASED:
                current = self.folders.find_published("orders", PARTITION)
                replaced = current is not None and current.number > revision.number
                if lies != "published" and not replaced:
                    raise Broken(f"{name} is called {revision.decision} and is {lies}")
            case Decision.HELD:
                if lies != "held":
                    raise Broken(f"{name} is called held and is {lies}")
            case Decision.WITHDRAWN | Decision.DISCARDED:
                if lies != "absent":
                    raise Broken(f"{name} is called {revision.decision} and is {lies}")
        made = [(each.decision, each.who) for each in rulings]
        if len(set(made)) != len(made):
            raise Broken(f"a decision about {name} is recorded twice: {made}")

    def _check_kept(self) -> None:
        """No input is lost that nobody dropped, but one that a job has overwritten in staging itself."""
        kept = {path.read_text() for path in self.root.rglob("rows")}
        dropped = {self.text_of_run(each) for each in self.revisions() if each.decision is Decision.DISCARDED}
        overwritten = set(self.staged[:-1])
        lost = set(self.staged) - kept - dropped - overwritten
        if lost:
            raise Broken(f"{sorted(lost)} is nowhere")

    def _check_readers(self) -> None:
        """Readers see the newest batch that was let in."""
        let_in = [each for each in self.revisions() if each.decision in (Decision.PUBLISHED, *OPENS)]
        rejected = any(each.decision is Decision.REJECTED for each in self.revisions())
        text = self.shown()
        if let_in and not rejected and text != self.text_of_run(let_in[-1]):
            raise Broken(f"readers see {text!r}, not revision {let_in[-1].number}")

    def recover(self) -> None:
        """What `headgate run` does: finish, then judge what is staged."""
        gate = self.make_gate()
        try:
            gate.recover()
        except PublishError as error:
            raise Broken(f"recover cannot end: {error}") from error
        staged, known = self.folders.identify_staged(PARTITION), self.revisions()
        is_new = not known or known[-1].source != staged or known[-1].decision is Decision.WITHDRAWN
        if staged and is_new:
            self.judge_staged()
