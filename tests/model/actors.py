"""Threads that run one at a time, each until its next step, so that every interleaving of them can be replayed."""

from __future__ import annotations

import threading
from collections.abc import Callable

STEPS = frozenset(
    {"gate.judged", "gate.committed", "gate.delivered", "gate.notified", "gate.ruled", "folders.lock", "job.staged"}
)
"""Where another actor may go on. Between them an actor holds the lock of the folders, or touches nothing shared."""


class Killed(BaseException):
    """As sudden as a kill: nothing in the package catches it."""


class Actor:
    """A job with its gate, or a person. `crash` is the number of the fault point at which it dies; 0 if it does not."""

    def __init__(self, name: str, work: Callable[[], None], crash: int = 0) -> None:
        self.name = name
        self.crash = crash
        self.passed = 0  # fault points so far
        self.died = False
        self.error: BaseException | None = None
        self._work = work
        self._may_go, self._has_stopped = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._is_over = False

    @property
    def is_over(self) -> bool:
        return self._is_over

    def step(self) -> None:
        """Go on until the next step, or to the end."""
        if not self._thread.ident:
            self._thread.start()
        self._may_go.release()
        self._has_stopped.acquire()

    def reach(self, point: str) -> None:
        """Called in the actor's own thread at every fault point."""
        self.passed += 1
        if self.passed == self.crash:
            self.died = True
            raise Killed
        if point in STEPS:
            self.pause()

    def pause(self) -> None:
        self._has_stopped.release()
        self._may_go.acquire()

    def _run(self) -> None:
        _current.actor = self
        self._may_go.acquire()
        try:
            self._work()
        except Killed:
            pass
        except BaseException as error:
            self.error = error
        self._is_over = True
        self._has_stopped.release()


_current = threading.local()


def watch_actors(point: str) -> None:
    """The watcher of fault points."""
    actor: Actor | None = getattr(_current, "actor", None)
    if actor is not None:
        actor.reach(point)
