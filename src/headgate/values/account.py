"""What a gate records about a batch besides its verdict: budget, learners, and changes that it found."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from headgate.values.diagnosis import Diagnosis
from headgate.values.mute import Mute
from headgate.values.proposal import Proposal
from headgate.values.rarity_memory import NOTHING_REMEMBERED, BatchRarity, RarityMemory
from headgate.values.schema import Kind


class Action(StrEnum):
    """What the pipeline must do with a batch."""

    PUBLISH = "publish"
    HOLD = "hold"


class Mode(StrEnum):
    """In guard mode the gate holds batches that fail; in observe mode it only reports them."""

    GUARD = "guard"
    OBSERVE = "observe"


class HeldLevel(msgspec.Struct, frozen=True):
    """The values of a metric in some held batches and, last, in the batch after them, if they agree.

    They lie outside of `low` to `high`, the values before; both are None for a timestamp, which moves along.
    """

    metric: str
    values: tuple[float, ...]
    low: float | None = None
    high: float | None = None


class HeldSequence(msgspec.Struct, frozen=True):
    """The held batches directly before a batch that failed, and what agrees in them.

    `partitions` are the held batches, oldest first. `levels` are the metrics that agree in the last of them and in the
    batch. `alike` is how many of the last of them failed for the same causes and for no other. `step` is what one batch
    is about: a day, an hour; "batch" if they come irregularly.
    """

    partitions: tuple[str, ...] = ()
    levels: tuple[HeldLevel, ...] = ()
    alike: int = 0
    step: str = "batch"

    @property
    def alike_partitions(self) -> tuple[str, ...]:
        """The held batches that failed for the same causes and for no other, oldest first."""
        return self.partitions[len(self.partitions) - self.alike :]


class ColumnMemory(msgspec.Struct, frozen=True):
    """What is remembered of a column longer than runs are learned from.

    `values` are those of a column that has one value in each batch, the newest 24 of all accepted runs; for texts,
    numbers that stand for them. `functions` names the functions of the date that these values were so far. `kinds` are
    the kinds of type that the column had, if there are several.
    """

    values: tuple[float, ...] = ()
    functions: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


class MetricChange(msgspec.Struct, frozen=True):
    """The value of a metric in a batch, and its values in the accepted runs before, `low` to `high` in `runs` runs.

    `centre` is the value that was most likely, `kind` that of the column. `is_shifted` marks a timestamp that moves
    along with the runs: `low` and `high` are then moved to the time of the batch.
    """

    value: float
    low: float
    high: float
    runs: int
    centre: float | None = None
    kind: Kind | None = None
    is_shifted: bool = False


class ValueChangeKind(StrEnum):
    """How a frequent value of a column changed."""

    REWRITTEN = "rewritten"  # it is there, in another case or with other blanks around it
    MISSING = "missing"
    NEW = "new"
    SHARE = "share"  # it is much more or less frequent


class ValueChange(msgspec.Struct, frozen=True):
    """The values of a column that changed in one way: how many, and their share now, before, and in the newest run.

    `values` names the most frequent of them, `written` how these are written now, if they were rewritten. Both are
    empty in a store that hides values.
    """

    kind: ValueChangeKind
    count: int
    now: float
    before: float
    newest: float
    values: tuple[str, ...] = ()
    written: tuple[str, ...] = ()


class Drift(msgspec.Struct, frozen=True):
    """A metric that moved slowly: what it was since a partition long ago, and what it is now."""

    metric: str
    since: str
    before: float
    now: float


class Account(msgspec.Struct, frozen=True):
    """Recorded with the run, so that a verdict can be explained from the history alone.

    `runs` is the number of earlier runs that were learned from, `reference_attempts` their attempts. `budget` is the
    share of good batches that may be held by mistake, `spent` the part of it that the learned expectations use.
    `working_budget` is what limits were found with, if that is less: after more false alarms than the budget allows.
    `learners` says what each learner proposed, or why nothing. `notes` says where the range of a metric comes from.
    `column_changes` describes how columns with failures changed ("" for the table); `fewer_rows` says that fewer rows
    explain it. `text_rules` are learned from this batch: they apply to the next one if this one is accepted.
    `contributions` are the metrics that make the batch unlike the others, each with its share. `changes` are further
    changes of the batch, in words. `copy_of` is the partition of an earlier run with exactly the same rows. `time` is
    the period of the batch, if somebody stated it. `held` are the held batches directly before it that agree with it.
    `scope` says in words what was ignored or pinned. `mutes` are the columns that were muted. `memory` is what was
    remembered of columns before this batch. `metric_changes` are the metrics that failed and those that
    `column_changes` speaks of, `value_changes` the frequent values that changed, by column. `rarity` is how rare the
    batch is; None for too few runs. `rarities` is how rare the good batches before it were. `diagnoses` are the faults
    that explain what failed, the surest first. `repaired` says in words what was undone in the batch before it was
    judged. Stored names are older than some of these names.
    """

    mode: Mode = Mode.GUARD
    action: Action = Action.HOLD
    budget: float = 0.0
    spent: float = 0.0
    working_budget: float | None = None
    runs: int = 0
    reference_attempts: tuple[str, ...] = msgspec.field(default=(), name="after")
    learners: dict[str, str] = {}
    notes: dict[str, str] = {}
    column_changes: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict, name="found")
    fewer_rows: bool = msgspec.field(default=False, name="short")
    text_rules: tuple[Proposal, ...] = msgspec.field(default=(), name="shapes")
    contributions: tuple[tuple[str, float], ...] = msgspec.field(default=(), name="blamed")
    changes: tuple[str, ...] = ()
    copy_of: str = ""
    time: str = ""
    held: HeldSequence = HeldSequence()
    scope: str = ""
    mutes: tuple[Mute, ...] = ()
    memory: dict[str, ColumnMemory] = {}
    metric_changes: dict[str, MetricChange] = {}
    value_changes: dict[str, tuple[ValueChange, ...]] = {}
    drifts: tuple[Drift, ...] = ()
    rarity: BatchRarity | None = None
    rarities: RarityMemory = NOTHING_REMEMBERED
    diagnoses: tuple[Diagnosis, ...] = ()
    repaired: tuple[str, ...] = ()
