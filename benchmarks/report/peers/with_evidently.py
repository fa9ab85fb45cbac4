# /// script
# requires-python = "==3.11.*"
# dependencies = ["evidently==0.7.23", "pandas<3", "pyarrow"]
# ///
"""The job with Evidently: the day against the 30 days before, by its preset for drift with its tests."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pandas as pd
from evidently import Report
from evidently.presets import DataDriftPreset


def main(job: Path, out: Path) -> None:
    day, before = pd.read_parquet(job / "day.parquet"), pd.read_parquet(job / "before.parquet")
    began = time.process_time()
    judged = Report([DataDriftPreset()], include_tests=True).run(day, before)
    between = time.process_time()
    judged.save_html(str(out / "report.html"))
    ended = time.process_time()
    print(json.dumps({"page": "report.html", "judge": between - began, "write": ended - between}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
