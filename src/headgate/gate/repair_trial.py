"""Judges a batch after its faults are undone, without recording anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from headgate.checks.check import Check
from headgate.diagnose.repair import repair_batch
from headgate.diagnose.repairable import describe_obstacles, list_repairable
from headgate.display.blocks import Commands
from headgate.display.page import Page
from headgate.engine.batch import rereadable
from headgate.engine.progress import Progress
from headgate.evaluate.context import BatchContext
from headgate.evaluate.evaluation import Evaluation, open_input
from headgate.evaluate.row_rules import RowFinder
from headgate.explain.next_steps import Language
from headgate.gate.batch_judge import BatchJudge
from headgate.gate.batch_verdict import BatchVerdict, describe_repairs
from headgate.store.port import HistoryStore
from headgate.values.errors import MisuseError
from headgate.values.run import Revision, Run


class RepairTrial(BatchVerdict):
    """What a gate would say of a batch after its faults are undone. It is not recorded, and nothing is moved.

    `data` is the repaired batch, `repairs` says in words what was done to it, `obstacles` what could not be undone.
    `original` is the verdict on the batch as it is.
    """

    def __init__(
        self,
        run: Run,
        original: BatchVerdict,
        data: Any,
        repairs: tuple[str, ...],
        obstacles: tuple[str, ...] = (),
        rows: RowFinder | None = None,
    ) -> None:
        revision = Revision.of(run, number=original.revision.number, sequence=original.revision.sequence)
        super().__init__(run, revision, owner=original.owner, recent=original.recent, rows=rows)
        self.original = original
        self.data = data
        self.obstacles = obstacles
        self._repairs = repairs

    @property
    def repairs(self) -> tuple[str, ...]:
        """What was done to the batch, in words."""
        return self._repairs

    @property
    def is_estimate(self) -> bool:
        """Whether the repaired values are only near the right ones: a factor, an offset or a shift is an estimate."""
        return any(each.estimated for each in list_repairable(self.original.diagnoses, self.original.run.schema))

    @property
    def headline(self) -> str:
        """One sentence: whether the batch would pass, and what was done to it."""
        done = "; ".join(self._repairs)
        would = "would pass" if self.passed else "would still not pass"
        return f"{self.dataset} {self.partition} {would} after this repair: {done}."

    def page(self, commands: Language = "python") -> Page:
        """The verdict on the repaired batch. There are no next steps: it is not recorded."""
        page = super().page(commands)
        blocks = tuple(each for each in page.blocks if not isinstance(each, Commands))
        return Page(self.headline, page.tone, page.status, blocks)

    @property
    def commands(self) -> tuple[str, ...]:
        return ()

    @property
    def shell_commands(self) -> tuple[str, ...]:
        return ()


def judge_repaired(
    verdict: BatchVerdict,
    data: Any,
    judge: BatchJudge,
    checks: Sequence[Check],
    store: HistoryStore,
    *,
    tables: Mapping[str, Any] | None = None,
    now: datetime | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> RepairTrial:
    """Undo the faults that explain a verdict, and judge the result in one scan.

    Args:
        verdict: The verdict on the batch as it is.
        data: The batch, or a function that reads it.
        judge: The judge of its partition.
        checks: What is expected of it.
        store: The history, for checks that look back.
        tables: Other tables that checks name.
        now: The time that freshness is measured against.
        progress: Called while the scan runs.
    """
    schema = verdict.run.schema
    diagnoses = verdict.diagnoses
    repairs = describe_repairs(diagnoses, schema, verdict.hides_values)
    obstacles = describe_obstacles(diagnoses, schema)
    if not repairs:
        why = "; ".join(obstacles) or "no known fault explains it"
        raise MisuseError(
            f"{verdict.dataset} {verdict.partition} cannot be repaired here: {why}.",
            hint="Repair the batch at its source, and judge it again.",
        )
    repaired = repair_batch(data() if callable(data) else data, diagnoses, schema, secret=store.secret)
    lookup_tables = rereadable(tables)
    batch = open_input(repaired, lookup_tables)
    context = BatchContext(batch.schema, lookup_tables, store, verdict.dataset, verdict.partition, now)
    evaluation = Evaluation.of(checks, context)
    measurements = evaluation.measure(batch, also=judge.metrics(batch.schema), progress=progress)
    run, judged = judge.to_run(evaluation, measurements)
    finder = RowFinder(judged, measurements, lookup_tables, store.secret)
    run = replace(judge.name_faults(run), awaits_decision=False)
    return RepairTrial(run, verdict, repaired, repairs, obstacles, finder)
