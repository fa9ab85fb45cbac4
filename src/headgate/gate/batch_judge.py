"""Judges one batch: says what must be measured of it, and makes the run that is recorded.

Tested by `tests/gate/test_gate.py` and `tests/gate/test_cold_start.py`.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from headgate.diagnose.diagnose import SURE, UNSURE, diagnose_batch
from headgate.diagnose.locate import locate_faults
from headgate.diagnose.table_pair import TablePair
from headgate.diagnose.usual_case import add_usual_cases
from headgate.engine.analysis import Analysis
from headgate.evaluate.evaluation import Evaluation, PlannedExpectation
from headgate.evaluate.measurements import Measurements
from headgate.evaluate.row_rules import JudgedExpectation
from headgate.explain.batch_changes import describe_changes
from headgate.explain.column_changes import ColumnChanges, changes_behind
from headgate.explain.held_sequence import find_held_sequence
from headgate.explain.value_changes import describe_value_change, find_value_changes
from headgate.gate.fingerprint import fingerprint_batch
from headgate.gate.settings import Settings
from headgate.learn import text_rules
from headgate.learn.learned import Learned, Learner
from headgate.learn.patterns.index import PatternIndex
from headgate.learn.pins import metrics_of_pins
from headgate.learn.segment_history import name_segment_states
from headgate.learn.unseen_values import find_unseen_rows
from headgate.metrics.base.metric import Metric
from headgate.metrics.base.registry import default_metrics, from_key, metrics
from headgate.metrics.checksum import Checksum
from headgate.metrics.size import Size
from headgate.metrics.states.sample import Sample
from headgate.metrics.value_sample import ValueSample
from headgate.values.account import Account
from headgate.values.diagnosis import Diagnosis
from headgate.values.expectation import Expectation, Judgement, Level, Source, Status
from headgate.values.key import MetricKey
from headgate.values.mute import Mute
from headgate.values.outcome import Failed, Outcome
from headgate.values.period import Period
from headgate.values.predicate import Between, Pending
from headgate.values.proposal import Proposal
from headgate.values.run import UNREAD, Revision, Run
from headgate.values.schema import Schema
from headgate.values.state import State
from headgate.values.verdict import Verdict, judge

_LOG = logging.getLogger(__name__)

HAS_ROWS = Expectation(Size().key, Between(low=1), Source.RULES, rule="has_rows()")
"""What every batch must meet unless a check says something else of its size: so that there is always a verdict."""

_NOT_RECORDED = (ValueSample.name, Checksum.name)  # no numbers to learn from
_COMPLETENESS = "completeness"  # every column has it, so where it failed nothing was read of the column


def _expect_read(key: MetricKey) -> Expectation:
    """What every column must meet: an unread one is an error, whether or not anything is expected of it."""
    return Expectation(key, Between(low=0.0), Source.RULES, rule=f"is_read({key.columns[0]})")


@dataclass(frozen=True)
class BatchJudge:
    """Judges a batch of a partition by what was learned from the runs before it.

    `suite` tells the gate's checks and settings from others, `basis` is the last commit that was known. `source` is
    what is staged, `after` the number of the revision that readers have. `order_note` says why the batch is judged by
    other runs than those before it. `secret` is the key of a store that must not get a value of the data. The index
    is opened only where a rule has to be learned. `period` is the time of the batch, if somebody stated it. `mutes` are
    the columns that are muted. `read_held` reads the held runs directly before it, which is done only if it fails.
    `repaired` says what was undone in the batch before.
    """

    dataset: str
    partition: str
    settings: Settings
    suite: str
    source: str
    after: int
    basis: int
    learned: Learned
    order_note: str
    secret: bytes | None
    index: Callable[[], PatternIndex]
    period: Period | None = None
    read_held: Callable[[], Sequence[tuple[Revision, Run]]] = tuple
    mutes: tuple[Mute, ...] = ()
    repaired: tuple[str, ...] = ()

    def metrics(self, schema: Schema) -> list[Metric[Any]]:
        """What the one scan measures of the whole batch besides what checks ask for."""
        return list_metrics(self.settings, self.learned, schema)

    def to_run(
        self, evaluation: Evaluation, measurements: Measurements, fingerprint: str | None = None
    ) -> tuple[Run, list[JudgedExpectation]]:
        """The run to be recorded, and every judgement with its metric, by which failing rows are found."""
        batch, declared = measurements.whole, evaluation.judge(measurements)
        on_samples = text_rules.measure_on_samples(self.learned.text_rules, batch.states, batch.outcomes)
        outcomes = self.learned.extend_outcomes(batch.schema, batch.outcomes | on_samples, batch.states)
        outcomes = {key: outcome for key, outcome in outcomes.items() if key.name not in _NOT_RECORDED}
        judged = [*declared, *self._judge_learned(batch, outcomes, evaluation)]
        verdict = Verdict(tuple(each.judgement for each in judged))
        run = Run(
            dataset=self.dataset,
            partition=self.partition,
            fingerprint=fingerprint or fingerprint_batch(batch, [each.judgement for each in declared]),
            source=self.source,
            suite=self.suite,
            schema=batch.schema,
            outcomes=outcomes,
            states={
                **{key: state for key, state in batch.states.items() if not isinstance(state, Sample)},
                **self._name_segment_states(measurements),
            },
            verdict=verdict,
            account=self._write_account(batch, outcomes, verdict),
            basis=self.basis,
            awaits_decision=True,
            after=self.after,
        )
        return self._compare_with_held(run), judged

    def _name_segment_states(self, measurements: Measurements) -> dict[MetricKey, State]:
        """The states of segments that are kept with every run."""
        found: dict[MetricKey, State] = {}
        for column in self.settings.segments:
            found |= name_segment_states(column, measurements.find_segments((column,)), self.secret)
        return found

    def _compare_with_held(self, run: Run) -> Run:
        """The run, with what it has in common with the held runs directly before it, if it failed."""
        if run.verdict.status is not Status.FAIL or run.account is None or not (before := self.read_held()):
            return run
        held = find_held_sequence(run, before, self.learned.past)
        return replace(run, account=replace(run.account, held=held))

    def name_faults(self, run: Run, data: Any = None) -> Run:
        """The run, with the faults that explain why it failed, and the rows that they are in.

        Whatever fails here changes no verdict: the faults then stay without their rows, or unnamed.

        Args:
            run: The run, as `to_run` gives it.
            data: The batch, if it can be read once more; without it, no rows are named.
        """
        account, past = run.account, self.learned.past
        if account is None or past is None or run.verdict.status not in (Status.FAIL, Status.ERROR):
            return run
        batch = (past, run.schema, run.states, run.outcomes, sorted(_list_failed(run.verdict), key=str))
        found: Sequence[Diagnosis] = ()
        try:
            found = diagnose_batch(*batch, account.copy_of, least=UNSURE)
            if data is not None and run.verdict.status is Status.FAIL:
                found = locate_faults(found, TablePair(*batch, account.copy_of), data)
        except Exception as error:
            self._log_failure(error)
        sure = sorted((each for each in found if each.confidence >= SURE), key=lambda each: -each.confidence)
        return replace(run, account=replace(account, diagnoses=add_usual_cases(sure, past)))

    def _log_failure(self, error: Exception) -> None:
        """Without the words of the error, which may quote the data."""
        _LOG.warning(
            "%s %s was judged, but its fault could not be named: %s", self.dataset, self.partition, type(error).__name__
        )

    def unreadable_run(self, error: Exception) -> Run:
        """A batch that could not be read is recorded too, as an error: it is held.

        Nothing of the input was seen, so it gets a name of its own: a second try is another run. The words of an
        exception may quote the data, which a store that hides values must not get.
        """
        words = f": {error}" if self.secret is None else ""
        why = f"the batch could not be read: {type(error).__name__}{words}"
        return Run(
            dataset=self.dataset,
            partition=self.partition,
            fingerprint=f"{UNREAD}{uuid.uuid4().hex}",
            source=self.source,
            suite=self.suite,
            verdict=Verdict((Judgement(HAS_ROWS, Status.ERROR, why),)),
            account=Account(self.settings.mode, self.settings.action(Status.ERROR), self.settings.false_alarms),
            basis=self.basis,
            awaits_decision=True,
            after=self.after,
        )

    def _judge_learned(
        self, batch: Analysis, outcomes: Mapping[MetricKey, Outcome], evaluation: Evaluation
    ) -> list[JudgedExpectation]:
        """The judgements on what nobody declared."""
        judgements = list(self.learned.judge(outcomes, batch.schema).judgements)
        pins_rows = any(each.metric == HAS_ROWS.metric for each in self.settings.pins)
        if not pins_rows and not any(map(_expects_rows, evaluation.planned)):
            judgements = [*judge([HAS_ROWS], outcomes).judgements, *judgements]
        unread = [
            _expect_read(key) for key in outcomes if key.name == _COMPLETENESS and isinstance(outcomes[key], Failed)
        ]
        judgements += judge(unread, outcomes).judgements
        # rules of checks count from 0, so those of learned expectations are negative
        return [self._find_rows(-1 - at, judgement, batch) for at, judgement in enumerate(judgements)]

    def _find_rows(self, rule: int, judgement: Judgement, batch: Analysis) -> JudgedExpectation:
        """A learned judgement with what tells the rows that fail it: its metric, or the values that no run had."""
        rows = None
        if judgement.status is Status.FAIL:
            rows = find_unseen_rows(self.learned.past, judgement.expectation.metric, batch.states)
        return JudgedExpectation("learned", rule, _find_metric(judgement), judgement, rows)

    def _write_account(self, batch: Analysis, outcomes: Mapping[MetricKey, Outcome], verdict: Verdict) -> Account:
        learned = self.learned
        bad = _list_failed(verdict)
        changes = changes_behind(learned, outcomes, batch.states, bad) if bad else ColumnChanges()
        account = Account(
            mode=self.settings.mode,
            action=self.settings.action(verdict.status),
            budget=self.settings.false_alarms,
            spent=learned.program.cost,
            working_budget=learned.program.lowered_budget,
            runs=0 if learned.past is None else len(learned.past),
            reference_attempts=learned.reference_attempts,
            learners={**learned.learner_notes, **({"order": self.order_note} if self.order_note else {})},
            notes=learned.describe_ranges(bad),
            text_rules=self._learn_text_rules(batch, outcomes),
            changes=describe_changes(learned.past, batch.schema, outcomes, learned.scope),
            copy_of=learned.find_copy(batch.states),
            time="" if self.period is None else str(self.period),
            scope=self.settings.describe_scope(),
            mutes=self.mutes,
            repaired=self.repaired,
            memory={} if learned.past is None else dict(learned.past.memory),
            drifts=learned.find_drifts(outcomes),
            rarity=learned.measure_rarity(outcomes, verdict),
            rarities=learned.memory,
        )
        return self._add_rare_columns(changes.add_to(account), batch, outcomes, bad) if bad else changes.add_to(account)

    def _add_rare_columns(
        self, account: Account, batch: Analysis, outcomes: Mapping[MetricKey, Outcome], bad: Collection[MetricKey]
    ) -> Account:
        """The account with how values changed in columns that did not fail, but are nearly too rare.

        They may tell why another failed: rows are missing because one value is.
        """
        failed = {key.columns[0] for key in bad if key.columns}
        columns = [each for each in self.learned.find_rare_columns(outcomes) if each not in failed]
        found = find_value_changes(self.learned.past, batch.states, columns)
        told = [f"{column}: {describe_value_change(each)}" for column in columns for each in found.get(column, ())]
        if Size().key not in bad:
            return replace(account, changes=(*account.changes, *told))
        of_table = (*told, *account.column_changes.get("", ()))
        return replace(account, column_changes={**account.column_changes, "": of_table}) if told else account

    def _learn_text_rules(self, batch: Analysis, outcomes: Mapping[MetricKey, Outcome]) -> tuple[Proposal, ...]:
        if Learner.PATTERNS not in self.settings.learners:
            return ()
        return text_rules.learn_rules(batch.states, outcomes, self.learned.text_rules, self.index())


def _list_failed(verdict: Verdict) -> set[MetricKey]:
    return {each.expectation.metric for each in verdict.judgements if each.status in (Status.FAIL, Status.ERROR)}


def list_metrics(settings: Settings, learned: Learned, schema: Schema) -> list[Metric[Any]]:
    """What a scan measures of a batch besides what checks ask for."""
    wanted: list[Metric[Any]] = [Size(), Checksum(), *default_metrics(schema)]
    wanted += metrics_of_pins(settings.pins)
    if Learner.PATTERNS in settings.learners:
        wanted += map(from_key, text_rules.applicable(learned.text_rules, schema, learned.scope))
        wanted += text_rules.sample_metrics(schema, learned.scope)
    return wanted


def _expects_rows(planned: PlannedExpectation) -> bool:
    """Whether a check says how many rows the batch must have, so that it may also be empty."""
    expectation = planned.expectation
    strict = expectation.level is Level.ERROR and not isinstance(expectation.predicate, Pending)
    return strict and not planned.by and expectation.metric == HAS_ROWS.metric


def _find_metric(judgement: Judgement) -> Metric[Any] | None:
    """The metric that was judged; a distance and the novelty of the whole have none that reads rows."""
    key = judgement.expectation.metric
    return from_key(key) if key.name in metrics() else None
