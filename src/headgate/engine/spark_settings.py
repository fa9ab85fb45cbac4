"""Settings of a Spark session during a scan, put back afterwards, for any number of threads that share the session."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Hashable, Iterator, Mapping

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from headgate.engine.spark_faults import is_session_lost


class _Turn:
    """A thread that waits to run with its settings."""

    def __init__(self, wanted: Mapping[str, str]) -> None:
        self.wanted = dict(wanted)


class _SettingsInForce:
    """The settings that scans have made on one session, the values before them, and the threads that use them."""

    def __init__(self) -> None:
        self.made: dict[str, str] = {}
        self.before: dict[str, str | None] = {}
        self.threads: list[int] = []
        self.queue: list[_Turn] = []

    def admits(self, turn: _Turn) -> bool:
        """Whether a thread can run now: no settings are in force, or its own, and nobody ahead wants others."""
        ahead = self.queue[: self.queue.index(turn)]
        return self.allows(turn.wanted) and all(earlier.wanted == turn.wanted for earlier in ahead)

    def allows(self, wanted: Mapping[str, str]) -> bool:
        return not self.threads or self.made == wanted

    def enter(self, spark: SparkSession, wanted: Mapping[str, str]) -> None:
        if not self.threads:
            self.made, self.before = dict(wanted), {}
            try:
                self._make(spark)
            except BaseException:
                self._put_back(spark)
                raise
        self.threads.append(threading.get_ident())

    def leave(self, spark: SparkSession, is_lost: bool) -> None:
        self.threads.remove(threading.get_ident())
        if not self.threads and not is_lost:  # a call to a Connect server that is gone is retried for ten minutes
            self._put_back(spark)

    def _make(self, spark: SparkSession) -> None:
        for name, value in self.made.items():
            with contextlib.suppress(PySparkException):
                previous = spark.conf.get(name, None)
                spark.conf.set(name, value)
                self.before[name] = previous

    def _put_back(self, spark: SparkSession) -> None:
        for name, previous in self.before.items():
            if spark.conf.get(name, None) != self.made[name]:
                continue  # the user has set it meanwhile
            if previous is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, previous)


class SharedSettings:
    """Settings of sessions that several threads share.

    Threads that want the same settings run together: the first makes them, the last puts back those of the user. A
    thread that wants others waits for its turn, or, if it does not wait, runs with the settings that it finds.
    """

    def __init__(self, *, wait: bool) -> None:
        self._wait = wait
        self._changed = threading.Condition()
        self._sessions: dict[Hashable, _SettingsInForce] = {}

    @contextlib.contextmanager
    def apply(self, spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
        key = _identify(spark)
        with self._changed:
            settings = self._sessions.setdefault(key, _SettingsInForce())
            # a scan inside a scan of the same thread would wait for itself
            passes = threading.get_ident() in settings.threads or not (self._wait or settings.allows(wanted))
            if not passes:
                with self._keep_while_used(key, settings):
                    self._wait_for_turn(settings, wanted)
                    settings.enter(spark, wanted)
        is_lost = False
        try:
            yield
        except Exception as error:
            is_lost = is_session_lost(error)
            raise
        finally:
            if not passes:
                with self._changed, self._keep_while_used(key, settings):
                    settings.leave(spark, is_lost)

    def _wait_for_turn(self, settings: _SettingsInForce, wanted: Mapping[str, str]) -> None:
        turn = _Turn(wanted)
        settings.queue.append(turn)
        try:
            self._changed.wait_for(lambda: settings.admits(turn))
        finally:
            settings.queue.remove(turn)

    @contextlib.contextmanager
    def _keep_while_used(self, key: Hashable, settings: _SettingsInForce) -> Iterator[None]:
        """Whatever happens in the block, other threads look again, and a session that nobody uses is forgotten."""
        try:
            yield
        finally:
            if not settings.threads and not settings.queue:
                self._sessions.pop(key, None)
            self._changed.notify_all()


def _identify(spark: SparkSession) -> Hashable:
    """The session itself: several objects of Python may stand for one session of the JVM."""
    java: Hashable = getattr(spark, "_jsparkSession", None)
    return spark.session_id if java is None else java  # type: ignore[attr-defined]


_OF_SCANS = SharedSettings(wait=True)
_OF_DESCRIPTIONS = SharedSettings(wait=False)  # no scan waits for the sake of a text


def apply_settings(spark: SparkSession, wanted: Mapping[str, str]) -> contextlib.AbstractContextManager[None]:
    """Settings of the session inside the block. Those that the platform does not allow to be set are left alone.

    If threads share the session, a scan waits until those that want other settings have ended.
    """
    return _OF_SCANS.apply(spark, wanted)


def apply_description(spark: SparkSession, text: str) -> contextlib.AbstractContextManager[None]:
    """The description of the session's jobs inside the block, unless another scan has set its own."""
    return _OF_DESCRIPTIONS.apply(spark, {"spark.job.description": text})
