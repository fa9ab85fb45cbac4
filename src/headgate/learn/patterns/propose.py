"""A rule as a proposal for the one selection: what it costs, and which injected issues it catches."""

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
"""Values into which issues are injected; more would tell nothing new."""


def propose_pattern(
    rule: PatternRule,
    column: str,
    values: Iterable[Any],
    *,
    rows: int | None = None,
    neighbour: pa.Array | None = None,
) -> Proposal:
    """The rule for a column of a table, with the issues of text columns that it catches in these values.

    `neighbour` is another column of the table, for the issue that swaps them.
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
