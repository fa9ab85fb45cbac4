"""A Python worker killed in the middle of a scan, with speculation on, changes nothing in the result (TRUST, F2)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.spark.conftest import ROOT

# A session of its own, because retries and speculation are settings of a master. The task that is killed has by then
# handed rows on, so a scan that counted what it saw instead of what its tasks returned would count them twice.
SCRIPT = r"""
import json, os, signal, sys
from pathlib import Path
from pyspark import TaskContext
from pyspark.sql import SparkSession
import headgate as hg
from headgate.metrics.states.distinct import Distinct

marker = sys.argv[1]

def deadly(batches):
    task = TaskContext.get().partitionId()
    for batch in batches:
        for start in range(0, batch.num_rows, 1000):
            if start == 2000 and task % 3 == 0 and not os.path.exists(f"{marker}-{task}"):
                Path(f"{marker}-{task}").touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield batch.slice(start, 1000)

def told(analysis):
    sketches = {str(key): state.sketch.hex() for key, state in analysis.states.items() if isinstance(state, Distinct)}
    values = {str(key): analysis.value(key) for key in asked}
    return {"sketches": sketches, "values": values}

spark = (
    SparkSession.builder.master("local[2,4]")
    .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.ui.enabled", "false").config("spark.driver.memory", "1g")
    .config("spark.speculation", "true").config("spark.speculation.interval", "50ms")
    .config("spark.speculation.multiplier", "1.1").config("spark.speculation.quantile", "0.1")
    .config("spark.speculation.minTaskRuntime", "50ms")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
frame = spark.range(0, 30000, 1, 9).selectExpr("id", "concat('v', id % 5000) as text", "id % 7 as few")
asked = [
    "size()", "sum(id)", "uniqueness(id)", "uniqueness(few, text)", "completeness(text)", "entropy(text)",
    "approx_count_distinct(id)", "approx_count_distinct(text)", "most_frequent_ratio(few)",
]
clean = told(hg.analyze(frame, asked))
killed = told(hg.analyze(frame.mapInArrow(deadly, frame.schema), asked))
jobs = len(spark.sparkContext.statusTracker().getJobIdsForGroup(None))
print(json.dumps({"clean": clean, "killed": killed, "jobs": jobs}))
spark.stop()
"""


def test_counts_and_sketches_are_those_of_the_clean_run(tmp_path: Path) -> None:
    marker = tmp_path / "killed"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(marker)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(list(tmp_path.glob("killed-*"))) == 3  # a worker of each of the partitions 0, 3 and 6 was killed
    assert found["clean"]["values"]["size()"] == 30_000
    assert found["killed"] == found["clean"]
    assert found["jobs"] == 2  # the tasks were run again, not the scan
