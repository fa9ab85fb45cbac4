"""What every publisher must do: each call again changes nothing, and no kill shows a half of a batch."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from headgate.gate.publish.publisher import Delivery, Part, Publisher, publish_split
from headgate.store.fault_points import watch
from headgate.values.errors import InputChanged, MisuseError, PublishError
from headgate.values.run import Revision, Run, run_key
from tests.gate.publish.lakes import DAY, LAKES, Lake


class Killed(BaseException):
    """As sudden as a kill: nothing in the package catches it."""


def delivery(number: int = 1, partition: str = DAY, part: Part = "whole") -> Delivery:
    return Delivery("orders", partition, number, run_key("orders", partition, f"input {number}", ""), part)


@pytest.fixture(params=LAKES)
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Lake:
    return LAKES[request.param](tmp_path)


def test_it_is_a_publisher(lake: Lake) -> None:
    assert isinstance(lake.publisher, Publisher)


def test_a_staged_batch_is_seen_by_nobody(lake: Lake) -> None:
    batch = delivery()
    assert lake.publisher.state(batch) == "absent"
    lake.stage(batch, "first")
    assert lake.publisher.state(batch) == "staged"
    assert lake.seen() is None


def test_a_published_batch_is_seen(lake: Lake) -> None:
    batch = lake.stage(delivery(), "first")
    where = lake.publisher.publish(batch)
    assert lake.read_at(where) == "first" == lake.seen()
    assert lake.publisher.state(batch) == "published"


def test_publishing_again_changes_nothing_even_when_something_new_is_staged(lake: Lake) -> None:
    batch = lake.stage(delivery(), "first")
    where = lake.publisher.publish(batch)
    lake.stage(delivery(2), "second")
    assert lake.publisher.publish(batch) == where
    assert lake.seen() == "first"
    assert lake.publisher.state(delivery(2)) == "staged"


def test_a_newer_revision_takes_the_place_of_the_older(lake: Lake) -> None:
    lake.publisher.publish(lake.stage(delivery(1), "first"))
    lake.publisher.publish(lake.stage(delivery(2), "second"))
    assert lake.seen() == "second"
    assert [lake.publisher.state(delivery(each)) for each in (1, 2)] == ["absent", "published"]


def test_an_older_revision_never_takes_the_place_of_a_newer(lake: Lake) -> None:
    lake.publisher.hold(lake.stage(delivery(1), "first"))
    lake.publisher.publish(lake.stage(delivery(3), "third"))
    lake.stage(delivery(2), "second")
    for late in (lambda: lake.publisher.release(delivery(1)), lambda: lake.publisher.publish(delivery(2))):
        with pytest.raises(PublishError, match="older than revision 3"):
            late()
    assert lake.seen() == "third"
    assert lake.publisher.state(delivery(1)) == "held"


def test_partitions_do_not_meet(lake: Lake) -> None:
    other = "day=2026-11-15"
    lake.publisher.publish(lake.stage(delivery(), "first"))
    lake.publisher.publish(lake.stage(delivery(partition=other), "other"))
    assert (lake.seen(), lake.seen(other)) == ("first", "other")


def test_what_is_not_staged_cannot_be_published_or_held(lake: Lake) -> None:
    for call in (lake.publisher.publish, lake.publisher.hold):
        with pytest.raises(PublishError, match="no batch of orders day=2026-11-14"):
            call(delivery())


def test_a_held_batch_is_kept_and_not_seen(lake: Lake) -> None:
    batch = lake.stage(delivery(), "first")
    where = lake.publisher.hold(batch)
    assert lake.publisher.hold(batch) == where
    assert lake.read_at(where) == "first"
    assert lake.publisher.state(batch) == "held"
    assert lake.seen() is None


def test_holding_leaves_what_is_published(lake: Lake) -> None:
    lake.publisher.publish(lake.stage(delivery(1), "first"))
    lake.publisher.hold(lake.stage(delivery(2), "second"))
    assert lake.seen() == "first"
    assert [lake.publisher.state(delivery(each)) for each in (1, 2)] == ["published", "held"]


def test_a_held_batch_needs_a_release(lake: Lake) -> None:
    lake.publisher.hold(lake.stage(delivery(), "first"))
    with pytest.raises(PublishError, match=r"is held\. Release it"):
        lake.publisher.publish(delivery())
    assert lake.seen() is None


def test_a_published_batch_cannot_be_held_or_discarded(lake: Lake) -> None:
    lake.publisher.publish(lake.stage(delivery(), "first"))
    for call in (lake.publisher.hold, lake.publisher.discard):
        with pytest.raises(PublishError, match="is published"):
            call(delivery())
    assert lake.seen() == "first"


def test_a_released_batch_is_seen(lake: Lake) -> None:
    lake.publisher.publish(lake.stage(delivery(1), "first"))
    lake.publisher.hold(lake.stage(delivery(2), "second"))
    where = lake.publisher.release(delivery(2))
    assert lake.publisher.release(delivery(2)) == where
    assert lake.seen() == "second"
    assert lake.publisher.state(delivery(2)) == "published"


def test_only_a_held_batch_is_released(lake: Lake) -> None:
    lake.stage(delivery(), "first")
    with pytest.raises(PublishError, match="Only a held batch"):
        lake.publisher.release(delivery())
    assert lake.publisher.state(delivery()) == "staged"


def test_a_discarded_batch_is_gone(lake: Lake) -> None:
    where = lake.publisher.hold(lake.stage(delivery(), "first"))
    lake.publisher.discard(delivery())
    lake.publisher.discard(delivery())
    assert not lake.has(where)
    assert lake.publisher.state(delivery()) == "absent"
    with pytest.raises(PublishError, match="Only a held batch"):
        lake.publisher.release(delivery())


def test_discarding_leaves_a_staged_batch(lake: Lake) -> None:
    lake.publisher.hold(lake.stage(delivery(1), "first"))
    lake.stage(delivery(2), "second")
    lake.publisher.discard(delivery(1))
    lake.publisher.discard(delivery(1))
    lake.publisher.publish(delivery(2))
    assert lake.seen() == "second"


def test_a_split_batch_shows_its_good_rows_and_keeps_its_bad_ones(lake: Lake) -> None:
    batch = delivery()
    for part in ("good", "bad"):
        lake.stage(batch.only_part(part), part)
    good, bad = publish_split(lake.publisher, batch)
    assert publish_split(lake.publisher, batch) == (good, bad)
    assert (lake.read_at(good), lake.read_at(bad)) == ("good", "bad")
    assert lake.seen() == "good"
    assert [lake.publisher.state(batch.only_part(part)) for part in ("good", "bad")] == ["published", "held"]


def test_bad_rows_never_take_the_place_of_the_good(lake: Lake) -> None:
    batch = delivery()
    for part in ("good", "bad"):
        lake.stage(batch.only_part(part), part)
    with pytest.raises(MisuseError, match="place of the good rows"):
        lake.publisher.publish(batch.only_part("bad"))
    publish_split(lake.publisher, batch)
    with pytest.raises(MisuseError, match="Stage the partition whole"):
        lake.publisher.release(batch.only_part("bad"))
    lake.publisher.publish(lake.stage(delivery(2), "repaired"))
    lake.publisher.discard(batch.only_part("bad"))
    assert lake.seen() == "repaired"


def test_a_delivery_that_many_publish_at_once_is_published_once(lake: Lake) -> None:
    lake.publisher.publish(lake.stage(delivery(1), "first"))
    for number in range(2, 12):
        batch = lake.stage(delivery(number), f"number {number}")
        with ThreadPoolExecutor(8) as pool:
            answers = set(pool.map(lambda _, batch=batch: lake.publisher.publish(batch), range(8)))
        assert len(answers) == 1
        assert lake.seen() == f"number {number}"


def test_a_delivery_is_that_of_a_committed_run() -> None:
    run = Run(dataset="orders", partition=DAY, fingerprint="input 1")
    assert Delivery.of(Revision.of(run, number=1, sequence=7)) == delivery(1)


@pytest.mark.parametrize(
    "wrong", [{"dataset": ""}, {"partition": ""}, {"partition": "x" * 1001}, {"number": 0}, {"key": "../../../../up"}]
)
def test_a_delivery_of_nothing_is_refused(wrong: dict[str, object]) -> None:
    given = {"dataset": "orders", "partition": DAY, "number": 1, "key": "c0ffee00c0ffee00"}
    with pytest.raises(MisuseError):
        Delivery(**(given | wrong))  # type: ignore[arg-type]


# Kills: the call is stopped at every step that it takes, one after the other, and made again by a fresh publisher.


def first(lake: Lake) -> Callable[[], object]:
    batch = lake.stage(delivery(1), "first")
    return lambda: lake.publisher.publish(batch)


def replacing(lake: Lake) -> Callable[[], object]:
    lake.publisher.publish(lake.stage(delivery(1), "old"))
    batch = lake.stage(delivery(2), "new")
    return lambda: lake.publisher.publish(batch)


def holding(lake: Lake) -> Callable[[], object]:
    lake.publisher.publish(lake.stage(delivery(1), "old"))
    batch = lake.stage(delivery(2), "new")
    return lambda: lake.publisher.hold(batch)


def releasing(lake: Lake) -> Callable[[], object]:
    holding(lake)()
    return lambda: lake.publisher.release(delivery(2))


def discarding(lake: Lake) -> Callable[[], object]:
    holding(lake)()
    return lambda: lake.publisher.discard(delivery(2))


def splitting(lake: Lake) -> Callable[[], object]:
    lake.publisher.publish(lake.stage(delivery(1), "old"))
    for part in ("good", "bad"):
        lake.stage(delivery(2).only_part(part), part)
    return lambda: publish_split(lake.publisher, delivery(2))


CALLS = {
    first: {None, "first"},
    replacing: {"old", "new"},
    holding: {"old"},
    releasing: {"old", "new"},
    discarding: {"old"},
    splitting: {"old", "good"},
}


def outline(lake: Lake) -> tuple[object, ...]:
    states = [
        lake.publisher.state(delivery(number, part=part)) for number in (1, 2) for part in ("whole", "good", "bad")
    ]
    return lake.seen(), *states


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_a_kill_at_any_step_shows_no_half_and_the_same_call_again_ends_it(
    lake: Lake, call: Callable[[Lake], Callable[[], object]]
) -> None:
    clean, steps = lake.beside("clean"), list[str]()
    work = call(clean)
    with watch(steps.append):
        work()
    allowed = CALLS[call] | {None} if lake.has_gaps else CALLS[call]
    for at in range(len(steps)):
        killed = lake.beside(f"killed at {at}")
        work = call(killed)
        with watch(kill_after(at)), pytest.raises(Killed):
            work()
        assert killed.seen() in allowed, f"at {steps[at]}"
        work()
        assert outline(killed) == outline(clean), f"at {steps[at]}"
        work()
        assert outline(killed) == outline(clean), f"at {steps[at]}"
    assert len(set(steps)) >= lake.least_steps, "few steps are named"


def kill_after(steps: int) -> Callable[[str], None]:
    left = iter(range(steps))

    def watcher(_: str) -> None:
        if next(left, None) is None:
            raise Killed

    return watcher


@pytest.mark.parametrize("call", [replacing, releasing], ids=lambda call: call.__name__)
def test_a_batch_whose_way_to_readers_was_cut_is_held_and_can_be_held_or_released_or_discarded(
    lake: Lake, call: Callable[[Lake], Callable[[], object]]
) -> None:
    """A gate that asks for the state first must still find its way."""
    steps = list[str]()
    work = call(lake.beside("clean"))
    with watch(steps.append):
        work()
    before, ways = ("staged" if call is replacing else "held"), set[str]()
    for at in range(len(steps)):
        for way in ("hold", "release", "discard"):
            killed = lake.beside(f"{way} after {at}")
            work = call(killed)
            with watch(kill_after(at)), pytest.raises(Killed):
                work()
            state = killed.publisher.state(delivery(2))
            assert state in {before, "held", "published"}, f"at {steps[at]}"
            if state == "held":
                ways |= {end_of(killed, way)}
    assert ways == {"old", "new"}


def end_of(killed: Lake, way: str) -> str:
    """What readers see after the word of a person."""
    try:
        getattr(killed.publisher, way)(delivery(2))
    except PublishError:
        assert way != "release"
        assert killed.seen() is None, "only what readers are about to see is past holding and discarding"
        killed.publisher.release(delivery(2))
        way = "release"
    expected = {"hold": "held", "release": "published", "discard": "absent"}
    assert killed.publisher.state(delivery(2)) == expected[way]
    if way != "release" and killed.seen() is None:
        killed.publisher.publish(delivery(1))  # it was put away already, and comes back
    assert killed.seen() == ("new" if way == "release" else "old")
    return str(killed.seen())


def test_a_newer_revision_goes_ahead_of_a_killed_one(lake: Lake) -> None:
    steps = list[str]()
    work = replacing(lake.beside("clean"))
    with watch(steps.append):
        work()
    for at in range(len(steps)):
        killed = lake.beside(f"killed at {at}")
        work = replacing(killed)
        with watch(kill_after(at)), pytest.raises(Killed):
            work()
        killed.publisher.publish(killed.stage(delivery(3), "third"))
        assert killed.seen() == "third"
        with pytest.raises(PublishError, match="older than revision 3"):
            work()
        assert [killed.publisher.state(delivery(each)) for each in (1, 2, 3)] == ["absent", "absent", "published"]


# --- a delivery that names its input


def known(lake: Lake, number: int, text: str) -> Delivery:
    """A batch that was staged and judged: its delivery names what was staged."""
    lake.stage(delivery(number), text)
    return msgspec.structs.replace(delivery(number), source=lake.publisher.identify_staged(DAY))


def test_what_is_staged_is_identified_by_its_files(lake: Lake) -> None:
    assert lake.publisher.identify_staged(DAY) == ""
    first = known(lake, 1, "first").source
    assert first == lake.publisher.identify_staged(DAY) != ""
    assert known(lake, 1, "other").source != first


@pytest.mark.parametrize("call", ["publish", "hold"])
def test_another_input_than_the_one_that_was_judged_is_not_moved(lake: Lake, call: str) -> None:
    judged = known(lake, 1, "first")
    other = known(lake, 2, "second")
    assert lake.publisher.state(judged) == "absent"
    with pytest.raises(InputChanged, match=r"other (files|input) than (those|the one) that (were|was) judged"):
        getattr(lake.publisher, call)(judged)
    assert lake.publisher.state(other) == "staged"
    assert lake.seen() is None


def test_a_held_batch_that_was_changed_is_not_released(lake: Lake) -> None:
    batch = known(lake, 1, "first")
    lake.publisher.check_input(batch)
    place = lake.publisher.hold(batch)
    lake.publisher.check_input(batch)
    if not lake.edit(place, "edited"):
        pytest.skip("what is held never changes")
    for call in (lake.publisher.check_input, lake.publisher.release):
        with pytest.raises(InputChanged):
            call(batch)
    assert lake.seen() is None


def test_a_batch_is_located_wherever_it_is(lake: Lake) -> None:
    batch = known(lake, 1, "first")
    assert lake.read_at(lake.publisher.locate(batch)) == "first"
    held = lake.publisher.hold(batch)
    assert lake.publisher.locate(batch) == held
    shown = lake.publisher.release(batch)
    assert lake.publisher.locate(batch) == shown
    assert lake.publisher.locate(delivery(2)) == ""


def test_the_last_number_counts_what_is_published_held_and_replaced(lake: Lake) -> None:
    publisher = lake.publisher
    assert publisher.find_last_number("orders", DAY) == 0
    publisher.publish(known(lake, 1, "first"))
    publisher.publish(known(lake, 2, "second"))
    assert publisher.find_last_number("orders", DAY) == 2
    publisher.hold(known(lake, 5, "fifth"))
    assert publisher.find_last_number("orders", DAY) == 5
    found = publisher.find_published("orders", DAY)
    assert found is not None
    assert found.number == 2


def test_a_copy_is_set_aside_and_does_not_touch_what_readers_see(lake: Lake) -> None:
    batch = known(lake, 1, "first")
    lake.publisher.publish(batch)
    copy = known(lake, 1, "first")
    for _ in range(2):
        lake.publisher.set_copy_aside(copy)
        assert lake.publisher.identify_staged(DAY) == ""
    assert lake.seen() == "first"
    other = known(lake, 1, "second")
    lake.publisher.set_copy_aside(copy)
    assert lake.publisher.identify_staged(DAY) == other.source, "what is staged is no copy"


def test_a_held_batch_can_be_staged_again_unless_another_is_staged(lake: Lake) -> None:
    batch = known(lake, 1, "first")
    lake.publisher.hold(batch)
    for _ in range(2):
        lake.publisher.restage(batch)
        assert lake.publisher.state(batch) == "staged"
    lake.publisher.hold(batch)
    known(lake, 2, "second")
    lake.publisher.restage(batch)
    assert lake.publisher.state(batch) == "held"


def test_to_recover_when_nothing_was_interrupted_changes_nothing(lake: Lake) -> None:
    lake.publisher.publish(known(lake, 1, "first"))
    lake.publisher.hold(known(lake, 2, "second"))
    lake.publisher.recover("orders")
    assert lake.seen() == "first"
