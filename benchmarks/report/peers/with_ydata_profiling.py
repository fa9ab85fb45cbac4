# /// script
# requires-python = "==3.11.*"
# dependencies = ["ydata-profiling==4.18.4", "setuptools<81", "pyarrow"]
# ///
"""The job with ydata-profiling: it judges nothing; its page compares the day with the 30 days before."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pandas as pd
from ydata_profiling import ProfileReport


def main(job: Path, out: Path) -> None:
    day, before = pd.read_parquet(job / "day.parquet"), pd.read_parquet(job / "before.parquet")
    began = time.process_time()
    pages = [
        ProfileReport(frame, title=title, minimal=True, progress_bar=False)
        for frame, title in ((before, "30 days before"), (day, "2013-02-03"))
    ]
    compared = pages[0].compare(pages[1])
    compared.config.progress_bar = False
    between = time.process_time()
    compared.to_file(out / "report.html", silent=True)  # here it measures, too
    ended = time.process_time()
    print(json.dumps({"page": "report.html", "judge": between - began, "write": ended - between}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
