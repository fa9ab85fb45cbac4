"""The keys of `headgate.yml` that say where batches are read and published."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from headgate.project.config_types import LocalPath, Option, Section, Text, make_error
from headgate.project.path_template import PARTITION, template_mistake
from headgate.project.row_filter import where_mistake

Format = Literal["parquet", "csv", "json", "orc", "delta", "iceberg"]
SPARK_FORMATS = ("delta", "iceberg")


ELSEWHERE = "elsewhere"


class SourceConfig(Section):
    """Where the batches of a dataset are. `elsewhere` alone: a job, a stream or a pipeline judges them."""

    elsewhere: bool = Field(
        default=False,
        description="Whether a job of your own judges the batches, by `gate.judge`, `hg.StreamGate` or "
        "`hg.expect_learned`. The command line shows their history, and records what people decide. "
        "`source: elsewhere` says the same.",
        examples=[True],
    )
    format: Format = Field(
        default="parquet",
        description="The format of the files; delta and iceberg need Spark and their jars. Of a table: delta or "
        "iceberg, so that a batch that was changed is known from the table's own log.",
        examples=["csv"],
    )
    path: Text | None = Field(
        default=None,
        description="Files or folders, relative to this file; {partition} stands for the batch and * for any name.",
        examples=["lake/orders/day={partition}"],
    )
    table: Text | None = Field(
        default=None, description="A table of the Spark catalogue, instead of a path.", examples=["shop.orders"]
    )
    where: Text | None = Field(
        default=None,
        description="Which rows are the batch, as a predicate in which '{partition}' stands for its name.",
        examples=["day = '{partition}'"],
    )
    options: dict[str, Option] = Field(
        default={},
        description="Options of Spark's reader; the local engine knows some for csv: sep, header, quote, nullValue.",
        examples=[{"sep": ";", "header": True}],
    )

    @model_validator(mode="after")
    def _one_place(self) -> SourceConfig:
        if self.elsewhere:
            if others := sorted(self.model_fields_set - {"elsewhere"}):
                raise make_error("batches that are judged elsewhere are not read.", "Leave it out.", others[0])
            return self
        if self.path is None and self.table is None:
            raise make_error("it names neither a path nor a table.", f'Write path: "lake/orders/day={PARTITION}".')
        if self.path is not None and self.table is not None:
            raise make_error("it names both a path and a table.", "Leave one of them out.", "table")
        if self.path is not None and (mistake := template_mistake(self.path)):
            raise make_error(*mistake, "path")
        if self.where is not None and (mistake := where_mistake(self.where)):
            raise make_error(*mistake, "where")
        if self.table is not None and PARTITION in self.table:
            raise make_error(
                "a table is one for all batches.", f"Write where: \"day = '{PARTITION}'\" beside table.", "table"
            )
        return self


class PublishConfig(Section):
    """Where batches are published. A text is a folder."""

    to: Literal["folders", "iceberg", "delta"] = Field(
        default="folders",
        description="What batches are published into: folders of this machine, or the table of the source.",
        examples=["iceberg"],
    )
    path: LocalPath | None = Field(
        default=None,
        description="For folders: the folder with staging, published and held in it.",
        examples=["lake/orders"],
    )
    staging: Text | None = Field(
        default=None,
        description="For delta: the folder for staged and held batches. By default it is beside the table.",
        examples=["s3a://lake/orders_headgate"],
    )
    retained_days: int | None = Field(
        default=None,
        ge=1,
        description="For iceberg: days for which a staged or held batch is kept; 90 if it is left out.",
        examples=[30],
    )

    quarantine: Text | None = Field(
        default=None,
        description="For iceberg and delta: a table for the bad rows of batches that are split, with the reasons. It "
        "is made when it is first needed.",
        examples=["lake.shop.orders_quarantine"],
    )

    @model_validator(mode="after")
    def _keys_fit(self) -> PublishConfig:
        if self.to == "folders" and self.path is None:
            raise make_error("it names no folder.", "Write publish: lake/orders, or to: iceberg.")
        for key, home in (("path", "folders"), ("staging", "delta"), ("retained_days", "iceberg")):
            if self.to != home and getattr(self, key) is not None:
                raise make_error(f"{key} is for {home} alone.", "Leave it out.", key)
        if self.to == "folders" and self.quarantine is not None:
            raise make_error("quarantine is for iceberg and delta alone.", "Leave it out.", "quarantine")
        return self


class ResultsConfig(Section):
    """The tables that verdicts, metrics and causes are written to."""

    to: Literal["iceberg", "delta"] = Field(description="The format of the tables.", examples=["iceberg"])
    tables: Text = Field(
        description="The name of the tables; _verdicts, _metrics and _causes is added to it.",
        examples=["lake.dq.headgate"],
    )


def parse_source(value: Any) -> Any:
    """The word `elsewhere` as the section that says so."""
    return {"elsewhere": True} if value == ELSEWHERE else value


def parse_publish(value: Any) -> Any:
    """A folder as the section that has nothing else."""
    return {"path": value} if isinstance(value, str) else value
