"""Threads that scan with one Spark session at the same time.

Before, the second scan took the settings of the first for those of the user and put them back last: the user's own
values were lost. And a scan ran with the settings of another. `tests/spark/test_threads.py` does the same with Spark.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

pytest.importorskip("pyspark")

from headgate.engine.spark_settings import apply_description, apply_settings

THREADS, SCANS = 8, 25
NARROW = {"rows": "64000", "adaptive": "false"}
WIDE = {"rows": "10000", "adaptive": "false"}
SHUFFLED = {"rows": "25000"}
OWN = {"rows": "777"}


class Settings:
    """The settings of a session, as pyspark gives them, but slowly, so that threads meet."""

    def __init__(self) -> None:
        self.values = dict(OWN)

    def get(self, name: str, default: str | None = None) -> str | None:
        self._pause()
        return self.values.get(name, default)

    def set(self, name: str, value: str) -> None:
        self._pause()
        self.values[name] = value

    def unset(self, name: str) -> None:
        self._pause()
        self.values.pop(name, None)

    def _pause(self) -> None:
        time.sleep(random.uniform(0, 0.0005))


class Session:
    """A session; several objects of Python may stand for one session of Java."""

    def __init__(self, java: object, conf: Settings) -> None:
        self._jsparkSession = java
        self.conf = conf


@pytest.fixture
def session() -> Callable[[], Any]:
    java, conf = "a session of Java", Settings()
    return lambda: Session(java, conf)


def run_in_threads(works: list[Callable[[], None]]) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(work) for work in works]:
            done.result(timeout=60)


def test_each_scan_sees_its_settings_and_the_users_come_back(session: Callable[[], Any]) -> None:
    def scan(wanted: dict[str, str]) -> None:
        with apply_settings(session(), wanted):
            for _ in range(3):
                time.sleep(0.0005)
                assert session().conf.values == {**OWN, **wanted}

    run_in_threads([lambda wanted=wanted: scan(wanted) for _ in range(SCANS) for wanted in (NARROW, WIDE, SHUFFLED)])
    assert session().conf.values == OWN


def test_a_scan_that_breaks_leaves_the_others_and_the_user_their_settings(session: Callable[[], Any]) -> None:
    def scan(wanted: dict[str, str], breaks: bool) -> None:
        with apply_settings(session(), wanted):
            time.sleep(0.001)
            assert session().conf.values == {**OWN, **wanted}
            if breaks:
                raise LookupError

    def survive(wanted: dict[str, str]) -> None:
        with pytest.raises(LookupError):
            scan(wanted, True)

    works: list[Callable[[], None]] = []
    for _ in range(SCANS):
        for wanted in (NARROW, WIDE):
            works += [lambda wanted=wanted: scan(wanted, False), lambda wanted=wanted: survive(wanted)]
    run_in_threads(works)
    assert session().conf.values == OWN


def test_scans_that_want_the_same_run_at_the_same_time(session: Callable[[], Any]) -> None:
    together = threading.Barrier(THREADS, timeout=30)

    def scan() -> None:
        with apply_settings(session(), NARROW):
            together.wait()

    run_in_threads([scan] * THREADS)


def test_a_scan_that_wants_others_gets_its_turn_while_more_of_the_same_come(session: Callable[[], Any]) -> None:
    stop, had_its_turn = threading.Event(), threading.Event()

    def scan_again_and_again() -> None:
        while not stop.is_set():
            with apply_settings(session(), NARROW):
                time.sleep(0.005)

    def scan_once() -> None:
        time.sleep(0.02)
        with apply_settings(session(), WIDE):
            had_its_turn.set()

    with ThreadPoolExecutor(THREADS) as pool:
        for work in (scan_again_and_again, scan_again_and_again, scan_again_and_again, scan_once):
            pool.submit(work)
        turn = had_its_turn.wait(timeout=10)
        stop.set()
    assert turn


def test_sessions_do_not_wait_for_each_other() -> None:
    one, two = Session("one", Settings()), Session("two", Settings())
    with apply_settings(one, NARROW), apply_settings(two, WIDE):  # type: ignore[arg-type]
        assert (one.conf.values["rows"], two.conf.values["rows"]) == ("64000", "10000")


def test_what_the_user_sets_during_a_scan_stays(session: Callable[[], Any]) -> None:
    with apply_settings(session(), NARROW):
        session().conf.set("rows", "5")
    assert session().conf.values == {"rows": "5"}


def test_a_scan_inside_a_scan_does_not_wait_for_itself(session: Callable[[], Any]) -> None:
    with apply_settings(session(), NARROW), apply_settings(session(), WIDE):
        assert session().conf.values == {**OWN, **NARROW}
    assert session().conf.values == OWN


def test_a_description_waits_for_no_other(session: Callable[[], Any]) -> None:
    together = threading.Barrier(2, timeout=30)

    def scan(text: str) -> None:
        with apply_settings(session(), NARROW), apply_description(session(), text):
            together.wait()

    run_in_threads([lambda: scan("one"), lambda: scan("two")])
    assert session().conf.values == OWN
