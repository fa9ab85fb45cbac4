"""Turns a pattern rule into a proposal, with its cost and the injected issues that it catches."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from headgate.inject.issue import standard
from headgate.learn.patterns.rule import PatternRule, as_text_array
from headgate.values.errors import MisuseError
from headgate.values.proposal import Proposal
from headgate.values.schema import Kind

SAMPLE = 1_000
"""The most values into which issues are injected."""


def propose_pattern(
    rule: PatternRule,
    column: str,
    values: Iterable[Any],
    *,
    rows: int | None = None,
    neighbour: pa.Array | None = None,
) -> Proposal:
    """The proposal of a rule for a column, with the issues of text columns that it catches in these values.

    Args:
        rule: The rule, from `PatternIndex.infer`.
        column: The name of the column.
        values: Values of the column; issues are injected into the first 1,000 that are not null.
        rows: The number of values that are not null in the batches to judge. Default: as many as trained the rule.
        neighbour: Another text column of the table, for the issue that replaces values by those of a neighbour. Without
            it, that issue is left out.
    """
    if not isinstance(rule, PatternRule):
        raise MisuseError(f"{rule!r} is no rule.", hint="Where index.infer gives None, propose nothing.")
    sample = as_text_array(values).drop_null()[:SAMPLE]
    caught = [
        (column, str(issue))
        for issue in standard(Kind.STRING)
        if (neighbour is not None or not issue.needs_neighbour)
        and not rule.holds(issue.apply_to(sample, np.random.default_rng(zlib.crc32(str(issue).encode())), neighbour))
    ]
    note = f"{rule.seen:,} values; {rule.coverage:,} columns of the lake are built like it"
    return Proposal(rule.expectation(column, rows), frozenset(caught), note)
