"""Eight threads that scan with one session, one of which breaks: each has its settings, and then the user theirs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pyspark.sql import SparkSession

import headgate as hg
from headgate.values.errors import EngineError
from tests.spark.test_jobs import ADAPTIVE, DESCRIPTION, ROWS_AT_ONCE, broken

THREADS, SCANS = 8, 3
OWN = {ADAPTIVE: "true", ROWS_AT_ONCE: "777"}


@pytest.fixture(params=["classic", "connect"])
def session(request: pytest.FixtureRequest, spark: SparkSession, connect: Any) -> Any:
    chosen: Any = spark if request.param == "classic" else connect
    for name, value in OWN.items():
        chosen.conf.set(name, value)
    yield chosen
    for name in OWN:
        chosen.conf.unset(name)


def numbers(session: Any) -> Any:
    return session.range(0, 500, 1, 2).selectExpr("id", "id * 2 AS price")


def texts(session: Any) -> Any:
    return session.range(0, 500, 1, 2).selectExpr("concat('v-', id % 7) AS id")


def shuffled(session: Any) -> Any:
    return session.range(0, 500, 1, 2).selectExpr("id % 5 AS id", "id AS n").groupBy("id").sum("n")


# What a scan of each frame wants: batches of many rows, of fewer if there are texts; adaptive execution as it was, if
# the frame has a shuffle of its own.
FRAMES: dict[Callable[[Any], Any], dict[str, str]] = {
    numbers: {ADAPTIVE: "false", ROWS_AT_ONCE: "64000"},
    texts: {ADAPTIVE: "false", ROWS_AT_ONCE: "25000"},
    shuffled: {ADAPTIVE: "true", ROWS_AT_ONCE: "64000"},
}


def scan(session: Any, frame: Callable[[Any], Any]) -> list[dict[str, str]]:
    """The settings that the scan saw while its job ran."""
    seen: list[dict[str, str]] = []

    def look(_: Any) -> None:
        seen.append({name: session.conf.get(name) for name in OWN})

    analysis = hg.analyze(frame(session), ["size()", "completeness(id)"], progress=look)
    assert analysis.value("completeness(id)") == 1.0
    return seen


def scan_broken(session: Any) -> None:
    with pytest.raises(EngineError):
        hg.analyze(broken(session), ["completeness(id)"])


def read_settings(session: Any) -> dict[str, str | None]:
    return {name: session.conf.get(name, None) for name in (*OWN, DESCRIPTION)}


def test_each_scan_has_its_settings_and_the_user_theirs(session: Any) -> None:
    before, printed_to = read_settings(session), sys.stdout
    with ThreadPoolExecutor(THREADS) as pool:
        broken_scan = pool.submit(scan_broken, session)
        frames = list(FRAMES) * (THREADS * SCANS // len(FRAMES))
        scans = [(frame, pool.submit(scan, session, frame)) for frame in frames]
        broken_scan.result()
        seen = [(FRAMES[frame], settings) for frame, done in scans for settings in done.result()]
    assert [settings for wanted, settings in seen if settings != wanted] == []
    assert len(seen) >= THREADS
    assert read_settings(session) == before == {**OWN, DESCRIPTION: None}
    assert sys.stdout is printed_to
