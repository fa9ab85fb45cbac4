"""What a verdict says of the budget. The page itself is tested by `tests/gate/test_batch_verdict.py`."""

from __future__ import annotations

import pytest

from headgate.explain.verdict_page import summarize_budget
from headgate.values.rarity_memory import RarityMemory


@pytest.mark.parametrize(
    ("memory", "source", "text"),
    [
        (RarityMemory(), "", "1.00% of good batches may be held"),
        (
            RarityMemory(runs=40.0),
            "",
            "1.00% of good batches may be held; of 40 that learned limits have judged, 0 held and accepted",
        ),
        (
            RarityMemory(runs=40.0, alarms=1.0),
            "2 a week for about 200",
            "1.00% of good batches may be held (2 a week for about 200); of 40 that learned limits have judged, "
            "1 held and accepted",
        ),
        (
            RarityMemory(runs=200.0, alarms=6.0),
            "",
            "1.00% of good batches may be held; of 200 that learned limits have judged, 6 held and accepted, which is "
            "more, so limits are those of 0.50%",
        ),
    ],
)
def test_a_budget_is_stated_beside_what_was_held_and_what_limits_are_found_with(
    memory: RarityMemory, source: str, text: str
) -> None:
    assert summarize_budget(0.01, memory, source) == text
