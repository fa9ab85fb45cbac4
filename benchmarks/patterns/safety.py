"""`python -m benchmarks.patterns.safety`: every pattern that a benchmark accepts, against texts made to be slow.

Each expression reads 1 MB in one value and 1 MB in short values, and values of 100,000 characters in Java (S3).
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.patterns import corpus, indexes
from benchmarks.patterns.learners import PAPER
from benchmarks.timing import session, versions
from headgate.engine.java_regex import java_regex
from headgate.learn.patterns.infer import infer
from headgate.learn.patterns.settings import InferenceSettings

SIZE = 1_000_000
LONG = 100_000
LIMIT = 100.0  # milliseconds
ROUNDS = 3
_SHOWN = 5
_FILLERS = ("a", "A", "1", "Ab ", "a1", "1,234", "1.", "-", ", ", "/", "a@a.", "http://a/", "é", "0-", "A.")


def main() -> None:
    found = measure()
    path = Path(__file__).parent / "results" / "safety.json"
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1, ensure_ascii=False))


def measure() -> dict[str, Any]:
    accepted = dict(rules())
    spent = {"RE2": {}, "Python": {}, "Java": java(list(accepted))}
    for regex, example in accepted.items():
        spent["RE2"][regex] = max(_re2(regex, text) for text in texts(example, SIZE))
        spent["Python"][regex] = max(_python(regex, text) for text in texts(example, SIZE))
    return {
        "expressions": len(accepted),
        "characters": {"RE2": SIZE, "Python": SIZE, "Java": LONG},
        "limit": LIMIT,
        "versions": versions("pyarrow", "pyspark"),
        "slowest": {
            engine: [
                {"milliseconds": round(spent[engine][regex], 1), "regex": regex}
                for regex in sorted(spent[engine], key=lambda each: -spent[engine][each])[:_SHOWN]
            ]
            for engine in spent
        },
        "over": {engine: sum(each > LIMIT for each in taken.values()) for engine, taken in spent.items()},
    }


def rules() -> Iterator[tuple[str, str]]:
    """The expression of every accepted rule of every method on all three sets, with a value that it matches."""
    lake = indexes.whole()
    for chosen in corpus.SETS:
        for case in corpus.cases(chosen):
            for method in (*PAPER.values(), "headgate"):
                found = infer(list(case.train), lake, lake.total, InferenceSettings.of(method))
                if found is not None:
                    matched = [value for value, fits in zip(case.train, found.matches(case.train), strict=True) if fits]
                    yield found.regex, max(matched, key=len)


def texts(example: str, size: int) -> Iterator[str]:
    """Long values that match as far as they can and fail at the end: the example again and again, and what fills it."""
    for piece in (example, *_FILLERS):
        whole = (piece or "a") * (size // max(len(piece), 1))
        yield whole[: size - 1] + "\x01"
        yield (example + whole)[: size - 1] + "\x01"


def _re2(regex: str, text: str) -> float:
    array = pa.array([text])
    return _best(lambda: pc.match_substring_regex(array, regex))


def _python(regex: str, text: str) -> float:
    compiled = re.compile(regex)
    return _best(lambda: compiled.fullmatch(text))


def _best(step: Any) -> float:
    taken = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        step()
        taken.append(1_000 * (time.perf_counter() - begin))
        if taken[-1] < LIMIT / 4:
            break
    return min(taken)


def java(regexes: list[str]) -> dict[str, float]:
    """Milliseconds of Spark's RLIKE for one long value, on average; a stack overflow would be an error."""
    spark = session()
    values = [text for piece in _FILLERS for text in texts(piece, LONG)]
    frame = spark.createDataFrame([(text,) for text in values], "value string").repartition(1).cache()
    frame.count()
    found = {}
    for regex in regexes:
        frame_of = frame.selectExpr(f"sum(cast(value rlike {_literal(java_regex(regex))} as int)) as matched")
        begin = time.perf_counter()
        frame_of.collect()
        found[regex] = 1_000 * (time.perf_counter() - begin) / len(values)
    return found


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


if __name__ == "__main__":
    main()
