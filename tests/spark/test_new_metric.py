"""Adding a metric takes one file: registry, codec, laws, docs table and both engines accept it with no other edit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.conftest import ROOT

VOWEL_SHARE = '''
"""The share of letters that are vowels."""

from __future__ import annotations

from typing import ClassVar

import pyarrow.compute as pc

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.metric import NO_VALUES, ColumnMetric
from headgate.metrics.base.registry import metric
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.schema import TEXT
from headgate.values.state import State


class Vowels(State, frozen=True, tag="vowels"):
    """How many of the Latin letters are vowels."""

    vowels: int = 0
    letters: int = 0

    def __add__(self, other: Vowels) -> Vowels:
        return Vowels(self.vowels + other.vowels, self.letters + other.letters)


@metric
class VowelShare(ColumnMetric[Vowels], frozen=True):
    """|vowels| / |Latin letters| over all values."""

    name: ClassVar = "vowel_share"
    state: ClassVar = Vowels
    accepts: ClassVar = TEXT
    default: ClassVar = TEXT

    def fold(self, batch: ColumnBatch) -> Vowels:
        counts = (pc.count_substring_regex(batch.values, shape) for shape in ("[AEIOUaeiou]", "[A-Za-z]"))
        return Vowels(*(pc.sum(each, min_count=0).as_py() for each in counts))

    def measure(self, state: Vowels) -> Outcome:
        return Measured(state.vowels / state.letters) if state.letters else Undefined(NO_VALUES)
'''

SCRIPT = """
import importlib.util, sys
from pathlib import Path
import pyarrow as pa
import headgate as hg
from headgate.metrics.base.registry import from_key, metrics
from headgate.values.codec import decode, encode

assert Path(hg.__file__).is_relative_to(sys.argv[1]), hg.__file__
assert metrics()["vowel_share"] is hg.VowelShare is type(from_key("vowel_share(text)"))

state = hg.VowelShare.state(3, 5)
assert decode(encode(state, "vowel_share(text)"), "vowel_share(text)") == state

generator = Path(sys.argv[2]) / "docs" / "generate.py"
spec = importlib.util.spec_from_file_location("generate", generator)
docs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(docs)
assert docs.metrics_page().count("vowel_share") >= 3, "a row of the list, a row of the matrix, a definition"
assert "has_vowel_share(column)" in docs.constraints_page()
assert "def has_vowel_share(" in docs.check_stub()

values = ["abc", None, "", "ee", "Zürich"] * 20
table = pa.table({"text": values})
halves = hg.analyze(table.slice(0, 30)) + hg.Analysis.from_bytes(hg.analyze(table.slice(30)).to_bytes())
assert halves.value("vowel_share(text)") == 4 / 10, halves.value("vowel_share(text)")

from pyspark.sql import SparkSession
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.ui.enabled", "false").config("spark.driver.memory", "1g")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
frame = spark.createDataFrame([(value,) for value in values], "text string")
assert hg.analyze(frame).value(hg.VowelShare("text")) == 4 / 10
assert hg.analyze(table).value(hg.VowelShare("text")) == 4 / 10
check = hg.Check("c").has_vowel_share("text", between=(0.3, 0.5)).has_vowel_share("text", at_least=0.9, level="warn")
assert hg.Check.from_yaml(check.to_yaml(), "c") == check
assert [each.status.value for each in hg.verify(frame, check).judgements] == ["pass", "fail"]
spark.stop()
print("accepted")
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package with one file more."""
    shutil.copytree(ROOT / "src" / "headgate", tmp_path / "headgate", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "headgate" / "metrics" / "vowel_share.py").write_text(VOWEL_SHARE, encoding="utf-8")
    return tmp_path


def run(copy: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(copy), str(ROOT)])}
    command = [sys.executable, "-W", "error", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3_000:]
    return done.stdout


def test_registry_codec_docs_and_both_engines_accept_a_new_file(copy: Path) -> None:
    assert run(copy, "-c", SCRIPT, str(copy), str(ROOT)).split() == ["accepted"]


def test_the_laws_run_over_a_new_file(copy: Path) -> None:
    laws = ["tests/laws/test_states.py", "-k", "vowel", "-o", f"pythonpath={copy} ."]
    found = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *laws)
    assert "passed" in found
    assert "failed" not in found
