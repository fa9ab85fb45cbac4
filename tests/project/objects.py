"""A project whose batches and whose history are on an object store."""

from __future__ import annotations

import io
import time
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.parquet as pq

from headgate.project.project import Project
from headgate.values.outcome import Measured
from headgate.values.run import Run
from tests.project.files import orders
from tests.store.s3 import BUCKET

PLACE = f"""\
store: s3://{BUCKET}/{{history}}
datasets:
  orders:
    source: {{{{path: "s3://{BUCKET}/lake/orders/day={{{{partition}}}}"}}}}
"""


def put_days(days: Iterable[int], folder: str = "lake/orders") -> None:
    for day in days:
        put_table(f"{folder}/day=2026-11-{day:02}/part-0.parquet", orders(day))


def put_table(name: str, table: pa.Table) -> None:
    import obstore
    from obstore.store import from_url

    data = io.BytesIO()
    pq.write_table(table, data)
    obstore.put(from_url(f"s3://{BUCKET}", client_options={"allow_http": True}), name, data.getvalue())


def name_folder() -> str:
    """A folder that no other test has."""
    return f"{time.monotonic_ns():x}"


def summarize_history(project: Project) -> list[tuple[str, str, dict[str, float]]]:
    """The runs of the dataset: partition, status and numbers. Each store hashes values differently."""
    store = project.store
    return [
        (run.partition, str(run.verdict.status), _list_numbers(run))
        for run in map(store.run, store.revisions("orders"))
    ]


def _list_numbers(run: Run) -> dict[str, float]:
    found = ((str(key), each.value) for key, each in run.outcomes.items() if isinstance(each, Measured))
    return {key: round(value, 9) for key, value in found if isinstance(value, float)}
