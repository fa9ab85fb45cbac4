"""What the scan of a batch of each dataset is estimated to cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from headgate.cli.doctor.machine import Finding

if TYPE_CHECKING:
    from headgate.project.dataset import Dataset

_ROWS = 1_000_000


def check_cost(dataset: Dataset) -> Iterator[Finding]:
    """Say what a million rows cost, from the schema of the newest batch; nothing if no batch is listed."""
    from headgate.display.numbers import format_share
    from headgate.engine.cost_estimate import format_seconds
    from headgate.engine.explain_cost import explain_cost
    from headgate.values.errors import HeadgateError

    partitions = () if dataset.is_judged_elsewhere or not dataset.is_listed else dataset.partitions()
    if not partitions:
        return
    try:
        estimate = explain_cost(dataset.read(partitions[-1]), rows=_ROWS)
    except HeadgateError as error:
        message = str(error).removesuffix(error.hint).strip()
        yield Finding("warning", f"{dataset.name}: cost", message, error.hint)
        return
    message = f"a million rows take about {format_seconds(estimate.seconds)} CPU seconds"
    columns = estimate.by_column()
    if columns:
        label, seconds = next(iter(columns.items()))
        message += f", {format_share(seconds / estimate.seconds, digits=0)} of them for {label!r}"
    yield Finding("ok", f"{dataset.name}: cost", message)
