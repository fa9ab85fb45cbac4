"""The server that has the batches and the history is killed in the middle of a commit, and started again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Timer

import pytest

from headgate.project.project import Project
from headgate.store.fault_points import watch
from headgate.store.files.objects import Objects
from headgate.values.errors import EngineUnavailable, StoreUnavailable
from tests.integrations.objects.s3_on_disk import DiskServer
from tests.project.files import lake, opened
from tests.project.objects import PLACE, put_days, summarize_history

DAYS = range(1, 5)


def interrupt(point: str, occurrence: int, act: Callable[[], None]) -> Callable[[str], None]:
    """A watcher that acts once, when the point is passed for the given time."""
    passed = 0

    def watcher(name: str) -> None:
        nonlocal passed
        if name == point:
            passed += 1
            if passed == occurrence:
                act()

    return watcher


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str, dict[str, float]]]:
    """The history of the same batches in a folder, which nothing interrupts."""
    folder = tmp_path_factory.mktemp("whole")
    lake(folder, DAYS)
    with opened(folder) as project:
        judge_all(project)
        return summarize_history(project)


def judge_all(project: Project) -> None:
    for partition in project.dataset("orders").waiting():
        project.dataset("orders").judge(partition)


@pytest.mark.parametrize("point", ["objects.put", "objects.put_done", "objects.get"])
def test_a_server_that_comes_back_is_waited_for(
    point: str, server: DiskServer, expected: list[tuple[str, str, dict[str, float]]], tmp_path: Path
) -> None:
    restart = Timer(0.5, server.start)

    def stop_for_a_while() -> None:
        server.kill()
        restart.start()

    put_days(DAYS)
    with opened(tmp_path, PLACE.format(history="kept")) as project:
        assert project.store.datasets() == ()  # it is open before the first point
        with watch(interrupt(point, 3, stop_for_a_while)):
            judge_all(project)
        restart.join()  # fails if it was never started
        assert summarize_history(project) == expected


@pytest.mark.parametrize("point", ["objects.put", "objects.put_done", "objects.list"])
def test_a_commit_that_a_dead_server_interrupts_is_done_once_when_it_is_back(
    point: str,
    server: DiskServer,
    expected: list[tuple[str, str, dict[str, float]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Objects, "patience_by_default", 1.0)
    put_days(DAYS)
    with opened(tmp_path, PLACE.format(history="kept")) as project:
        assert project.store.datasets() == ()
        with (
            watch(interrupt(point, 2, server.kill)),
            pytest.raises((StoreUnavailable, EngineUnavailable), match="does not answer"),
        ):
            judge_all(project)
    server.start()
    with opened(tmp_path, PLACE.format(history="kept")) as project:
        judge_all(project)
        assert summarize_history(project) == expected
