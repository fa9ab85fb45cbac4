"""Files of the current folder for `headgate init`, and the command line called on them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from click.testing import Result
from typer.testing import CliRunner

from headgate.cli.app import app


def run_headgate(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, words)
    assert result.exit_code == code, result.output
    return result


def orders(day: int, **changes: list[object]) -> pa.Table:
    rows = 400
    columns = {
        "id": [f"A-{day:02d}{row:05d}" for row in range(rows)],
        "region": [("EU", "US")[row % 2] for row in range(rows)],
        "price": [1.0 + row / 10 for row in range(rows)],
    }
    return pa.table({**columns, **changes})


def write(path: str, table: pa.Table | None = None) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(orders(1) if table is None else table, path)


def write_csv(path: str, text: str = "id,price\n1,2.5\n2,3.5\n") -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")


def write_lake(kind: str) -> None:
    for day in ("2026-11-12", "2026-11-13", "2026-11-14"):
        match kind:
            case "hive":
                write(f"lake/orders/day={day}/part-0.parquet")
            case "hive, twice":
                write(f"lake/orders/day={day}/hour=06/part-0.parquet")
            case "dated folders":
                write(f"lake/orders/{day}/part-0.parquet")
            case "dated files":
                write_csv(f"lake/orders/orders-{day}.csv")
            case "packed files":
                write_csv(f"lake/orders/{day.replace('-', '')}.json", '{"id": 1}\n')


def write_growing_file(name: str, days: int = 3) -> None:
    """One file with this many days in a column of this name."""
    tables = [orders(day).append_column(name, pa.array([f"2026-11-{day:02d}"] * 400)) for day in range(1, days + 1)]
    write("stock.parquet", pa.concat_tables(tables))


def list_files() -> dict[str, int]:
    return {str(each): each.lstat().st_mtime_ns for each in sorted(Path().rglob("*")) if not each.is_dir()}
