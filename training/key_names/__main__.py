"""`python -m training.key_names`: trains the name classifier, measures it, writes weights and docs/methods/names.md."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import headgate.learn.rules.key_names as names
from benchmarks.timing import versions
from headgate.values.schema import Kind
from training.key_names.page import write_page
from training.key_names.rows import read_rows
from training.key_names.train import (
    CHOICES,
    FOLDS,
    SEED,
    Choice,
    Data,
    best,
    by_column,
    by_each_project,
    by_project,
    fit,
    fold_areas,
    held_out,
    judged,
    thresholds,
)

RESULTS = Path(__file__).parent / "results" / "names.json"
SHIPPED = Path(names.__file__).with_name("key_names.json")

WAYS = ("with_table", "without_table")
ASKED = (
    ("id", Kind.INTEGER, ""),
    ("id", Kind.STRING, ""),
    ("id", Kind.INTEGER, "users"),
    ("statuses_count", Kind.INTEGER, ""),
    ("statuses_count", Kind.INTEGER, "twitter_users"),
    ("screen_name", Kind.STRING, ""),
    ("lang", Kind.STRING, ""),
    ("uuid", Kind.STRING, ""),
    ("customer_id", Kind.INTEGER, ""),
    ("customer_id", Kind.INTEGER, "customers"),
    ("customer_id", Kind.INTEGER, "orders"),
    ("CustomerKey", Kind.INTEGER, "DimCustomer"),
    ("order_number", Kind.STRING, "orders"),
    ("email", Kind.STRING, "users"),
    ("username", Kind.STRING, ""),
    ("slug", Kind.STRING, ""),
    ("is_deleted", Kind.BOOLEAN, ""),
    ("price", Kind.DECIMAL, ""),
    ("price_per_unit", Kind.FLOAT, "products"),
    ("created_at", Kind.TIMESTAMP, ""),
    ("review_id", Kind.STRING, "reviews"),
    ("transaction_hash", Kind.STRING, ""),
)


def main() -> None:
    data = Data(read_rows())
    everything = np.arange(len(data.rows))
    outer = by_project(data, everything, FOLDS)
    held = held_out(data, outer, lambda train: best(data, train)[0])
    print("grouped by project:", *(judged(data, each)["auc"] for each in held), flush=True)
    choice, scores = best(data, everything)
    plain = held_out(data, by_column(data), lambda _: choice)
    shipped = weights(data, choice)
    SHIPPED.write_bytes(msgspec.json.format(msgspec.json.encode(shipped), indent=0) + b"\n")
    found = {
        "seed": SEED,
        "versions": versions("scikit-learn", "scipy", "numpy"),
        "data": facts(data),
        "choices": [{**each._asdict(), "auc": round(scores[each], 4)} for each in CHOICES],
        "chosen": choice._asdict(),
        "weights": len(shipped.weights),
        "grouped": dict(zip(WAYS, (judged(data, each) for each in held), strict=True)),
        "plain": dict(zip(WAYS, (judged(data, each) for each in plain), strict=True)),
        "fold_areas": dict(zip(WAYS, (fold_areas(data, outer, each) for each in held), strict=True)),
        "thresholds": dict(zip(WAYS, (thresholds(data, each) for each in held), strict=True)),
        "named_id": named_id(data),
        "projects": by_each_project(data, held[0]),
        "wrong": wrong(data, held[0]),
        "examples": msgspec.to_builtins(shipped.examples),
    }
    RESULTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    write_page(found)


def facts(data: Data) -> dict[str, Any]:
    return {
        "columns": len(data.rows),
        "unique": int(data.unique.sum()),
        "unique_named_id": int((data.unique & data.is_id).sum()),
        "tables": len({(row.project, row.table) for row in data.rows}),
        "projects": len(set(data.projects)),
        "kinds": dict(sorted(Counter(row.kind.value for row in data.rows).items())),
    }


def named_id(data: Data) -> dict[str, float]:
    """How far one gets with the question whether the column is called `id`."""
    right, said = data.unique & data.is_id, data.is_id
    recall = right.sum() / data.unique.sum()
    alarm = (said & ~data.unique).sum() / (~data.unique).sum()
    return {
        "auc": round(float((1 + recall - alarm) / 2), 4),
        "precision": round(float(right.sum() / said.sum()), 4),
        "recall": round(float(recall), 4),
    }


def weights(data: Data, choice: Choice) -> names.Weights:
    """The model of all rows, with weights of 4 decimals."""
    model = fit(data, choice, np.arange(len(data.rows)))
    kept = {int(at): round(float(model.coef_[0, at]), 4) for at in np.flatnonzero(np.abs(model.coef_[0]) >= 5e-5)}
    told = {
        "columns": len(data.rows),
        "unique": int(data.unique.sum()),
        "projects": len(set(data.projects)),
        "c": choice.c,
        "l1_ratio": choice.l1_ratio,
        "seed": SEED,
    }
    bare = names.Weights(names.FORMAT, choice.bits, choice.ngram, round(float(model.intercept_[0]), 4), kept, told)
    shown = tuple(names.Example(*asked, round(bare.probability(*asked), 6)) for asked in ASKED)
    return msgspec.structs.replace(bare, examples=shown)


def wrong(data: Data, held: np.ndarray) -> dict[str, list[str]]:
    """The surest mistakes on held-out projects."""

    def text(at: int) -> str:
        row = data.rows[at]
        return f"{row.project}: {row.table}.{row.column} ({row.kind.value}) {held[at]:.2f}"

    order = np.argsort(held, kind="stable")
    missed = [at for at in order if data.unique[at]]
    claimed = [at for at in order[::-1] if not data.unique[at]]
    return {"missed": _one_each(data, missed, text), "claimed": _one_each(data, claimed, text)}


def _one_each(data: Data, order: list[int], text: Any) -> list[str]:
    """The first of each column name, and no more than two of a project."""
    first: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for at in order:
        row = data.rows[at]
        if row.column not in first and seen[row.project] < 2:
            first[row.column] = text(at)
            seen[row.project] += 1
    return list(first.values())[:12]


if __name__ == "__main__":
    main()
