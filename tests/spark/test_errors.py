"""What goes wrong with one metric or column costs no other; what cannot be read at all is an error that says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pyspark.sql import SparkSession

import headgate as hg
from headgate.engine.analysis import Analysis
from headgate.engine.spark_code import ship_code
from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.metric import ColumnMetric
from headgate.metrics.states.counts import MatchCount
from headgate.values.errors import EngineError
from headgate.values.outcome import Failed, Measured, Outcome
from tests.spark.conftest import ROOT, CountJobs


class Moody(ColumnMetric[MatchCount], frozen=True):
    """A metric whose fold raises in some tasks and not in others."""

    name: ClassVar = "moody"
    folded: ClassVar = "moody"
    state: ClassVar = MatchCount

    def fold(self, batch: ColumnBatch) -> MatchCount:
        if batch.array[0].as_py() == 0:
            raise RuntimeError("not on a Monday")
        return MatchCount(1, 1)

    def measure(self, state: MatchCount) -> Outcome:
        return Measured(float(state.matched))


@pytest.fixture(params=["classic", "connect"])
def session(request: pytest.FixtureRequest, spark: SparkSession, connect: Any) -> Any:
    return spark if request.param == "classic" else connect


def why(analysis: Analysis, key: Any) -> str:
    outcome = analysis[key]
    assert isinstance(outcome, Failed), outcome
    return outcome.why


def test_each_metric_that_cannot_be_had_fails_alone_in_the_same_job(session: Any, jobs: CountJobs) -> None:
    frame = session.range(0, 100, 1, 4).selectExpr("id", "concat('v', id) as text")
    wrong = {
        "mean(idd)": "Did you mean 'id'?",
        "mean(text)": "mean does not accept string columns",
        'compliance(predicate="nowhere > 1")': "names the column 'nowhere'; there are id, text.",
        'compliance(predicate="id +")': "cannot be resolved",
        'compliance(predicate="id + 1")': "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN",
        'compliance(predicate="sum(id) > 1")': "cannot be resolved",
        'compliance(predicate="explode(array(true))")': "cannot be resolved",
        'mean(id) where "no_such_function(id)"': "cannot be resolved",
    }
    sound = ["size()", "mean(id)", "max_length(text)", "uniqueness(id)", 'mean(id) where "id < 11"']
    with jobs() as started:
        analysis = hg.analyze(frame, [*wrong, *sound, Moody("id"), Moody("text")])
    assert [analysis.value(key) for key in sound] == [100.0, 49.5, 3.0, 1.0, 5.0]
    assert {key: reason for key, reason in wrong.items() if reason not in why(analysis, key)} == {}
    assert why(analysis, Moody("id")) == "RuntimeError: not on a Monday"
    assert analysis.value(Moody("text")) == 4.0
    assert len(started) == 1


def test_a_predicate_that_throws_at_run_time_fails_alone(session: Any) -> None:
    throws = 'compliance(predicate="1 / (id - 5) > 0")'
    analysis = hg.analyze(session.range(0, 20, 1, 2), ["mean(id)", "size()", "uniqueness(id)", throws])
    assert [analysis.value(key) for key in ("mean(id)", "size()", "uniqueness(id)")] == [9.5, 20.0, 1.0]
    assert "DIVIDE_BY_ZERO" in why(analysis, throws)


def test_a_column_that_throws_at_run_time_fails_alone(spark: SparkSession) -> None:
    frame = spark.range(0, 20, 1, 2).selectExpr("1 / (id - 5) as ratio", "id % 3 as few")
    analysis = hg.analyze(frame)
    failed = {key for key, outcome in analysis.items() if isinstance(outcome, Failed)}
    assert failed == {key for key in analysis if key.columns == ("ratio",)}
    assert analysis.value("mean(few)") == 0.95


def test_a_frame_that_cannot_be_read_raises_an_error_that_says_why(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "gone.parquet")
    spark.range(10).write.parquet(path)
    frame = spark.read.parquet(path)
    for part in Path(path).glob("part-*"):
        part.unlink()
    with pytest.raises(EngineError, match=r"could not be read: .*gone\.parquet"):
        hg.analyze(frame, ["mean(id)"])


def test_something_that_is_no_frame_is_refused(spark: SparkSession) -> None:
    with pytest.raises(hg.HeadgateError, match="is not a batch"):
        hg.analyze(spark.range(1).schema)


# --- executors that lack the package


class _Listed:
    """As much of a session as `ship` needs."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.sparkContext = self

    def addPyFile(self, path: str) -> None:  # noqa: N802
        self.files.append(path)


USES_THE_ARCHIVE = """
import sys
sys.path[:] = [sys.argv[1], *(path for path in sys.path if not (path.rstrip("/") + "/").startswith(sys.argv[2]))]
import pyarrow as pa
import headgate as hg
assert hg.__file__.startswith(sys.argv[1]), hg.__file__
print(hg.analyze(pa.table({"price": [1.0, 3.0]})).value("mean(price)"))
"""


def test_the_archive_that_is_shipped_can_be_imported() -> None:
    listed = _Listed()
    ship_code(listed)  # type: ignore[arg-type]
    arguments = [sys.executable, "-c", USES_THE_ARCHIVE, listed.files[0], f"{ROOT / 'src'}/"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(arguments, cwd="/", env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "2.0"), done.stderr


# Hides headgate from every Python that starts with it on the path, unless it comes in an archive.
HIDES_HEADGATE = """
import sys
from importlib.machinery import PathFinder

class Hidden:
    def find_spec(name, path=None, target=None):
        if name == "headgate":
            archives = [each for each in sys.path if each.endswith(".zip")]
            found = PathFinder.find_spec(name, archives)
            if found is None:
                raise ModuleNotFoundError("No module named 'headgate'", name=name)
            return found

sys.meta_path.insert(0, Hidden)
"""

BUILDS_A_SESSION = """
import sys
sys.meta_path.pop(0)  # the driver has all modules; only its workers do not
sys.path.insert(0, sys.argv[1])
from pyspark.sql import SparkSession
import headgate as hg

builder = (
    SparkSession.builder.master("local[1]")
    .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.ui.enabled", "false").config("spark.driver.memory", "1g")
)
"""

USES_BARE_WORKERS = f"""{BUILDS_A_SESSION}
from pyspark.sql.connect.session import SparkSession as ConnectSession

spark = (
    builder.config("spark.plugins", "org.apache.spark.sql.connect.SparkConnectPlugin")
    .config("spark.connect.grpc.binding.address", "127.0.0.1").config("spark.connect.grpc.binding.port", sys.argv[2])
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
connect = ConnectSession.builder.remote("sc://127.0.0.1:" + sys.argv[2]).create()
for session in (connect, spark):
    print(hg.analyze(session.range(10), ["mean(id)"]).value("mean(id)"))
connect.stop()
spark.stop()
"""


def test_workers_without_the_package_get_its_code(tmp_path: Path) -> None:
    from tests.spark.conftest import free_port

    (tmp_path / "sitecustomize.py").write_text(HIDES_HEADGATE, encoding="utf-8")
    arguments = [sys.executable, "-c", USES_BARE_WORKERS, str(ROOT / "src"), str(free_port())]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        arguments, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=180, check=False
    )
    assert done.stdout.split() == ["4.5", "4.5"], done.stderr[-3_000:]


HIDES_MODULES = """
import sys

class Hidden:
    def find_spec(name, path=None, target=None):
        if name in ("headgate", "msgspec"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden)
"""

LACKS_MODULES = f"""{BUILDS_A_SESSION}
from headgate.values.errors import EngineUnavailable

spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("OFF")
store = hg.open_store("memory:")
try:
    hg.Gate("orders", store=store).judge(spark.range(10), partition="2026-11-18")
except EngineUnavailable as error:
    print(error)
print(len(spark.sparkContext.statusTracker().getJobIdsForGroup(None)), len(store.revisions("orders", "2026-11-18")))
spark.stop()
"""


def test_workers_without_a_module_say_so_in_one_job(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(HIDES_MODULES, encoding="utf-8")
    arguments = [sys.executable, "-c", LACKS_MODULES, str(ROOT / "src")]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        arguments, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=180, check=False
    )
    message, counts = done.stdout.splitlines()[-2:]
    assert "cannot import msgspec. Install headgate for it" in message
    assert counts == "1 0"  # one job, and no run that says the batch was held
