"""Explores interleavings of two gates and a person, with a crash at any step: `python -m tests.model`."""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from headgate.store.fault_points import watch
from tests.model.actors import Actor, watch_actors
from tests.model.world import Broken, Story, World

INPUTS = ("good 1", "good 3", "bad 5", "bad 7")
WORDS = ("recover", "accept", "release", "reject", "discard")
_MAX_STEPS = 400


@dataclass
class Exploration:
    """What was explored, and the promises that were not kept."""

    histories: int = 0
    different: set[int] = field(default_factory=set)  # hashes of story and schedule
    steps: int = 0
    crashes: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    seconds: float = 0.0


def choose_story(chance: random.Random) -> Story:
    crashes = [0, 0, 0]
    if chance.random() < 0.85:
        crashes[chance.choice((0, 0, 1, 1, 2))] = chance.randint(1, 30)
    return Story(chance.choice(INPUTS), chance.choice(INPUTS), chance.choice(WORDS), tuple(crashes))  # type: ignore[arg-type]


def play(story: Story, root: Path, chance: random.Random, manifest: bool) -> tuple[tuple[int, ...], World, list[Actor]]:
    """One history: at every step chance says who goes on. The promises are checked after every step."""
    world = World(root, story, manifest)
    actors, schedule, stay = world.actors(), [], chance.random()
    at = 0
    with watch(watch_actors):
        while waiting := [number for number, each in enumerate(actors) if not each.is_over]:
            world.is_quiet = all(each.is_over for each in actors[:2])
            if story.word != "recover" and not world.is_quiet and not world.held:  # the person has nothing to read yet
                waiting = [number for number in waiting if number != 2]
            if at not in waiting or chance.random() > stay:
                at = chance.choice(waiting)
            schedule.append(at)
            actors[at].step()
            world.check_always()
            if len(schedule) > _MAX_STEPS:
                raise Broken("it does not end")
    for each in actors:
        if each.error is not None:
            raise Broken(f"{each.name}: {type(each.error).__name__}: {each.error}") from each.error
    world.recover()
    world.check_always()
    world.recover()  # a second time, with nothing to do
    world.check_end()
    return tuple(schedule), world, actors


def explore(histories: int, seed: int, most_broken: int = 5) -> Exploration:
    """So many random histories. It stops early if enough promises were broken."""
    chance, found, begun = random.Random(seed), Exploration(), time.monotonic()
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None, prefix="headgate-model-") as folder:
        for number in range(histories):
            _explore_one(found, Path(folder, str(number)), chance)
            if len(found.broken) >= most_broken:
                break
    found.seconds = time.monotonic() - begun
    return found


def _explore_one(found: Exploration, root: Path, chance: random.Random) -> None:
    story, manifest = choose_story(chance), chance.random() < 0.3
    found.histories += 1
    world: World | None = None
    try:
        schedule, world, actors = play(story, root, chance, manifest)
    except Broken as error:
        found.broken.append(f"{story}, manifest={manifest}: {error}")
    else:
        found.different.add(hash((story, manifest, schedule)))
        found.steps += len(schedule)
        found.crashes += sum(each.died for each in actors)
        found.endings.update(str(each.decision) for each in world.revisions())
    shutil.rmtree(root, ignore_errors=True)
