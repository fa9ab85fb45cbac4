"""One column of a public schema, and the file of them all."""

from __future__ import annotations

import csv
import random
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from headgate.values.schema import Kind

SCHEMAS = Path(__file__).parent / "schemas.csv"

# Types as SQL, Django and SQLAlchemy name them, in lower case without underscores: the first pattern found decides.
# Keys to other tables are nearly always integers; what they really are is said in another place.
KINDS = (
    (Kind.OTHER, r"json|array|hstore|interval|duration|pickle|tsvector|point|geometry|range"),
    (Kind.BINARY, r"blob|binary|bytea"),
    (
        Kind.STRING,
        r"char|text|string|unicode|clob|enum|uuid|inet|emailfield|urlfield|slugfield|filefield|imagefield|^set$",
    ),
    (Kind.TIMESTAMP, r"timestamp|datetime"),
    (Kind.DATE, r"^date"),
    (Kind.BOOLEAN, r"bool|^bit$"),
    (Kind.DECIMAL, r"decimal|numeric|money"),
    (Kind.FLOAT, r"float|double|^real$"),
    (Kind.INTEGER, r"int|serial|autofield|^year$|^long$|foreignkey|onetoone"),
)


class Row(NamedTuple):
    """A column, and whether its schema says that it alone is unique."""

    project: str
    table: str
    column: str
    kind: Kind
    is_unique: bool


def kind_of(word: str) -> Kind:
    """The kind that a type's name means.

    >>> kind_of("BigInteger"), kind_of("VARCHAR"), kind_of("jsonb")
    (<Kind.INTEGER: 'integer'>, <Kind.STRING: 'string'>, <Kind.OTHER: 'other'>)
    """
    plain = word.lower().replace("_", "")
    return next((kind for kind, pattern in KINDS if re.search(pattern, plain)), Kind.OTHER)


def read_rows(path: Path = SCHEMAS) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(each["project"], each["table"], each["column"], Kind(each["type"]), each["is_unique"] == "1")
            for each in csv.DictReader(file)
        ]


def write_rows(rows: Iterable[Row], path: Path = SCHEMAS) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["project", "table", "column", "type", "is_unique"])
        writer.writerows((row.project, row.table, row.column, row.kind.value, int(row.is_unique)) for row in rows)


def project_folds(projects: Iterable[str], folds: int, seed: int) -> list[frozenset[str]]:
    """Projects dealt into folds of about as many columns: each to the smallest fold so far, in an order drawn by lot.

    >>> [sorted(fold) for fold in project_folds(["a", "a", "b", "c", "c", "c"], 2, seed=1)]
    [['a', 'b'], ['c']]
    """
    sizes = Counter(projects)
    order = sorted(sizes)
    random.Random(seed).shuffle(order)
    dealt: list[list[str]] = [[] for _ in range(folds)]
    for project in order:
        min(dealt, key=lambda fold: sum(sizes[each] for each in fold)).append(project)
    return [frozenset(fold) for fold in dealt]
