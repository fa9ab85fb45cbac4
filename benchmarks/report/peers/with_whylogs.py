# /// script
# requires-python = "==3.11.*"
# dependencies = ["whylogs[viz]==1.6.4", "pandas<3", "setuptools<81", "pyarrow"]
# ///
"""The job with whylogs: the day against the 30 days before, its summary of drift as a page."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pandas as pd
import whylogs as why
from whylogs.viz import NotebookProfileVisualizer


def main(job: Path, out: Path) -> None:
    day, before = pd.read_parquet(job / "day.parquet"), pd.read_parquet(job / "before.parquet")
    began = time.process_time()
    shown = NotebookProfileVisualizer()
    shown.set_profiles(target_profile_view=why.log(day).view(), reference_profile_view=why.log(before).view())
    between = time.process_time()
    shown.write(rendered_html=shown.summary_drift_report(), html_file_name=str(out / "report"))
    ended = time.process_time()
    print(json.dumps({"page": "report.html", "judge": between - began, "write": ended - between}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
