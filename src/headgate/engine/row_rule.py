"""A rule that single rows can break, and the column in which failing rows carry their reasons."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from headgate.metrics.base.metric import FailingRows
from headgate.values.errors import MisuseError

REASONS = "headgate_reasons"
FIELDS = ("rule", "level", "columns", "value")  # of a reason, all of them text


class RowRule(msgspec.Struct, frozen=True):
    """A rule that some rows break: its text, its level, which rows those are, and among which they are looked for.

    `by` are the columns of the segments that were judged apart. `graver` is the same rule at a graver level: a row that
    breaks it there is told of there.
    """

    rule: str
    level: str
    failing_rows: FailingRows
    where: str | None = None
    by: tuple[str, ...] = ()
    graver: RowRule | None = None


def refuse_reasons(names: Iterable[str]) -> None:
    """Raise if the data have a column of reasons: it would be told apart from ours by nobody."""
    if REASONS in names:
        raise MisuseError(
            f"the data have a column {REASONS!r} already.", hint="Rename it, or pass the data without it."
        )
