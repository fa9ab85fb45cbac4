"""Runs a program with a Spark session of its own: faults of the environment break a session for good."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.spark.conftest import ROOT, free_port

SESSIONS = '''
import json, sys, threading, time
from pyspark.sql import SparkSession
import headgate as hg

def start(master="local[2]", **settings):
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    builder = builder.config("spark.driver.memory", "1g").config("spark.ui.showConsoleProgress", "false")
    for name, value in settings.items():
        builder = builder.config(name.replace("_", "."), value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark

def start_both():
    serving = {"spark_plugins": "org.apache.spark.sql.connect.SparkConnectPlugin"}
    serving |= {"spark_connect_grpc_binding_address": "127.0.0.1", "spark_connect_grpc_binding_port": sys.argv[1]}
    spark = start(**serving)
    from pyspark.sql.connect.session import SparkSession as ConnectSession
    return spark, ConnectSession.builder.remote("sc://127.0.0.1:" + sys.argv[1]).create()

def judge(data, partition="p"):
    store = hg.open_store("memory:")
    started = time.monotonic()
    try:
        verdict = hg.Gate("orders", store=store, learn=()).judge(data, partition)
        said = f"{verdict.status.value} {verdict.action.value}"
    except hg.HeadgateError as error:
        said = f"{type(error).__name__}: {error}"
    return {"said": said, "runs": len(store.revisions("orders")), "seconds": round(time.monotonic() - started, 1)}

def act_once_a_task_runs(spark, act, *arguments):
    """A job that is submitted to a context that stops at that moment waits for ever: only running ones are hit."""
    tracker = spark.sparkContext.statusTracker()
    def runs():
        stages = (tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds())
        return any(stage is not None and stage.numActiveTasks for stage in stages)
    def wait():
        while not runs():
            time.sleep(0.1)
        time.sleep(1)
        act(*arguments)
    acting = threading.Thread(target=wait, daemon=True)
    acting.start()
    return acting
'''


def run_program(text: str, *arguments: str, **variables: str) -> dict[str, Any]:
    """What the program printed last, as JSON. Its first argument is a free port."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        **variables,
    }
    done = subprocess.run(
        [sys.executable, "-c", SESSIONS + text, str(free_port()), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def make_bare_python(folder: Path) -> str:
    """The path of a Python that has none of the packages that a scan needs."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=60)
    return str(folder / "bin" / "python")


def run_command(folder: Path, python: str, *words: str) -> subprocess.CompletedProcess[str]:
    """`headgate` with these words in a folder, whose Spark workers run this Python."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYSPARK_PYTHON": python}
    return subprocess.run(
        [sys.executable, "-m", "headgate", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
