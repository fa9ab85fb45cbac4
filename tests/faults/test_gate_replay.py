"""F6 through the gate: what was judged then is judged so again. Over every store: test_gate_stores.py."""

from __future__ import annotations

from pathlib import Path

from headgate.store.memory import MemoryStore
from tests.faults.backends import files
from tests.faults.gate_replay import replay_row
from tests.faults.gate_work import Batch, Lake, judged


def test_a_replay_says_of_ranges_what_was_said_then(tmp_path: Path) -> None:
    with files(tmp_path) as backend:
        row = replay_row(backend, days=20, seed=1)
    assert row.lost == 0


def test_a_partition_goes_back_to_an_earlier_input(tmp_path: Path) -> None:
    lake, store = Lake("memory:", "orders", tmp_path), MemoryStore()
    for seed in (1, 2, 1):
        lake.stage(Batch("p", seed))
        judged(lake.gate(store), Batch("p", seed))
    assert lake.seen() == {"p": Batch("p", 1).text}
