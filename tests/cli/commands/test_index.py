"""`headgate index`: build, merge, stats and infer."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.cli.lake import called, document


def test_patterns_of_text_columns_are_inferred(files: Path) -> None:
    rules = {each["column"]: each for each in document("index", "infer", "orders.parquet")["rules"]}
    assert set(rules) == {"country", "code"}
    assert rules["code"]["pattern"] == "<alphanum>+-<digit>+"


def test_a_file_without_texts_has_no_patterns(files: Path) -> None:
    pq.write_table(pa.table({"x": [1, 2]}), "numbers.parquet")
    assert called("index", "infer", "numbers.parquet").stdout == "There is no text column.\n"
