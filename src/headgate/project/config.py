"""The model of `headgate.yml`: every key with its type, its default, its description and an example."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    InstanceOf,
    PlainSerializer,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from headgate.checks.check import Check
from headgate.gate.settings import FALSE_ALARMS, RUNS
from headgate.learn.drift import HOLD_FACTOR
from headgate.project.config_types import Days, ListOf, LocalPath, Option, Secret, Section, Text, make_error
from headgate.project.row_filter import column_of
from headgate.project.source_config import (
    SPARK_FORMATS,
    PublishConfig,
    ResultsConfig,
    SourceConfig,
    parse_publish,
    parse_source,
)
from headgate.values.errors import MisuseError, did_you_mean

Learning = Literal["history", "patterns", "novelty"]
_TABLE_SOURCE = "Write source: {table: lake.shop.orders, where: \"day = '{partition}'\"}."
_MASTER = re.compile(r"local(\[|-cluster\[|$)|yarn$|spark://|k8s://")


def _parse_checks(value: Any) -> Any:
    """Checks from plain data, as a model that is made in Python has them; the file's are read by `tree`."""
    from headgate.project.tree import check_of

    return check_of(value) if isinstance(value, list | tuple) else value


Checks = Annotated[
    InstanceOf[Check],
    BeforeValidator(_parse_checks),
    WithJsonSchema({"type": "array"}),
    PlainSerializer(lambda check: [str(rule) for rule in check.rules], return_type=list[str]),
]


def _check_metric_name(name: str) -> str:
    from headgate.learn.scope import require_metric_name

    _explain_misuse(lambda: require_metric_name(name))
    return name


def _check_pins(pins: Any) -> Any:
    """Pins of known metrics whose ranges are ranges; a mistake is found at its key."""
    from headgate.learn.pins import read_pins

    for name, given in pins.items():
        _explain_misuse(partial(read_pins, {name: given}), name)
    return pins


def _explain_misuse(call: Callable[[], Any], key: str = "") -> None:
    """Call a function; a `MisuseError` of it becomes a mistake of the file."""
    try:
        call()
    except MisuseError as error:
        raise make_error(str(error).removesuffix(error.hint).strip(), error.hint, key) from None


MetricName = Annotated[Text, AfterValidator(_check_metric_name)]
PinConfig = Annotated[dict[str, Any], AfterValidator(_check_pins), WithJsonSchema({"type": "object"})]


class LearnConfig(Section):
    """Who learns, of which columns, from which metrics. A list names who learns."""

    learners: ListOf[Learning] = Field(
        default=("history", "patterns", "novelty"),
        alias="from",
        description="Who may propose expectations beside the checks; [] for nobody.",
        examples=[["history", "patterns"]],
    )
    columns: ListOf[Text] | None = Field(
        default=None,
        description="The columns that are learned from; * stands for any characters. All if left out.",
        examples=[["price", "qty_*"]],
    )
    metrics: ListOf[MetricName] | None = Field(
        default=None,
        description="The metrics that are learned from, size for the number of rows among them. All if left out.",
        examples=[["size", "completeness", "mean"]],
    )


def _parse_learn(value: Any) -> Any:
    """A list of learners, or one of them, as the section that has nothing else."""
    return {"from": value} if isinstance(value, str | list | tuple) else value


class DatasetConfig(Section):
    """One recurring table: where its batches come from, what is expected of them, and what becomes of them."""

    source: Annotated[SourceConfig, BeforeValidator(parse_source)] = Field(
        description="Where the batches are; elsewhere, if a job, a stream or a pipeline of yours judges them.",
        examples=[{"format": "parquet", "path": "lake/orders/day={partition}"}, "elsewhere"],
    )
    engine: Literal["local", "spark"] | None = Field(
        default=None,
        description="What reads and measures a batch: this process, or Spark. By default Spark where the file has "
        "spark:, a session is given, or the source needs it.",
        examples=["local"],
    )
    false_alarms: float = Field(
        default=FALSE_ALARMS,
        ge=0,
        lt=1,
        allow_inf_nan=False,
        description="The share of good batches of this table that may be held by what was learned. With budget:, "
        "tables without it get theirs from their group.",
        examples=[0.01],
    )
    owner: Text | None = Field(
        default=None, description="Who is to be asked, as reports and alerts name them.", examples=["payments@"]
    )
    mode: Literal["guard", "observe"] = Field(
        default="guard",
        description="guard holds batches that do not pass; observe judges and records, and holds nothing.",
        examples=["observe"],
    )
    runs: int = Field(default=RUNS, ge=1, description="From how many of the last good runs is learned.", examples=[60])
    learn: Annotated[LearnConfig, BeforeValidator(_parse_learn)] = Field(
        default=("history", "patterns", "novelty"),
        validate_default=True,
        description="Who may propose expectations beside the checks, as a list; or a mapping, which also says of which "
        "columns and metrics.",
        examples=[["history", "patterns"], {"from": ["history"], "columns": ["price", "qty_*"]}],
    )
    drift: float = Field(
        default=HOLD_FACTOR,
        ge=0,
        allow_inf_nan=False,
        description="How many times less or more than long ago rows or values may be, before a batch is held for "
        "having moved slowly; 0 holds none for that.",
        examples=[4],
    )
    segments: ListOf[Text] = Field(
        default=(),
        description="Columns by whose values states are kept with every run: the rows of a fault are found "
        "more surely.",
        examples=[["carrier"]],
    )
    ignore: ListOf[Text] = Field(
        default=(),
        description="Columns of which nothing is learned or expected; * stands for any characters. Checks still apply.",
        examples=[["etl_id", "debug_*"]],
    )
    pin: PinConfig = Field(
        default={},
        description="Ranges for metrics instead of learned ones: by column and metric, and by metric for the table. "
        "null is no limit.",
        examples=[{"price": {"mean": [20, 30]}, "size": [900, None]}],
    )
    index: LocalPath | None = Field(
        default=None,
        description="A file of patterns that headgate index build wrote; the public index if left out.",
        examples=["lake.hgi"],
    )
    time: Text | None = Field(
        default=None,
        description="How the name of a partition tells the time of its batch, as strptime has it. By default dates, "
        "hours, weeks and months are found in the name.",
        examples=["%d%m%y"],
    )
    calendar: dict[Text, Days] = Field(
        default={},
        description="Lists of days whose batches are compared with each other, by name: days, or a file with one in "
        "each line.",
        examples=[{"holidays": ["2026-12-25", "2026-12-26", "2027-01-01"], "sales": "sales.txt"}],
    )
    publish: Annotated[PublishConfig | None, BeforeValidator(parse_publish)] = Field(
        default=None,
        description="Where batches are published once judged: a folder with staging, published and held in it, whose "
        "staging/{partition} is the source; or a mapping, for a table.",
        examples=["lake/orders", {"to": "iceberg"}],
    )
    keys: ListOf[Text] = Field(
        default=(),
        description="Columns that name a row, shown beside example rows in reports.",
        examples=[["order_id"]],
    )
    show_values: bool = Field(
        default=False, description="Whether reports show values of failing rows; they hold data then.", examples=[True]
    )
    checks: Checks = Field(
        default_factory=lambda: Check("checks"),
        description="What a person expects of every batch, as a list of constraints.",
        examples=[[{"is_complete": ["order_id", "customer_id"]}, {"is_unique": "order_id"}]],
    )

    @field_validator("time")
    @classmethod
    def _tells_a_year(cls, form: str | None) -> str | None:
        if form is not None and not any(mark in form for mark in ("%Y", "%y", "%G", "%F", "%D", "%x", "%c", "%s")):
            raise make_error(f"{form!r} names no year.", "Write it as strptime has it, such as %Y-%m-%d.")
        return form

    @model_validator(mode="after")
    def _engine_fits(self) -> DatasetConfig:
        if self.engine != "local":
            return self
        if self.source.table is not None:
            raise make_error(
                "the local engine reads files, not tables.", "Write engine: spark, or source: {path: ...}.", "engine"
            )
        if self.source.format in SPARK_FORMATS:
            raise make_error(f"the local engine does not read {self.source.format}.", "Write engine: spark.", "engine")
        return self

    @model_validator(mode="after")
    def _publish_fits(self) -> DatasetConfig:
        if self.publish is not None and self.source.elsewhere:
            raise make_error("batches that are judged elsewhere are published there.", "Leave it out.", "publish")
        return self

    @model_validator(mode="after")
    def _table_fits(self) -> DatasetConfig:
        if self.publish is None or self.publish.to == "folders":
            return self
        to, source = self.publish.to, self.source
        if source.table is None:
            raise make_error(f"{to} publishes into a table, and source names none.", _TABLE_SOURCE, "source")
        if source.where is None or column_of(source.where) is None:
            raise make_error("source does not say which column tells the batch.", _TABLE_SOURCE, "source")
        if "format" in source.model_fields_set and source.format != to:
            raise make_error(
                f"source is a table of {source.format}, not of {to}.", "Write the same for both.", "publish"
            )
        return self

    @property
    def needs_spark(self) -> bool:
        return self.source.table is not None or self.source.format in SPARK_FORMATS


class SparkConfig(Section):
    """The Spark session, where none is given and none is active."""

    master: Text | None = Field(
        default=None, description="The cluster, or local[N] for threads of this machine.", examples=["local[4]"]
    )
    remote: Secret | None = Field(
        default=None,
        description="The address of a Spark Connect server, instead of a master.",
        examples=["sc://spark.internal:15002"],
    )
    config: dict[str, Option] = Field(
        default={}, description="Settings of Spark.", examples=[{"spark.sql.session.timeZone": "UTC"}]
    )
    packages: ListOf[Text] = Field(
        default=(),
        description="Maven coordinates of jars that Spark fetches when it starts.",
        examples=[["io.delta:delta-spark_2.13:4.0.0"]],
    )

    @model_validator(mode="after")
    def _one_cluster(self) -> SparkConfig:
        if self.master is not None and not _MASTER.match(self.master):
            raise make_error(
                "it names no cluster that Spark knows.", "Write local[4], yarn, spark://... or k8s://...", "master"
            )
        if self.master is not None and self.remote is not None:
            raise make_error("it names both a master and a remote.", "Leave one of them out.", "remote")
        if self.remote is not None and self.packages:
            raise make_error(
                "a Connect server has its jars already.",
                "Leave packages out, and start the server with them.",
                "packages",
            )
        return self


class AlertConfig(Section):
    """Somebody who is told of trouble and of health."""

    webhook: Secret | None = Field(
        default=None, description="An address that notices are posted to, as JSON.", examples=["${env:WEBHOOK_URL}"]
    )
    slack: Secret | None = Field(
        default=None, description="An incoming webhook of Slack.", examples=["${env:SLACK_URL}"]
    )
    on: Literal["status_change", "every_hold"] = Field(
        default="status_change",
        description="Whether only a change of status is told, or every held batch too.",
        examples=["every_hold"],
    )
    every: float = Field(
        default=3600.0,
        ge=0,
        allow_inf_nan=False,
        description="Trouble of one dataset is told at most once in so many seconds.",
        examples=[900],
    )
    headers: dict[str, Secret] = Field(
        default={},
        description="Headers of the webhook's requests.",
        examples=[{"Authorization": "Bearer ${env:TOKEN}"}],
    )
    memory: LocalPath | None = Field(
        default=None,
        description="A file in which the next process finds what was told; each alert needs its own.",
        examples=["alerts.json"],
    )

    @model_validator(mode="after")
    def _one_receiver(self) -> AlertConfig:
        if (self.webhook is None) == (self.slack is None):
            which = "neither a webhook nor slack" if self.webhook is None else "both a webhook and slack"
            raise make_error(f"it names {which}.", "Write slack: ${env:SLACK_URL}, and one alert for each receiver.")
        if self.slack is not None and self.headers:
            raise make_error(
                "Slack takes no headers.", "Leave headers out, or write webhook: instead of slack:.", "headers"
            )
        return self


class BudgetConfig(Section):
    """How many false alarms a group of tables may raise together."""

    alarms_per_week: float = Field(
        gt=0,
        allow_inf_nan=False,
        description="How many good batches of these tables may be held in a week, all together.",
        examples=[2],
    )
    datasets: ListOf[Text] = Field(
        default=("*",),
        min_length=1,
        description="Its tables; * stands for any characters. A table is of the first group that names it.",
        examples=[["sales_*", "orders"]],
    )


def _parse_budgets(value: Any) -> Any:
    """One group as a list of one."""
    return (value,) if isinstance(value, dict) else value


class Config(Section):
    """All of `headgate.yml`."""

    store: Secret = Field(
        description="Where the history is kept: file:, sqlite:, postgresql+psycopg:, s3:, gs:, az: or memory:; or in a "
        "table of Spark, iceberg: or delta: and its name.",
        examples=["${env:HEADGATE_STORE}", "file:history", "sqlite:///history.db"],
    )
    values: Literal["hidden", "plain"] = Field(
        default="hidden",
        description="Whether texts of the data are kept in the store as keyed hashes, or as they are.",
        examples=["plain"],
    )
    secret: Secret | None = Field(
        default=None,
        description="The key of those hashes; the store makes its own if it is left out.",
        examples=["${env:HEADGATE_SECRET}"],
    )
    reports: LocalPath | None = Field(
        default=None, description="The folder that headgate run writes pages to.", examples=["reports"]
    )
    budget: Annotated[ListOf[BudgetConfig], BeforeValidator(_parse_budgets)] = Field(
        default=(),
        description="How many false alarms a week groups of tables may raise, for tables without false_alarms: one "
        "group, or a list of them.",
        examples=[{"alarms_per_week": 2}],
    )
    evidence: LocalPath | None = Field(
        default=None,
        description="A file that headgate calibrate wrote: how rare good batches of your own tables are.",
        examples=["evidence.json"],
    )
    spark: SparkConfig | None = Field(
        default=None,
        description="The Spark session; without it batches are read by this process, and no JVM is started.",
        examples=[{"master": "local[4]"}],
    )
    datasets: dict[str, DatasetConfig] = Field(
        min_length=1,
        description="The tables that are guarded, by name.",
        examples=[{"orders": {"source": {"path": "lake/orders/day={partition}"}}}],
    )
    results: ResultsConfig | None = Field(
        default=None,
        description="Tables of Spark that verdicts, metrics and causes are written to at the end of a run.",
        examples=[{"to": "iceberg", "tables": "lake.dq.headgate"}],
    )
    alerts: ListOf[AlertConfig] = Field(
        default=(),
        description="Who is told of trouble.",
        examples=[[{"slack": "${env:SLACK_URL}", "on": "status_change"}]],
    )

    @model_validator(mode="after")
    def _groups_have_tables(self) -> Config:
        for number, group in enumerate(self.budget, 1):
            for pattern in group.datasets:
                if not any(fnmatchcase(name, pattern) for name in self.datasets):
                    raise make_error(
                        f"no dataset is named {pattern!r};", did_you_mean(pattern, list(self.datasets)), "budget"
                    )
            if not any(self.find_group(name) is group for name in self.datasets):
                raise make_error(
                    f"no table is left for group {number}: all are of an earlier one, or have false_alarms.",
                    "Write the group of the fewest tables first.",
                    "budget",
                )
        return self

    def find_group(self, name: str) -> BudgetConfig | None:
        """The first group that a dataset is of; None if it has a budget of its own, or no group names it."""
        if "false_alarms" in self.datasets[name].model_fields_set:
            return None
        return next((group for group in self.budget if any(fnmatchcase(name, each) for each in group.datasets)), None)

    @model_validator(mode="after")
    def _memories_apart(self) -> Config:
        files = [each.memory for each in self.alerts if each.memory is not None]
        if len(files) > len(set(files)):
            raise make_error("two alerts share one memory.", "Give each a file of its own.", "alerts")
        return self
