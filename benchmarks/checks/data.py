"""A million orders in which a few rows break each of twenty row-level rules, and those rules written twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import headgate as hg
from benchmarks.timing import CACHE

ROWS = 1_000_000
_SPOILED = 0.0005  # of the rows, by each rule


def orders(rows: int = ROWS, seed: int = 4) -> Path:
    """The Parquet file of the orders, made once."""
    path = CACHE / f"orders-{rows}-{seed}.parquet"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(_table(rows, np.random.default_rng(seed)), path, row_group_size=max(1, rows // 8))
    return path


def _table(rows: int, random: np.random.Generator) -> pa.Table:
    def spoiled() -> np.ndarray:
        return random.random(rows) < _SPOILED

    ordinal = np.arange(rows)
    price = np.round(random.lognormal(3, 1, rows), 2)
    discount = np.round(price * random.random(rows) * 0.5, 2)
    days = 20_000 + random.integers(0, 365, rows)
    shipped = days + random.integers(0, 10, rows)
    region = np.array(["EU", "US", "APAC"])[random.integers(0, 3, rows)]
    status = np.array(["new", "paid", "sent"])[random.integers(0, 3, rows)]
    code = np.char.add("C-", np.char.zfill((ordinal % 99_999).astype(str), 5))
    mail = np.char.add(np.char.add("user", (ordinal % 50_000).astype(str)), "@example.org")
    columns = {
        "id": pa.array(ordinal, mask=spoiled()),
        "customer": pa.array(random.integers(1, 50_000, rows), mask=spoiled()),
        "price": pa.array(np.where(spoiled(), -price, np.where(spoiled(), 20_000.0, price)), mask=spoiled()),
        "discount": pa.array(np.where(spoiled(), price * 2, np.where(spoiled(), -1.0, discount))),
        "quantity": pa.array(np.where(spoiled(), 0, random.integers(1, 20, rows))),
        "weight": pa.array(np.where(spoiled(), 9_999.0, random.random(rows) * 30)),
        "region": pa.array(np.where(spoiled(), "M", region)),
        "status": pa.array(np.where(spoiled(), "?", np.where(spoiled(), "unknown", status))),
        "code": pa.array(np.where(spoiled(), "none", code)),
        "mail": pa.array(np.where(spoiled(), "nobody", mail), mask=spoiled()),
        "ordered": pa.array(days.astype(np.int32)).cast(pa.date32()),
        "shipped": pa.array(np.where(spoiled(), days - 30, shipped).astype(np.int32)).cast(pa.date32()),
    }
    return pa.table(columns)


def check() -> hg.Check:
    """Twenty constraints over ten and more columns."""
    return (
        hg.Check("orders")
        .is_complete("id")
        .is_complete("customer")
        .is_complete("price")
        .is_complete("mail")
        .is_non_negative("price")
        .is_positive("quantity")
        .is_less_than_or_equal_to("discount", "price")
        .is_less_than_or_equal_to("ordered", "shipped")
        .is_in_range("weight", 0, 100)
        .is_in_range("quantity", 1, 100)
        .is_contained_in("region", ["EU", "US", "APAC"])
        .is_contained_in("status", ["new", "paid", "sent"])
        .has_pattern("code", "^C-[0-9]{5}$")
        .has_email("mail")
        .has_max("weight", at_most=50)
        .has_min("discount", at_least=0)
        .has_max_length("status", at_most=4)
        .has_min_length("status", at_least=2)
        .has_min_length("region", at_least=2)
        .satisfies("price < 10000 OR region = 'EU'")
    )


BY_HAND = (
    "id IS NULL",
    "customer IS NULL",
    "price IS NULL",
    "mail IS NULL",
    "price < 0",
    "quantity <= 0",
    "discount > price",
    "ordered > shipped",
    "weight < 0 OR weight > 100",
    "quantity < 1 OR quantity > 100",
    "region NOT IN ('EU', 'US', 'APAC')",
    "status NOT IN ('new', 'paid', 'sent')",
    "NOT code RLIKE '^C-[0-9]{5}$'",
    "NOT mail RLIKE '^[A-Za-z0-9.!#$%&\\'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
    "(?:[.][A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)+$'",
    "weight > 50",
    "discount < 0",
    "length(status) > 4",
    "length(status) < 2",
    "length(region) < 2",
    "NOT (price < 10000 OR region = 'EU')",
)
