"""How an estimate prints: the units, the advice, and what stands behind it."""

from __future__ import annotations

import msgspec
import pytest

from headgate.engine.cost_estimate import CostEstimate, CostItem, Saving

ESTIMATE = CostEstimate(
    rows=1_000_000,
    knows_rows=True,
    items=(
        CostItem(("note",), "frequent_values", 0.6, 600.0, 2_150.0, ("entropy", "value_distribution")),
        CostItem(("note",), "(shared)", 0.3, 300.0),
        CostItem(("a", "b"), "groups", 0.2, 200.0, 24e6, ("uniqueness",), where="a > 0", is_measured=False),
        CostItem((), "(job)", 0.1),
    ),
    reading="tasks read 4 files",
    text_bytes=24,
    saving=Saving("note", 0.9, is_column=True),
    basis="2 cores of a test",
)


def test_it_prints_as_a_table_with_its_reasons() -> None:
    assert str(ESTIMATE).splitlines() == [
        "About 1.2 CPU seconds for 1,000,000 rows, 2 states of about 24 MB",
        "",
        "column            state            ns a row  CPU s   bytes  metrics",
        "────────────────  ───────────────  ────────  ─────  ──────  ───────────────────────────",
        "note              frequent_values     600.0    0.6  2.1 kB  entropy, value_distribution",
        "note              (shared)            300.0    0.3",
        "a, b where a > 0  groups ?            200.0    0.2   24 MB  uniqueness",
        "                  (job)                        0.1",
        "",
        "Leave out the column note to save the most: about 0.9 CPU seconds, 75%.",
        "Reading: tasks read 4 files.",
        "(shared) is what states of one column have in common, such as sorting: the column pays for it once.",
        "Predicates are taken to be true of every row.",
        "? marks a state whose cost was not measured; that of others stands for it.",
        "This is an estimate from constants that were measured on 2 cores of a test. Other machines and data differ.",
    ]


def test_columns_are_listed_by_what_they_cost() -> None:
    assert ESTIMATE.by_column() == pytest.approx({"note": 0.9, "a": 0.1, "b": 0.1})


def test_an_estimate_is_frozen() -> None:
    with pytest.raises(AttributeError):
        ESTIMATE.rows = 3  # type: ignore[misc]
    assert msgspec.structs.replace(ESTIMATE, rows=3).rows == 3
