"""Repairs held batches of a dataset: judges what undoing their faults gives, and stages it as a new input.

Tested by `tests/cli/commands/test_repair.py`, with Spark by `tests/spark/test_repair.py`, on tables by
`tests/integrations/tables/test_project.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from headgate.engine.batch import is_spark
from headgate.engine.progress import Progress
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.publish.batch_moves import as_publish_error, delete_batch, move_folder, sync_names
from headgate.gate.publish.folders import Folders
from headgate.gate.publish.publisher import Delivery
from headgate.gate.repair_trial import RepairTrial
from headgate.project.dataset import Dataset
from headgate.values.errors import EngineError, MisuseError
from headgate.values.run import Decision

_REPAIRED = frozenset({Decision.HELD, Decision.OBSERVED, Decision.REJECTED})
_STAGED_FORMATS = ("parquet", "orc")  # which keep the types of columns
_ELSEWHERE = "--to PATH writes the repaired rows to a Parquet file, --dry-run only judges them."


def try_repair(
    dataset: Dataset, verdict: BatchVerdict, *, progress: Callable[[Progress], None] | None = None
) -> RepairTrial:
    """Read a batch that did not pass, undo its faults, and judge the result. Nothing is recorded or moved.

    Args:
        dataset: The dataset.
        verdict: The recorded verdict on the batch.
        progress: Called while the scan runs.
    """
    _require_undecided(dataset, verdict)
    return dataset.gate.try_repair(
        lambda: dataset.read_revision(verdict.revision),
        verdict.partition,
        number=verdict.revision.number,
        time=dataset.read_time(verdict.partition),
        progress=progress,
    )


def require_staging(dataset: Dataset, verdict: BatchVerdict) -> None:
    """Refuse a batch whose repaired rows cannot be staged: nothing that readers have is touched."""
    _require_undecided(dataset, verdict)
    publisher, revision = dataset.gate.publisher, verdict.revision
    name = f"{dataset.name} {revision.partition}"
    if dataset.is_judged_elsewhere:
        dataset.read_revision(revision)  # which says where the rows are
    if publisher is None:
        raise MisuseError(
            f"headgate does not publish the batches of {dataset.name}, so there is no staging to write to.",
            hint=_ELSEWHERE,
        )
    state = publisher.state(Delivery.of(revision))
    if state == "published" or dataset.gate.mover.is_replaced(revision):
        which = "it" if state == "published" else "a newer revision of it"
        raise MisuseError(f"{name} is left alone: readers have {which}.", hint=_ELSEWHERE)
    if state != "held":
        raise MisuseError(f"{name} is not held.", hint="Only a held batch is repaired and staged again.")
    if isinstance(publisher, Folders) and dataset.settings.source.format not in _STAGED_FORMATS:
        raise MisuseError(
            f"{dataset.name} is staged as {dataset.settings.source.format}, which may change types.", hint=_ELSEWHERE
        )


def stage_repaired(dataset: Dataset, partition: str, rows: Any) -> str:
    """Write repaired rows to where the job stages its batches, as a new input. Says where that is."""
    publisher = dataset.gate.publisher
    if isinstance(publisher, Folders):
        return str(_stage_in_folder(publisher.staging_path(partition), rows, dataset.settings.source.format))
    from headgate.integrations.spark_tables import SparkTablePublisher

    assert isinstance(publisher, SparkTablePublisher)
    publisher.stage(rows, partition)
    return publisher.table


def write_parquet(rows: Any, path: str) -> None:
    """Write repaired rows where nothing is yet: with Spark to a folder, which may have an address, else to a file."""
    _write_rows(rows, path, "parquet")


def require_free_path(path: str) -> None:
    """Refuse a path of this machine at which there is something, or whose folder does not exist."""
    if "://" in path:
        return
    if os.path.lexists(path):
        raise MisuseError(f"there is something at {path} already.", hint="Name a path at which there is nothing.")
    if not Path(path).absolute().parent.is_dir():
        raise MisuseError(f"there is no folder {Path(path).absolute().parent}.", hint="Make it, or name another path.")


def _require_undecided(dataset: Dataset, verdict: BatchVerdict) -> None:
    """Refuse a batch that passed, that somebody has decided about, or that another input waits to replace."""
    name, partition = f"{dataset.name} {verdict.partition}", verdict.partition
    if verdict.decision is None:
        raise MisuseError(f"{name} was judged and not yet held.", hint="headgate recover finishes that.")
    if verdict.decision not in _REPAIRED:
        more = "Its bad rows have a way back: docs/guides/tables.md." if verdict.decision is Decision.SPLIT else ""
        raise MisuseError(f"{name} was {verdict.decision.value}.", hint=more or "Only a held batch is repaired.")
    publisher = dataset.gate.publisher
    if publisher is not None and publisher.identify_staged(partition):
        raise MisuseError(f"another input of {name} is staged, and waits.", hint="Judge it first: headgate run.")


def _stage_in_folder(place: Path, rows: Any, form: str) -> Path:
    """Write a batch beside its place under a name that nothing reads, then rename it: it is staged whole."""
    draft = place.with_name(f".{place.name}~repaired")
    with as_publish_error(place):
        delete_batch(draft)  # what a killed call left
        if is_spark(rows):
            _write_rows(rows, str(draft.absolute()), form)
        else:
            draft.mkdir()
            _write_rows(rows, str(draft / f"part-0.{form}"), form)
        for file in (each for each in draft.rglob("*") if each.is_file()):
            with open(file, "rb") as opened:
                os.fsync(opened.fileno())
        sync_names(draft)
        move_folder(draft, place, "stage_repaired")
    return place


def _write_rows(rows: Any, path: str, form: str) -> None:
    if not is_spark(rows):
        _write_table(rows, path, form)
        return
    from headgate.engine.spark_faults import raise_faults
    from headgate.engine.spark_session import describe_jobs

    try:
        with raise_faults(), describe_jobs(rows.sparkSession, f"headgate: repaired rows to {path}"):
            rows.write.format(form).save(path)
    except EngineError:
        raise
    except Exception as error:  # its message may quote the data
        raise EngineError(
            f"the repaired rows cannot be written to {path} ({type(error).__name__}).",
            hint="Is there something already? May Spark write there?",
        ) from error


def _write_table(table: Any, path: str, form: str) -> None:
    import pyarrow as pa

    try:
        if form == "orc":
            import pyarrow.orc as orc

            orc.write_table(table, path)
        else:
            import pyarrow.parquet as pq

            pq.write_table(table, path)
    except (pa.ArrowException, OSError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        raise EngineError(f"the repaired rows cannot be written to {path}: {why}.") from error
