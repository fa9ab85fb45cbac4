"""Orders with nested columns, for tests of both engines."""

from __future__ import annotations

import pyarrow as pa

ORDERS_TYPE = pa.schema(
    [
        ("id", pa.int64()),
        ("address", pa.struct([("city", pa.string()), ("geo", pa.struct([("lat", pa.float64())]))])),
        ("items", pa.list_(pa.struct([("price", pa.float64()), ("tags", pa.list_(pa.string()))]))),
        ("tags", pa.map_(pa.string(), pa.int64())),
    ]
)
ORDERS = pa.Table.from_pylist(
    [
        {
            "id": 1,
            "address": {"city": "Rome", "geo": {"lat": 1.5}},
            "items": [{"price": 1.0, "tags": ["a", "b"]}, {"price": None, "tags": []}],
            "tags": [("x", 1)],
        },
        {"id": 2, "address": {"city": None, "geo": None}, "items": [], "tags": []},
        {"id": 3, "address": None, "items": None, "tags": None},
        {
            "id": 4,
            "address": {"city": "Oslo", "geo": {"lat": 2.5}},
            "items": [{"price": -3.0, "tags": None}],
            "tags": [("y", 2), ("z", None)],
        },
    ],
    schema=ORDERS_TYPE,
)
