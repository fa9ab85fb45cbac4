"""The tables of the ICDE 2019 experiments: comments like those of its reddit set, and a real set of flights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
import pyarrow.parquet as pq

from benchmarks.timing import CACHE, DATA

FOLDER = CACHE / "bench-differential"
WEEKDAYS, FILES, ROWS = 7, 15, 50_000  # 7 x 2 partitions of 15 files of 50,000 rows: 10.5 million


def comments(rows: int = ROWS) -> Path:
    """14 partitions (weekday x controversial) of generated comments with 22 columns, as Parquet under the cache."""
    root = FOLDER / f"comments-{rows}"
    if not (root / "_SUCCESS").exists():
        pools = _pools(np.random.default_rng(0))
        for at, partition in enumerate(partitions()):
            for file in range(FILES):
                target = root / partition / f"part-{file:02}.parquet"
                target.parent.mkdir(parents=True, exist_ok=True)
                start = (at * FILES + file) * rows
                pq.write_table(_chunk(np.random.default_rng([at, file]), pools, start, rows), target)
        (root / "_SUCCESS").touch()
    return root


def partitions() -> list[str]:
    return [f"week_day={day}/controversiality={flag}" for day in range(WEEKDAYS) for flag in (0, 1)]


def delta(root: Path, number: int) -> list[str]:
    """The files of one of 30 deltas: one file of each weekday."""
    file, flag = divmod(number, 2)
    return [
        str(root / f"week_day={day}/controversiality={flag}" / f"part-{file:02}.parquet") for day in range(WEEKDAYS)
    ]


def flights() -> pa.Table:
    """All flights from New York in 2013 (nycflights13, CC0), with the weekday and whether the flight was cancelled."""
    folder = DATA / "nycflights13_by_day" / "flights"
    options = pv.ConvertOptions(null_values=["NA"], strings_can_be_null=True)
    tables = [pv.read_csv(file, convert_options=options) for file in sorted(folder.glob("*.csv.gz"))]
    table = pa.concat_tables(tables, promote_options="permissive")
    cancelled = pc.is_null(table["dep_time"])
    return table.append_column("week_day", pc.day_of_week(_dates(table))).append_column("cancelled", cancelled)


def _dates(table: pa.Table) -> pa.Array:
    texts = [
        f"{y}-{m:02}-{d:02}" for y, m, d in zip(*(table[c].to_pylist() for c in ("year", "month", "day")), strict=True)
    ]
    return pa.array(texts).cast(pa.date32())


def _pools(rng: np.random.Generator) -> dict[str, pa.Array]:
    words = [
        "data",
        "gate",
        "river",
        "batch",
        "when",
        "the",
        "of",
        "a",
        "spark",
        "value",
        "never",
        "again",
        "😀",
        "café",
    ]
    bodies = [" ".join(rng.choice(words, rng.integers(3, 30))) for _ in range(20_000)]
    return {
        "subreddit": pa.array([f"sub_{at:x}" for at in range(50_000)]),
        "subreddit_id": pa.array([f"t5_{at + 7_000:x}" for at in range(50_000)]),
        "author": pa.array([f"user{at}" for at in range(1_000_000)]),
        "link": pa.array([f"t3_{at:x}" for at in range(500_000)]),
        "body": pa.array(bodies),
        "flair": pa.array(["", "fan", "mod", "verified", "newcomer"]),
    }


def _chunk(rng: np.random.Generator, pools: dict[str, pa.Array], start: int, rows: int) -> pa.Table:
    def skewed(name: str) -> np.ndarray:
        return np.minimum(rng.zipf(1.3, rows), len(pools[name])) - 1

    def often(name: str, share: float) -> pa.Array:
        return pc.if_else(pa.array(rng.random(rows) < share), pools[name].take(pa.array(skewed(name))), None)

    at = skewed("subreddit")
    ids = pc.binary_join_element_wise("c", pa.array(np.arange(start, start + rows)).cast(pa.string()), "")
    ups = np.minimum(rng.zipf(2.0, rows), 5_000)
    return pa.table(
        {
            "created_utc": 1_430_438_400 + np.sort(rng.integers(0, 86_400, rows)),
            "ups": ups,
            "downs": np.zeros(rows, np.int64),
            "score": ups,
            "gilded": (rng.random(rows) < 1e-4).astype(np.int64),
            "id": ids,
            "name": pc.binary_join_element_wise("t1_", ids, ""),
            "subreddit": pools["subreddit"].take(pa.array(at)),
            "subreddit_id": pools["subreddit_id"].take(pa.array(at)),
            "link_id": pools["link"].take(pa.array(rng.integers(0, 500_000, rows))),
            "parent_id": pools["link"].take(pa.array(rng.integers(0, 500_000, rows))),
            "author": pools["author"].take(pa.array(rng.integers(0, 1_000_000, rows))),
            "body": pools["body"].take(pa.array(rng.integers(0, 20_000, rows))),
            "removal_reason": often("flair", 0.001),
            "distinguished": often("flair", 0.01),
            "author_flair_text": often("flair", 0.3),
            "author_flair_css_class": often("flair", 0.3),
            "score_hidden": rng.random(rows) < 0.05,
            "archived": np.zeros(rows, np.bool_),
            "edited": (rng.random(rows) < 0.03).astype(np.int64),
        }
    )
