# /// script
# requires-python = "==3.11.*"
# dependencies = ["pointblank==1.1.1", "polars==1.*", "pyarrow"]
# ///
"""The job with Pointblank: ten steps, its tabular report as a page."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pointblank as pb
import polars as pl


def steps(plan: pb.Validate, each: dict[str, Any]) -> pb.Validate:
    column = each.get("column", "")
    match each["kind"]:
        case "rows":
            low, high = each["between"]
            middle = (low + high) // 2
            return plan.row_count_match(count=middle, tol=high - middle)
        case "complete":
            return plan.col_vals_not_null(columns=column)
        case "one_of":
            return plan.col_vals_in_set(columns=column, set=each["values"])
        case "matches":
            return plan.col_vals_regex(columns=column, pattern=each["pattern"], na_pass=True)
        case "mean":  # there is no step for a range
            return plan.col_avg_ge(columns=column, value=each["between"][0]).col_avg_le(
                columns=column, value=each["between"][1]
            )
    low, high = each["between"]
    return plan.col_vals_between(columns=column, left=low, right=high, na_pass=True)


def main(job: Path, out: Path) -> None:
    day = pl.read_parquet(job / "day.parquet")
    asked = json.loads((job / "expectations.json").read_text(encoding="utf-8"))
    began = time.process_time()
    plan = pb.Validate(data=day, tbl_name="flights", label="flights 2013-02-03", thresholds=pb.Thresholds(error=1))
    for each in asked:
        plan = steps(plan, each)
    judged = plan.interrogate()
    between = time.process_time()
    page = judged.get_tabular_report().as_raw_html(make_page=True)
    (out / "report.html").write_text(page, encoding="utf-8")
    ended = time.process_time()
    print(json.dumps({"page": "report.html", "judge": between - began, "write": ended - between}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
