"""Break a table on purpose, to see whether its checks notice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from headgate.inject.frames import LocalFrame, open_frame
from headgate.inject.issue import Issue, issue_from_key, issue_named
from headgate.metrics.base.arrow import kind_of
from headgate.values.errors import MisuseError, did_you_mean
from headgate.values.schema import Kind


def inject_issue(
    data: Any,
    issue: Issue | str,
    column: str | None = None,
    *,
    seed: int = 0,
    neighbour: str | pa.Array | pa.ChunkedArray | None = None,
    **parameters: Any,
) -> Any:
    """A copy of the table in which one column, or the number of rows, has gone wrong; the same for the same seed.

    Args:
        data: A pyarrow Table, or a pandas or polars frame.
        issue: The name of an issue, a text such as "increased_nulls(share=0.5)", or an issue.
        column: Which column goes wrong; left out for an issue of whole rows.
        seed: Seeds the random choices.
        neighbour: For schema_change, the name or the values of the column that takes its place; if it is left out, the
            nearest column of the same kind.
        parameters: The parameters of an issue that is given by its name.

    >>> orders = pa.table({"price": [1.0, 2.0, 3.0, 4.0]})
    >>> inject_issue(orders, "unit_change", "price", factor=100)["price"].to_pylist()
    [100.0, 200.0, 300.0, 400.0]
    """
    chosen = _issue(issue, parameters)
    frame = open_frame(data)
    rng = np.random.default_rng(seed)
    if chosen.of_rows:
        if column is not None:
            raise MisuseError(f"{chosen.name} happens to whole rows.", hint="Leave the column out.")
        return frame.take_rows(np.asarray(chosen.apply_to(pa.array(np.arange(frame.rows)), rng)))
    at = _position(frame, column, chosen)
    values = frame.column(at)
    chosen.check(kind_of(values.type))
    other = _neighbour(frame, at, kind_of(values.type), neighbour) if chosen.needs_neighbour else None
    return frame.with_column(at, chosen.apply_to(values, rng, other))


def _issue(given: Issue | str, parameters: dict[str, Any]) -> Issue:
    if isinstance(given, str) and "(" not in given:
        return issue_named(given, **parameters)
    if parameters:
        raise MisuseError(f"{given} has its parameters.", hint="Leave the others out, or give its name alone.")
    return issue_from_key(given) if isinstance(given, str) else given


def _position(frame: LocalFrame, column: str | None, issue: Issue) -> int:
    if column is None:
        raise MisuseError(f"{issue.name} happens to a column;", hint=did_you_mean("", frame.labels))
    if column not in frame.labels:
        raise MisuseError(f"no column is named {column!r};", hint=did_you_mean(column, frame.labels))
    return frame.labels.index(column)


def _neighbour(frame: LocalFrame, at: int, kind: Kind, given: Any) -> pa.Array | pa.ChunkedArray:
    if isinstance(given, str):
        if given not in frame.labels:
            raise MisuseError(f"no column is named {given!r};", hint=did_you_mean(given, frame.labels))
        return frame.column(frame.labels.index(given))
    if given is not None:
        return given
    others = sorted((each for each in range(len(frame.labels)) if each != at), key=lambda each: (abs(each - at), -each))
    for each in others:
        values = frame.column(each)
        if kind_of(values.type) is kind:
            return values
    raise MisuseError(
        f"the table has no other {kind} column beside {frame.labels[at]!r}.",
        hint="Give the values as neighbour=another_table['column'].",
    )
