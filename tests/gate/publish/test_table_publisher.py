"""What every publisher of a table must do without a lock: two calls at the same time end as one after the other."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headgate.gate.publish.table_publisher import TablePublisher
from headgate.store.fault_points import watch
from headgate.values.errors import PublishError
from tests.gate.publish.lakes import DAY, Lake, MemoryLake
from tests.gate.publish.test_publisher import Killed, delivery, kill_after


@pytest.fixture
def lake() -> Lake:
    return MemoryLake()


def publisher_of(lake: Lake) -> TablePublisher:
    assert isinstance(lake.publisher, TablePublisher)
    return lake.publisher


def once_at(point: str, work: Callable[[], object]) -> Callable[[str], None]:
    """What another process does while a call is at a point."""
    left = [work]

    def watcher(name: str) -> None:
        if name == point and left:
            left.pop()()

    return watcher


def test_a_newer_revision_that_is_published_meanwhile_stays(lake: Lake) -> None:
    first = lake.stage(delivery(1), "first")

    def publish_second() -> None:
        lake.publisher.publish(lake.stage(delivery(2), "second"))

    with watch(once_at("table.show", publish_second)), pytest.raises(PublishError, match="older than revision 2"):
        lake.publisher.publish(first)
    assert lake.seen() == "second"
    assert lake.publisher.state(delivery(2)) == "published"


@pytest.mark.parametrize("point", ["table.shown", "table.note"])
def test_a_newer_revision_that_is_noted_meanwhile_stays_noted(lake: Lake, point: str) -> None:
    first = lake.stage(delivery(1), "first")

    def publish_second() -> None:
        lake.publisher.publish(lake.stage(delivery(2), "second"))

    with watch(once_at(point, publish_second)):
        lake.publisher.publish(first)
    assert lake.seen() == "second"
    assert lake.publisher.state(delivery(2)) == "published"
    assert lake.publisher.find_last_number("orders", DAY) == 2


@pytest.mark.parametrize("call", ["hold", "discard"])
def test_what_was_held_or_discarded_meanwhile_is_not_shown(lake: Lake, call: str) -> None:
    first = lake.stage(delivery(1), "first")
    work = once_at("table.show", lambda: getattr(lake.publisher, call)(first))
    with watch(work), pytest.raises(PublishError, match="held or discarded"):
        lake.publisher.publish(first)
    assert lake.seen() is None


@pytest.mark.parametrize("point", ["table.add_ref", "table.ref_added", "table.show", "table.shown", "table.note"])
def test_what_another_call_publishes_meanwhile_is_published_once(lake: Lake, point: str) -> None:
    first = lake.stage(delivery(1), "first")
    with watch(once_at(point, lambda: lake.publisher.publish(first))):
        assert lake.publisher.publish(first) == lake.publisher.publish(first)
    assert lake.seen() == "first"
    assert publisher_of(lake).list_refs() == []


def test_what_was_replaced_in_staging_never_comes_back(lake: Lake) -> None:
    lake.stage(delivery(1), "first")
    (old,) = publisher_of(lake).list_refs()
    second = lake.stage(delivery(1), "second")
    publisher_of(lake).add_ref(old.name, old.source)  # as if the job was killed before it removed it
    lake.publisher.publish(second)
    assert lake.seen() == "second"
    assert lake.publisher.identify_staged(DAY) == ""
    assert publisher_of(lake).list_refs() == []


def test_to_recover_ends_what_was_killed_after_readers_got_it(lake: Lake) -> None:
    clean, steps = lake.beside("clean"), list[str]()
    with watch(steps.append):
        release_held(clean)
    for at in range(steps.index("table.shown"), len(steps)):
        killed = lake.beside(f"killed at {at}")
        with watch(kill_after(at)), pytest.raises(Killed):
            release_held(killed)
        killed.publisher.recover("orders")
        assert publisher_of(killed).list_refs() == [], f"at {steps[at]}"
        assert killed.publisher.state(delivery(1)) == "published"
        assert killed.publisher.find_published("orders", DAY) is not None
        assert killed.seen() == "held"


def release_held(lake: Lake) -> None:
    batch = lake.stage(delivery(1), "held")
    lake.publisher.hold(batch)
    lake.publisher.release(batch)
