"""Runs the pipeline of `transformations/` for two days: one has a few bad rows, the other has its prices in cents.

It needs Spark 4.1 or later: pip install "headgate[spark]" "headgate[sql]" "pyspark[pipelines]"
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import headgate as hg

HERE = Path(__file__).parent
SPEC = """\
name: shop
storage: file://{folder}/storage
libraries:
  - glob:
      include: transformations/**
"""


def make_clicks(number: int, factor: float = 1.0) -> pa.Table:
    """The clicks of a day."""
    rng = np.random.default_rng(number)
    rows = int(rng.normal(1_000, 30))
    return pa.table(
        {
            "id": number * 10_000 + rng.permutation(9_000)[:rows],
            "day": [name_day(number)] * rows,
            "page": rng.choice(["home", "cart", "search"], rows),
            "price": rng.lognormal(3, 0.5, rows).round(2) * factor,
        }
    )


def name_day(number: int) -> str:
    return f"2026-10-{number:02}"


def run_pipeline(folder: Path, number: int, clicks: pa.Table) -> tuple[bool, str]:
    """Put the clicks of a day where the pipeline finds them, and run it. Gives whether it succeeded, and its output."""
    (folder / "arriving").mkdir(exist_ok=True)
    pq.write_table(clicks, folder / "arriving" / f"{number}.parquet")
    (folder / "day").write_text(name_day(number))
    runner = Path(sys.executable).with_name("spark-pipelines")
    settings = ("--conf", "spark.ui.enabled=false", "--conf", "spark.sql.catalogImplementation=hive")
    done = subprocess.run(
        [runner, *settings, "run"],
        cwd=folder,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode == 0, done.stdout


def read(folder: Path, table: str) -> pa.Table:
    return pq.read_table(folder / "spark-warehouse" / table)


def main(folder: Path) -> None:
    shutil.copytree(HERE / "transformations", folder / "transformations", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "spark-pipeline.yml").write_text(SPEC.format(folder=folder))
    gate = hg.Gate("last_day", store=hg.open_store(f"sqlite:///{folder}/history.db"))
    for number in range(1, 21):  # twenty days that were judged before
        gate.judge(make_clicks(number).drop_columns(["day"]), name_day(number))

    clicks = make_clicks(21).to_pandas()
    clicks.loc[:4, "page"] = None
    clicks.loc[2:6, "price"] = -1.0
    succeeded, said = run_pipeline(folder, 21, pa.Table.from_pandas(clicks, preserve_index=False))
    assert succeeded, said
    print(read(folder, "clicks_expectations").to_pandas().to_string(index=False))
    print(f"{read(folder, 'clicks_quarantine').num_rows} rows are in quarantine")
    print(gate.explain(name_day(21)).headline)

    succeeded, said = run_pipeline(folder, 22, make_clicks(22, 100))
    assert not succeeded, said
    [reason] = {line.partition("BatchHeld: ")[2] for line in said.splitlines() if "BatchHeld: " in line}
    print(f"\n{reason}")
    assert "price looks multiplied by 100" in reason
    assert read(folder, "last_day").num_rows == read(folder, "prices").num_rows == 0, "nobody reads a row of that day"

    gate.accept(name_day(22), note="cents from today on")
    succeeded, said = run_pipeline(folder, 22, make_clicks(22, 100))
    assert succeeded, said
    assert read(folder, "last_day").num_rows == make_clicks(22).num_rows
    print("\nAccepted and run again: it is published.")


if __name__ == "__main__":
    main(Path(tempfile.mkdtemp()))
