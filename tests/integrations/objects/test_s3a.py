"""`engine: spark` on `s3a://`, through the command line, with the history on the same server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integrations.objects.s3_on_disk import DiskServer
from tests.project.files import opened
from tests.project.objects import put_days, summarize_history
from tests.store.s3 import BUCKET

JARS = os.environ.get("HEADGATE_S3A_JARS", "")
TEXT = f"""\
store: s3://{BUCKET}/history-of-spark
spark:
  master: local[2]
  config:
    spark.jars: "{{jars}}"
    spark.hadoop.fs.s3a.endpoint: "{{url}}"
    spark.hadoop.fs.s3a.path.style.access: "true"
    spark.hadoop.fs.s3a.connection.ssl.enabled: "false"
    spark.hadoop.fs.s3a.access.key: somebody
    spark.hadoop.fs.s3a.secret.key: s3-canary
    spark.hadoop.fs.s3a.attempts.maximum: "1"
    spark.hadoop.fs.s3a.retry.limit: "1"
    spark.hadoop.fs.s3a.endpoint.region: us-east-1
datasets:
  orders:
    engine: spark
    source: {{{{path: "s3a://{BUCKET}/lake/orders/day={{{{partition}}}}"}}}}
"""
LOCAL = f"""\
store: s3://{BUCKET}/history-of-arrow
datasets:
  orders:
    source: {{path: "s3://{BUCKET}/lake/orders/day={{partition}}"}}
"""


def call(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "headgate", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


READ = """
import sys
from pyspark.sql import SparkSession
import headgate as hg
from headgate.engine.plan import make_plan
from headgate.engine.spark_files import SWITCH, plan_reading
from headgate.engine.spark_frame import open_spark
from tests.spark.agreement import differences

jars, url, path = sys.argv[1:]
settings = {
    "spark.jars": jars,
    "spark.ui.enabled": "false",
    "spark.hadoop.fs.s3a.endpoint": url,
    "spark.hadoop.fs.s3a.path.style.access": "true",
    "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
    "spark.hadoop.fs.s3a.access.key": "somebody",
    "spark.hadoop.fs.s3a.secret.key": "s3-canary",
    "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
}
builder = SparkSession.builder.master("local[2]")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
frame = spark.read.parquet(path)
print("why not:", plan_reading(frame, make_plan(open_spark(frame), ["size()"])).why_not)
read = hg.analyze(frame)
spark.conf.set(SWITCH, "false")
print("differences:", differences(read, hg.analyze(frame), list(read.metrics)))
print("rows:", read.value("size()"))
"""


@pytest.mark.spark
def test_tasks_read_objects_themselves(server: DiskServer, tmp_path: Path) -> None:
    if not JARS:
        pytest.skip("HEADGATE_S3A_JARS names no jars; .ci/objects fetches them")
    put_days(range(1, 3), "lake/read")
    jars = ",".join(map(str, sorted(Path(JARS).glob("*.jar"))))
    words = [sys.executable, "-c", READ, jars, server.url, f"s3a://{BUCKET}/lake/read"]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == ["why not: ", "differences: []", "rows: 400.0"]
    assert "s3-canary" not in ran.stdout + ran.stderr


@pytest.mark.spark
def test_batches_on_s3a_are_judged_by_spark_as_by_this_process(server: DiskServer, tmp_path: Path) -> None:
    if not JARS:
        pytest.skip("HEADGATE_S3A_JARS names no jars; .ci/objects fetches them")
    put_days(range(1, 4))
    there, here = tmp_path / "spark", tmp_path / "arrow"
    for folder in (there, here):
        folder.mkdir()
    jars = ",".join(map(str, sorted(Path(JARS).glob("*.jar"))))
    text = TEXT.format(jars=jars, url=server.url)
    (there / "headgate.yml").write_text(text, encoding="utf-8")
    ran = call(there, "run", "--output-json", "-")
    assert ran.returncode == 0, ran.stderr
    with opened(here, LOCAL) as project:
        for partition in project.dataset("orders").waiting():
            project.dataset("orders").judge(partition)
        expected = summarize_history(project)
    with opened(there, text) as project:
        assert summarize_history(project) == expected
        assert len(expected) == 3
        assert project.dataset("orders").waiting() == ()
    (there / "headgate.yml").write_text(text.replace(f"s3://{BUCKET}/history-of-spark", "file:h"), encoding="utf-8")
    server.kill()
    dead = call(there, "run", "orders", "--partition", "2026-11-02")
    assert dead.returncode == 3, dead.stderr
    assert "Traceback" not in dead.stderr
    assert "Spark cannot reach the files" in dead.stderr
    with opened(there, (there / "headgate.yml").read_text(encoding="utf-8")) as project:
        assert summarize_history(project) == []
    assert "s3-canary" not in dead.stdout + dead.stderr
