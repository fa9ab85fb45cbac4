# /// script
# requires-python = "==3.11.*"
# dependencies = ["great-expectations==1.24.1", "pyarrow"]
# ///
"""The job with Great Expectations: ten expectations, its Data Docs."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ["GX_ANALYTICS_ENABLED"] = "false"

import great_expectations as gx
import pandas as pd
from great_expectations import expectations as gxe


def expectation(each: dict[str, Any]) -> Any:
    column = each.get("column", "")
    low, high = each.get("between", (None, None))
    match each["kind"]:
        case "rows":
            return gxe.ExpectTableRowCountToBeBetween(min_value=low, max_value=high)
        case "complete":
            return gxe.ExpectColumnValuesToNotBeNull(column=column)
        case "one_of":
            return gxe.ExpectColumnValuesToBeInSet(column=column, value_set=each["values"])
        case "matches":
            return gxe.ExpectColumnValuesToMatchRegex(column=column, regex=each["pattern"])
        case "mean":
            return gxe.ExpectColumnMeanToBeBetween(column=column, min_value=low, max_value=high)
    return gxe.ExpectColumnValuesToBeBetween(column=column, min_value=low, max_value=high)


def main(job: Path, out: Path) -> None:
    day = pd.read_parquet(job / "day.parquet")
    asked = json.loads((job / "expectations.json").read_text(encoding="utf-8"))
    context = gx.get_context(mode="file", project_root_dir=out)
    began = time.process_time()
    batch = (
        context.data_sources.add_pandas("pandas")
        .add_dataframe_asset("flights")
        .add_batch_definition_whole_dataframe("day")
    )
    suite = context.suites.add(gx.ExpectationSuite("flights", expectations=[expectation(each) for each in asked]))
    definition = context.validation_definitions.add(gx.ValidationDefinition(name="day", data=batch, suite=suite))
    checkpoint = context.checkpoints.add(gx.Checkpoint(name="flights", validation_definitions=[definition]))
    checkpoint.run(batch_parameters={"dataframe": day})
    between = time.process_time()
    context.build_data_docs()
    ended = time.process_time()
    site = out / "gx" / "uncommitted" / "data_docs" / "local_site"
    page = next((site / "validations").rglob("*.html"))
    told = {"page": str(page.relative_to(out)), "site": str(site.relative_to(out))}
    print(json.dumps(told | {"judge": between - began, "write": ended - between}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
