"""A metric in a file of its own, with a state of its own, is all it takes: nothing else is edited."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SOURCE = '''
"""The share of odd whole numbers."""

from typing import ClassVar

import pyarrow.compute as pc

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.metric import NO_VALUES, ColumnMetric
from headgate.metrics.base.registry import metric
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.schema import Kind
from headgate.values.state import State


class OddCount(State, frozen=True, tag="odd_count"):
    """How many of those seen are odd."""

    odd: int = 0
    seen: int = 0

    def __add__(self, other: "OddCount") -> "OddCount":
        return OddCount(self.odd + other.odd, self.seen + other.seen)


@metric
class OddShare(ColumnMetric[OddCount], frozen=True):
    """|{v : v is odd}| / |{v}|."""

    name: ClassVar = "odd_share"
    state: ClassVar = OddCount
    accepts: ClassVar = frozenset({Kind.INTEGER, Kind.BOOLEAN})
    default: ClassVar = frozenset({Kind.INTEGER})

    def fold(self, batch: ColumnBatch) -> OddCount:
        bits = pc.bit_wise_and(batch.values.cast("int64"), 1)
        return OddCount(pc.sum(bits, min_count=0).as_py(), batch.present)

    def measure(self, state: OddCount) -> Outcome:
        return Measured(state.odd / state.seen) if state.seen else Undefined(NO_VALUES)
'''

USE = """
import odd_share
import pyarrow as pa
import headgate as hg
table = pa.table({"n": [1, 2, 3, None]})
parts = [hg.analyze(part) for part in (table.slice(0, 1), table.slice(1))]
again = [hg.Analysis.from_bytes(part.to_bytes()) for part in parts]
print(hg.analyze(table).value("odd_share(n)"), (again[0] + again[1]).value(hg.OddShare("n")))
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "odd_share.py").write_text(SOURCE, encoding="utf-8")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT / "src"), str(ROOT)])}


def run(environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_laws_find_a_new_metric(environment: dict[str, str]) -> None:
    laws = ["tests/laws/test_states.py", "-k", "odd_share or odd_count", "-p", "odd_share"]
    found = run(environment, "-m", "pytest", "-q", "-p", "no:cacheprovider", *laws)
    # nine laws for each of the two kinds it accepts, its key, its state
    assert "20 passed" in found


def test_the_engine_the_codec_and_the_public_face_find_a_new_metric(environment: dict[str, str]) -> None:
    assert run(environment, "-c", USE).split() == [str(2 / 3), str(2 / 3)]
