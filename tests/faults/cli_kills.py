"""F1 through the command line: kill -9 of `headgate run` and of rulings at every named step, then one more run."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from headgate.gate.publish.folders import Folders
from headgate.gate.publish.publisher import Delivery
from headgate.store.fault_points import watch
from headgate.store.files import log
from headgate.store.open import open_store
from headgate.store.port import HistoryStore
from headgate.values.expectation import Status
from headgate.values.run import Decision, Revision
from tests.faults.backends import Backend, unique
from tests.faults.table import Row
from tests.faults.work import Doom, heard, started

_CONFIG = """\
store: {url}
datasets:
  {dataset}:
    source: {{format: parquet, path: "lake/staging/{{partition}}"}}
    publish: lake
    learn: []
    checks:
      - is_complete: id
"""
_LATEST = 4  # times that a step is passed at most before the kill
_RULINGS = {
    "accept": Decision.ACCEPTED,
    "reject": Decision.REJECTED,
    "release": Decision.RELEASED,
    "discard": Decision.DISCARDED,
}
_OPENS = (Decision.ACCEPTED, Decision.RELEASED)


@dataclass(frozen=True)
class Input:
    """What a job stages for a partition; a bad one has a null."""

    partition: str
    seed: int
    is_good: bool

    def table(self) -> pa.Table:
        ids = [self.seed * 10 + number for number in range(5)]
        return pa.table({"id": pa.array(ids if self.is_good else [*ids[:4], None], pa.int64())})


@dataclass
class Project:
    """A folder with a headgate.yml, a lake and a history, and all that was staged in it."""

    folder: Path
    dataset: str
    url: str
    environment: dict[str, str]
    staged: list[Input] = field(default_factory=list)
    ruled: dict[tuple[str, int], Decision] = field(default_factory=dict)  # by partition and revision

    @classmethod
    def begun(cls, backend: Backend, folder: Path) -> Project:
        made = cls(folder, unique("orders").replace(" ", "-"), backend.url(), backend.environment)
        folder.mkdir(parents=True)
        (folder / "headgate.yml").write_text(_CONFIG.format(url=made.url, dataset=made.dataset))
        (folder / "lake" / "staging").mkdir(parents=True)
        return made

    @property
    def folders(self) -> Folders:
        return Folders(self.folder / "lake")

    def stage(self, given: Input) -> None:
        place = self.folders.staging_path(given.partition)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        pq.write_table(given.table(), place / "part-0.parquet")
        self.staged.append(given)

    def call(self, words: list[str], doom: Doom | None = None) -> tuple[int, Counter[str]]:
        """The exit code of a command, and how often it came to each step."""
        seen: Counter[str] = Counter()
        with started(run_command, self.folder, self.environment, words, doom) as (process, pipe):
            for said in heard(pipe):
                seen += said
            process.join()
            assert process.exitcode is not None
            return process.exitcode, seen

    def open_store(self) -> HistoryStore:
        os.environ.update(self.environment)
        return open_store(self.url)

    def inputs(self, partition: str) -> list[Input]:
        return [each for each in self.staged if each.partition == partition]

    def rows_of(self, place: Path) -> Input | None:
        """Which input lies in a folder."""
        rows = pq.read_table(place / "part-0.parquet")
        return next((each for each in self.staged if each.table() == rows), None)


def run_command(
    folder: Path, environment: dict[str, str], words: list[str], doom: Doom | None, pipe: Connection
) -> None:
    """The whole life of a command. The last thing that it sends, if it lives, is how often it came to each step."""
    from headgate.cli.app import main

    os.environ.update(environment)
    os.chdir(folder)
    log.CHECKPOINT_AFTER = 5
    with open("said", "a") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    seen: Counter[str] = Counter()

    def watcher(name: str) -> None:
        seen[name] += 1
        if doom is not None and (name, seen[name]) == (doom.step, doom.times):
            os.kill(os.getpid(), signal.SIGKILL)

    sys.argv = ["headgate", *words]
    with watch(watcher):
        try:
            main()
        finally:
            pipe.send(seen)


def killed(backend: Backend, folder: Path, kills: int, seed: int) -> Row:
    """So many kills, each followed by one more `headgate run`, after which everything must be in its place."""
    row, begun = Row("F1 kill -9 of the command line", backend.name), time.monotonic()
    chance = random.Random(f"cli {seed} {backend.name}")
    codes: Counter[int] = Counter()
    while row.kills < kills:
        project = Project.begun(backend, folder / f"cli-{row.trials}")
        row.trials += 1
        for words, inputs in _story(chance):
            for each in inputs:
                project.stage(each)
            if words[0] == "run":
                _run_and_kill(project, row, chance, codes)
            else:
                _rule_and_kill(project, words, row, chance)
        shutil.rmtree(project.folder)
    row.seconds = time.monotonic() - begun
    row.notes = f"{row.trials} projects; exit codes of the runs after kills {dict(sorted(codes.items()))}"
    return row


def _story(chance: random.Random) -> Iterator[tuple[list[str], list[Input]]]:
    """Some days, each with a run; bad ones are ruled on or repaired, good ones now and then corrected."""
    seeds = iter(range(1, 99))
    for day in range(1, 5):
        partition = f"2026-11-{day:02}"
        first = Input(partition, next(seeds), chance.random() < 0.5)
        yield ["run"], [first]
        if chance.random() < 0.4:
            yield ["run"], [Input(partition, next(seeds), chance.random() < 0.7)]
        elif not first.is_good:
            yield [chance.choice(sorted(_RULINGS)), partition], []


_steps: dict[tuple[str, bool], Counter[str]] = {}


def _choose_doom(project: Project, words: list[str], row: Row, chance: random.Random) -> Doom:
    """A step that was hit least so far, of those that such a command takes."""
    known = _steps.get((row.backend, words[0] == "run")) or Counter({"gate.committed": 1})
    least = min(row.points[name] for name in known)
    name = chance.choice(sorted(each for each in known if row.points[each] == least))
    return Doom(name, chance.randint(1, min(_LATEST, known[name])))


def _learn_steps(words: list[str], row: Row, seen: Counter[str]) -> None:
    key = (row.backend, words[0] == "run")
    _steps[key] = _steps.get(key, Counter()) | seen


def _run_and_kill(project: Project, row: Row, chance: random.Random, codes: Counter[int]) -> None:
    was_killed = False
    for _ in range(chance.randint(1, 2)):
        doom = _choose_doom(project, ["run"], row, chance)
        code, seen = project.call(["run"], doom)
        _learn_steps(["run"], row, seen)
        row.leaked += _count_leaks(project)
        if code == -signal.SIGKILL:
            was_killed = True
            row.kills += 1
            row.points[doom.step] += 1
    expected = _expected_code(project)
    code, seen = project.call(["run"])
    _learn_steps(["run"], row, seen)
    if was_killed:
        codes[code] += 1
    assert code == expected, f"exit code {code}, not {expected}: {(project.folder / 'said').read_text()[-2000:]}"
    _look(project, row)


def _rule_and_kill(project: Project, words: list[str], row: Row, chance: random.Random) -> None:
    """A person rules on the newest revision of a partition, and says so again if nobody answered."""
    action, partition = words
    with closing(project.open_store()) as store:
        newest = store.revisions(project.dataset, partition)[-1]
    call = [action, project.dataset, partition, "--revision", str(newest.number), "--who", "ann"]
    doom = _choose_doom(project, words, row, chance)
    code, seen = project.call(call, doom)
    _learn_steps(words, row, seen)
    if code == -signal.SIGKILL:
        row.kills += 1
        row.points[doom.step] += 1
    with closing(project.open_store()) as store:
        ruled = store.revisions(project.dataset, partition)[-1].decision is _RULINGS[action]
    if not ruled:
        code, seen = project.call(call)
        _learn_steps(words, row, seen)
        assert code == 0, (project.folder / "said").read_text()[-2000:]
    project.ruled[partition, newest.number] = _RULINGS[action]
    code, _ = project.call(["run"])
    assert code == 0, f"exit code {code} after a ruling: {(project.folder / 'said').read_text()[-2000:]}"
    _look(project, row)


def _expected_code(project: Project) -> int:
    """What the next run must end with: 1 if a batch that it judges or finishes is bad."""
    with closing(project.open_store()) as store:
        undecided = {each.partition for each in store.find_undecided(project.dataset)}
        known = {each.partition: each for each in store.revisions(project.dataset)}
    folders, code = project.folders, 0
    for partition in {each.partition for each in project.staged}:
        staged = folders.identify_staged(partition)
        if partition in undecided:
            code |= known[partition].status is not Status.PASS
        elif staged and (partition not in known or known[partition].source != staged):
            code |= not project.inputs(partition)[-1].is_good
    return int(code)


def _count_leaks(project: Project) -> int:
    """Batches that readers see without a pass of exactly their rows, or a ruling about them."""
    with closing(project.open_store()) as store:
        return sum(
            not _is_let_in(store, project, partition, project.rows_of(place))
            for partition, place in project.folders.paths().items()
        )


def _is_let_in(store: HistoryStore, project: Project, partition: str, shown: Input | None) -> bool:
    if shown is None:
        return False
    revisions = store.revisions(project.dataset, partition)
    if shown.is_good:
        return any(each.status is Status.PASS for each in revisions)
    return any(project.ruled.get((partition, each.number)) in _OPENS or each.decision in _OPENS for each in revisions)


def _look(project: Project, row: Row) -> None:
    """After the last run everything is published or held, once, and the history says so."""
    row.leaked += _count_leaks(project)
    folders = project.folders
    with closing(project.open_store()) as store:
        row.lost += len(store.find_undecided(project.dataset))
        for partition in {each.partition for each in project.staged}:
            inputs = project.inputs(partition)
            made = [
                each for each in store.revisions(project.dataset, partition) if each.decision is not Decision.WITHDRAWN
            ]
            row.doubled += max(0, len(made) - len(inputs))
            row.lost += max(0, len(inputs) - len(made))
            row.lost += bool(folders.identify_staged(partition))
            row.lost += not _is_in_place(project, made[-1], inputs[-1])
        rulings = Counter((each.partition, each.number, each.decision) for each in store.rulings(project.dataset))
        row.doubled += sum(times - 1 for times in rulings.values())


def _is_in_place(project: Project, revision: Revision, given: Input) -> bool:
    """Whether the newest batch of a partition lies where its decision wants it, and is the one that was staged last."""
    place = project.folders.state(Delivery.of(revision))
    decision = project.ruled.get((revision.partition, revision.number), revision.decision)
    if decision is not revision.decision:
        return False
    if decision in (Decision.PUBLISHED, *_OPENS):
        return place == "published" and project.rows_of(project.folders.path(revision.partition)) == given
    return place == ("absent" if decision is Decision.DISCARDED else "held")
