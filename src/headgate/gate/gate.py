"""The gate: every batch of a dataset is measured, judged, recorded, and published or held, in this order."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

import msgspec

from headgate.checks.check import Check
from headgate.engine.analysis import Analysis
from headgate.engine.batch import open_batch, settled
from headgate.engine.progress import Progress
from headgate.evaluate.context import Circumstances
from headgate.evaluate.measurements import Measurements, measure
from headgate.evaluate.verification import Verification
from headgate.evaluate.verify import Asked, answered, asked_by, listed, measurable
from headgate.explain.subject import Lately
from headgate.gate.backtest.backtest import BUDGETS, SPOTS, Backtest, backtest
from headgate.gate.batch_judge import Hearing
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.notification import Notice
from headgate.gate.publish.publisher import Delivery, Publisher
from headgate.gate.publish.publisher import split as publish_split
from headgate.gate.settings import FALSE_ALARMS, RUNS, Settings
from headgate.learn.learned import Learner, Lesson, Offered, Training, no_lesson
from headgate.learn.patterns.index import PatternIndex
from headgate.store.fault_points import step
from headgate.store.port import HistoryStore
from headgate.values.account import Action, Mode
from headgate.values.errors import MisuseError, NoSuchBatch, StoreError, UnknownRun
from headgate.values.outcome import Failed
from headgate.values.run import STOPPED, TRUSTED, AlreadyCommitted, Decision, Revision, Ruling, Run, run_key
from headgate.values.verdict import Verdict

_KEPT = 400  # runs that are kept in memory, so that a gate that judges again and again reads only what is new
_GATE = "gate"


class Gate:
    """`hg.Gate("orders", store=store, false_alarms=0.01).judge(df, partition="2026-11-14")`.

    `false_alarms` is the share of good batches of the table that may be held; all learned expectations together cost no
    more. `checks` are the person's own and cost nothing. `learn` names who else may propose: history, patterns,
    novelty. `mode="observe"` judges and records, and holds nothing. `index` is where patterns are looked up, the public
    one if none is given. `publisher` moves batches after they are judged. `tell` is called with a notice of every
    verdict.

    Nothing is published without a committed pass of exactly this input, or a person's word.
    """

    def __init__(
        self,
        dataset: str,
        *,
        store: HistoryStore,
        false_alarms: float = FALSE_ALARMS,
        checks: Check | Iterable[Check] = (),
        learn: Iterable[str] = tuple(Learner),
        mode: Literal["guard", "observe"] = "guard",
        index: PatternIndex | None = None,
        publisher: Publisher | None = None,
        tell: Callable[[Notice], Any] | None = None,
        owner: str = "",
        runs: int = RUNS,
    ) -> None:
        self.dataset = dataset
        self.store = store
        self.checks = listed(checks)
        self.settings = Settings.of(false_alarms, learn, mode, runs, owner)
        self.publisher = publisher
        self.tell = tell
        self._index_given = index
        self._training = Training()
        self._runs: dict[int, Run] = {}
        self._ready: tuple[tuple[int, ...], Lesson] | None = None

    # --- judging

    def judge(
        self,
        data: Any,
        partition: str,
        *,
        fingerprint: str | None = None,
        tables: Mapping[str, Any] | None = None,
        now: datetime | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> BatchVerdict:
        """Measure a batch in one scan, judge it, record it, and publish or hold it.

        `data` is what `hg.analyze` takes, an analysis, which is not scanned again, or a function that reads one of
        these: if it fails, the batch is recorded as one that could not be read, and held. `partition` is the batch's
        place in the dataset: it is judged by the accepted runs before it. `fingerprint` names this input (a snapshot's
        id, a checksum); the same again gives the verdict that was recorded, without a scan. Without one, it is made
        from what was measured. `tables` are other tables that checks name.
        """
        basis = self.store.head(self.dataset)
        if fingerprint is not None and (known := self._recorded(partition, fingerprint)) is not None:
            return self._done(known, None)
        hearing = self._hearing(partition, basis)
        others = settled(tables)
        try:
            data = data() if callable(data) else data
            batch = None if isinstance(data, Analysis) else open_batch(data, others)
            schema = data.schema if batch is None else batch.schema
            asked = asked_by(self.checks, Circumstances(schema, others, self.store, self.dataset, partition, now))
            if batch is None:
                found = _measured_before(data, asked)
            else:
                found = measure(batch, [*measurable(asked, schema), *hearing.wanted(schema)], progress)
        except (MisuseError, StoreError, NoSuchBatch):
            raise
        except Exception as trouble:
            verdict = self._done(self._committed(hearing.unread(trouble)), None)
            verdict.trouble = trouble
            return verdict
        declared = answered(asked, found, schema)
        run, judged = hearing.run(found.whole, declared, asked)
        run = msgspec.structs.replace(run, fingerprint=fingerprint or run.fingerprint)
        return self._done(self._committed(run), Verification(judged, found, others))

    def prepare(self, before: str | None = None) -> Lesson:
        """Learn now what the next batch will be judged by, so that judging it is quick. It may be left out."""
        return self.lesson(before=before)

    def lesson(self, *, before: str | None = None, as_of: int | None = None) -> Lesson:
        """What the accepted runs before a partition teach, as the history was after a commit."""
        revisions = self.store.last(self.dataset, self.settings.runs, before=before, as_of=as_of, only=TRUSTED)
        learned_from = tuple(each.sequence for each in revisions)
        if self._ready is None or self._ready[0] != learned_from:
            runs = [self._run(each) for each in revisions]
            self._ready = learned_from, self._taught(runs)
        return self._ready[1]

    def _taught(self, runs: Sequence[Run]) -> Lesson:
        made = self.settings
        if not runs:
            return no_lesson(made.learners)
        offered = Offered.of(runs, self.store.secret, made.learners, self._training, dearest=made.false_alarms)
        return offered.lesson(made.false_alarms, made.learners)

    def rejudge(self, run: Run, lesson: Lesson) -> Verdict:
        """The learned part of the verdict on a recorded run: from its states alone, no data is read."""
        return lesson.program.verdict(lesson.outcomes(run.schema, run.outcomes, run.states), run.schema)

    def _hearing(self, partition: str, basis: int) -> Hearing:
        return Hearing(
            self.dataset,
            partition,
            self.settings,
            self.settings.suite(self.checks),
            basis,
            self.lesson(before=partition, as_of=basis),
            self.store.secret is not None,
            lambda: self._index,
        )

    @cached_property
    def _index(self) -> PatternIndex:
        return PatternIndex.public() if self._index_given is None else self._index_given

    # --- recording, then publishing

    def _recorded(self, partition: str, fingerprint: str) -> Revision | None:
        """The partition's newest revision, if it is of this very input, judged in the same way."""
        key = run_key(self.dataset, partition, fingerprint, self.settings.suite(self.checks))
        known = self.store.revisions(self.dataset, partition)
        return known[-1] if known and known[-1].key == key else None

    def _committed(self, run: Run) -> Revision:
        """The revision of a run. An input that comes again after another one is a new revision: it is current again."""
        step("gate.judged")
        while True:
            try:
                return self.store.commit(run)
            except AlreadyCommitted as earlier:
                newest = self.store.revisions(self.dataset, run.partition)[-1]
                if newest.number <= earlier.revision.number:
                    return earlier.revision
                name = f"{run.fingerprint} after {newest.number}"
                run = msgspec.structs.replace(run, fingerprint=name, attempt=uuid.uuid4().hex)

    def _done(self, revision: Revision, verification: Verification | None) -> BatchVerdict:
        """What was committed is what counts: read back, carried out, and only then called published or held."""
        step("gate.committed")
        run = self.store.run(revision)
        self._keep(revision, run)
        standing = self._standing(revision)
        lately = self._lately(revision)
        verdict = BatchVerdict(
            run, revision, decision=standing, owner=self.settings.owner, lately=lately, verification=verification
        )
        verdict.where = self._delivered(verdict)
        step("gate.delivered")
        standing = self._standing(revision)  # a person may have spoken while the batch was moved
        verdict.decision = standing
        if standing is None and not self._lets_pass(verdict):
            decision = Decision.PUBLISHED if verdict.action is Action.PUBLISH else Decision.HELD
            self._decide(revision, decision, verdict.headline, _GATE)
            verdict.decision = decision
        self._tell(verdict)
        return verdict

    def _tell(self, verdict: BatchVerdict) -> None:
        """An alert that cannot be delivered changes no decision: it is kept for the caller, as what went wrong."""
        if self.tell is None:
            return
        try:
            verdict.told = self.tell(verdict.notice())
        except Exception as trouble:
            verdict.told = Failed(f"{type(trouble).__name__}: {trouble}")

    def _lets_pass(self, verdict: BatchVerdict) -> bool:
        """Whether it was let through although it did not pass: then nothing is decided, and it teaches nothing."""
        return self.settings.mode is Mode.OBSERVE and not verdict.passed

    def _delivered(self, verdict: BatchVerdict) -> str:
        if self.publisher is None:
            return ""
        delivery = Delivery.of(verdict.revision)
        if verdict.action is Action.HOLD:  # what is published stays so, though it is wrong: readers may rely on it
            return "" if self.publisher.state(delivery) in ("absent", "published") else self.publisher.hold(delivery)
        if self.publisher.state(delivery) == "held":
            return self.publisher.release(delivery)
        return self.publisher.publish(delivery)

    def _decide(self, revision: Revision, decision: Decision, note: str, who: str) -> Ruling:
        return self.store.decide(self.dataset, revision.partition, decision, number=revision.number, who=who, note=note)

    # --- a person's word

    def accept(self, partition: str, *, note: str = "", who: str = "", number: int | None = None) -> Ruling:
        """That was expected: the run joins what the next is learned from. If it is held, it is published."""
        return self._ruled(partition, Decision.ACCEPTED, note, who, number)

    def reject(self, partition: str, *, note: str = "", who: str = "", number: int | None = None) -> Ruling:
        """That was wrong: nothing is learned from the run. Repair the batch and judge the partition again."""
        return self._ruled(partition, Decision.REJECTED, note, who, number)

    def release(self, partition: str, *, note: str = "", who: str = "", number: int | None = None) -> Ruling:
        """Publish a held batch as it is, and learn nothing from it."""
        return self._ruled(partition, Decision.RELEASED, note, who, number)

    def discard(self, partition: str, *, note: str = "", who: str = "", number: int | None = None) -> Ruling:
        """Drop a held batch for good; the run stays in the history, and teaches nothing."""
        return self._ruled(partition, Decision.DISCARDED, note, who, number)

    def split(self, partition: str, *, note: str = "rows split", who: str = "", number: int | None = None) -> Ruling:
        """Publish the good rows of a held batch and keep the bad ones, staged as its two parts; learn nothing from it.

        `verdict.split(df)` gives both; `publisher.staged(partition, part="good")` is where the job writes them.
        """
        if self.publisher is None:
            raise MisuseError("there is no publisher that could move rows.", hint="Pass publisher=hg.Folders(...).")
        revision = self._revision(partition, number)
        ruling = self._decide(revision, Decision.SPLIT, note, who)
        step("gate.ruled")
        publish_split(self.publisher, Delivery.of(revision))
        return ruling

    def _ruled(self, partition: str, decision: Decision, note: str, who: str, number: int | None) -> Ruling:
        """Recorded first, then carried out: what is published is always written down."""
        revision = self._revision(partition, number)
        if decision is Decision.ACCEPTED and not self._run(revision).schema.columns:
            raise MisuseError(
                f"{partition} was never read, so there is nothing to learn from it.",
                hint="Judge it again, or publish it as it is with gate.release.",
            )
        ruling = self._decide(revision, decision, note, who)
        step("gate.ruled")
        if self.publisher is not None:
            delivery = Delivery.of(revision)
            held = self.publisher.state(delivery) == "held"
            if held and decision in (Decision.ACCEPTED, Decision.RELEASED):
                self.publisher.release(delivery)
            elif held and decision is Decision.DISCARDED:
                self.publisher.discard(delivery)
        return ruling

    # --- looking back

    def explain(self, partition: str, number: int | None = None) -> BatchVerdict:
        """The verdict on a recorded run, from the history alone."""
        revision = self._revision(partition, number)
        return BatchVerdict(
            self.store.run(revision),
            revision,
            decision=revision.decision,
            owner=self.settings.owner,
            lately=self._lately(revision),
        )

    def recorded(self, revision: Revision) -> BatchVerdict:
        """The verdict on a recorded run without its states, for those who tell of many runs."""
        run = self.store.run(revision, states=False)
        return BatchVerdict(run, revision, decision=revision.decision, owner=self.settings.owner)

    def backtest(self, *, budgets: Iterable[float] = BUDGETS, spots: int = SPOTS) -> Backtest:
        """What would have been held in the past, and what would have been missed, from the recorded states alone."""
        return backtest(self.store, self.dataset, self.settings, budgets=budgets, spots=spots)

    def replay(self, partition: str, number: int | None = None) -> Verdict:
        """The learned part of a recorded verdict reached once more, from the history as it was known then."""
        revision = self._revision(partition, number)
        run = self.store.run(revision)
        return self.rejudge(run, self.lesson(before=partition, as_of=run.basis))

    def _revision(self, partition: str, number: int | None) -> Revision:
        known = self.store.revisions(self.dataset, partition)
        found = [each for each in known if number is None or each.number == number]
        if not found:
            raise UnknownRun(self.dataset, partition, number)
        return found[-1]

    def _standing(self, revision: Revision) -> Decision | None:
        return self._revision(revision.partition, revision.number).decision

    def _lately(self, revision: Revision) -> Lately:
        before = self.store.last(self.dataset, self.settings.runs, before=revision.partition)
        held = sum(each.decision in STOPPED for each in before)
        return Lately(len(before), held, before[-1].status if before else None)

    def _run(self, revision: Revision) -> Run:
        if revision.sequence not in self._runs:
            self._keep(revision, self.store.run(revision))
        return self._runs[revision.sequence]

    def _keep(self, revision: Revision, run: Run) -> None:
        if len(self._runs) >= _KEPT:
            self._runs.pop(next(iter(self._runs)))
        self._runs[revision.sequence] = run


def _measured_before(analysis: Analysis, asked: Sequence[Asked]) -> Measurements:
    segmented = [each for each in asked if each.by]
    if segmented:
        raise MisuseError(
            f"{segmented[0].expectation} is asked by segment, and an analysis is of the whole batch.",
            hint="Give the batch itself.",
        )
    return Measurements({(): analysis})
