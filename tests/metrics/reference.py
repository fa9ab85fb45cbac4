"""What every metric should give, by pandas, numpy, scipy or plain Python: slow, short, nothing of headgate in it."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

Expected = float | dict[str, int] | None  # None: undefined
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Values(NamedTuple):
    """A column as Python values, None where it is null."""

    every: list[Any]

    @property
    def present(self) -> list[Any]:
        return [value for value in self.every if value is not None]

    @property
    def numbers(self) -> npt.NDArray[np.float64]:
        """The finite numbers in the order of rows."""
        found = np.array([as_number(value) for value in self.present], np.float64)
        return found[np.isfinite(found)]

    @property
    def ordered(self) -> npt.NDArray[np.float64]:
        """The numbers that have an order: infinities too, but not NaN."""
        found = np.array([as_number(value) for value in self.present], np.float64)
        return found[~np.isnan(found)]

    @property
    def sizes(self) -> list[int]:
        """How often each different value occurs."""
        return list(Counter(map(label, self.present)).values())


def as_number(value: Any) -> float:
    if isinstance(value, datetime):
        return (value.replace(tzinfo=value.tzinfo or UTC) - _EPOCH) / timedelta(seconds=1)
    if isinstance(value, date):
        return float((value - _EPOCH.date()).days * 86_400)
    return float(value)


def label(value: Any) -> str:
    """How a value is told from others and shown."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(value + 0.0)
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S.%f")
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)


def shares(sizes: list[int]) -> npt.NDArray[np.float64]:
    return np.array(sizes) / sum(sizes)


def entropy(sizes: list[int]) -> float | None:
    return float(stats.entropy(sizes)) if sizes else None


# --- numbers


def quantile(values: Values, q: float = 0.5) -> float | None:
    found = values.numbers
    return float(np.quantile(found, q, method="inverted_cdf")) if len(found) else None


def histogram(values: Values, bins: int = 10) -> dict[str, int] | None:
    found = values.numbers
    if not len(found):
        return None
    if found.min() == found.max():
        return {f"{found[0]:g}": len(found)}
    counts, edges = np.histogram(found, bins)
    digits = next(each for each in range(6, 20) if len({f"{edge:.{each}g}" for edge in edges}) == len(edges))
    marks = [f"{edge:.{digits}g}" for edge in edges]
    return {f"{left}..{right}": int(count) for left, right, count in zip(marks, marks[1:], counts, strict=False)}


def of_numbers(measure: Callable[[npt.NDArray[np.float64]], Any]) -> Callable[[Values], float | None]:
    return lambda values: float(measure(values.numbers)) if len(values.numbers) else None


def of_ordered(measure: Callable[[npt.NDArray[np.float64]], Any]) -> Callable[[Values], float | None]:
    return lambda values: float(measure(values.ordered)) if len(values.ordered) else None


def of_spread(measure: Callable[[npt.NDArray[np.float64]], Any]) -> Callable[[Values], float | None]:
    return lambda values: float(measure(values.numbers)) if len(set(values.numbers.tolist())) > 1 else None


def correlation(left: Values, right: Values) -> float | None:
    rows = np.array([[as_number(each), as_number(other)] for each, other in both(left, right)]).reshape(-1, 2)
    frame = pd.DataFrame(rows[np.isfinite(rows).all(axis=1)], columns=["x", "y"])
    return None if (frame.nunique() < 2).any() else float(frame["x"].corr(frame["y"]))


def ratio_of_sums(left: Values, right: Values) -> float | None:
    whole = math.fsum(right.numbers)
    return math.fsum(left.numbers) / whole if len(left.numbers) and len(right.numbers) and whole else None


# --- text


def characters(test: Callable[[str], bool]) -> Callable[[Values], float | None]:
    def mean(values: Values) -> float | None:
        return float(np.mean([sum(map(test, text)) for text in values.present])) if values.present else None

    return mean


def of_lengths(measure: Callable[[list[int]], Any]) -> Callable[[Values], float | None]:
    return lambda values: float(measure([len(value) for value in values.present])) if values.present else None


def pattern(text: str) -> str:
    """Runs of letters and digits by what they hold, other characters as they are, repeats once."""
    parts: list[str] = []
    for run in re.findall(r"[0-9A-Za-z\u0080-\U0010ffff]+|[\x00-\x1f\x7f]+|(?s:.)", text):
        shown = "¶" if unicodedata.category(run[0]) == "Cc" and run.isascii() else run
        if run.isalnum() or not run.isascii():
            shown = _word(run)
        if not parts or parts[-1] != shown:
            parts.append(shown)
    return "".join(parts)


def _word(run: str) -> str:
    upper, lower, digit = (bool(re.search(each, run)) for each in ("[A-Z]", "[a-z]", "[0-9]"))
    letters = ("X" if digit else "A") * upper + ("x" if digit else "a") * lower
    return (letters or "9" * digit) + "é" * (not run.isascii())


_LOOKS = {
    "integral": r"[-+]?\d+",
    "fractional": r"[-+]?(\d+\.\d*|\.\d+|\d+)([eE][-+]?\d+)?",
    "boolean": r"(?i:true|false)",
    "date": r"\d{4}-\d\d-\d\d",
    "timestamp": r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[-+]\d\d:?\d\d)?",
}


def looks(text: str) -> str:
    bare = text.strip(" \t\n\r\f")
    return next((name for name, shape in _LOOKS.items() if re.fullmatch(shape, bare, re.ASCII)), "string")


def of_text_numbers(measure: Callable[[list[float]], Any]) -> Callable[[Values], float | None]:
    def measured(values: Values) -> float | None:
        found = [float(text) for text in values.present if looks(text) in ("integral", "fractional")]
        finite = [each for each in found if math.isfinite(each)]
        return float(measure(finite)) if finite else None

    return measured


def type_ratio(values: Values, *types: str) -> float | None:
    return float(np.mean([looks(text) in types for text in values.present])) if values.present else None


def peculiarity(values: Values) -> float | None:
    """Over the triples of all values, with an edge at both ends; by bytes beyond ASCII."""
    triples: Counter[str] = Counter()
    for text in values.present:
        symbols = "^" + "".join(map(_symbol, text.encode())) + "^"
        triples.update(symbols[at : at + 3] for at in range(len(symbols) - 2) if len(symbols) > 2)
    if not triples:
        return None
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    for triple, count in triples.items():
        before[triple[:2]] += count
        after[triple[1:]] += count
    odd = {
        each: (math.log(before[each[:2]]) + math.log(after[each[1:]])) / 2 - math.log(triples[each]) for each in triples
    }
    return math.sqrt(sum(triples[each] * odd[each] ** 2 for each in triples) / triples.total())


def _symbol(byte: int) -> str:
    character = chr(byte)
    if byte >= 128:
        return "~"
    return "9" if character.isdigit() else character.lower() if character.isalpha() else "_"


# --- groups


def rows_in_groups(columns: list[Values]) -> list[int]:
    """Sizes of the groups of equal rows; a row that is null in every column is in none."""
    rows = zip(*(column.every for column in columns), strict=True)
    kept = [row for row in rows if any(value is not None for value in row)]
    return list(Counter(tuple(None if value is None else label(value) for value in row) for row in kept).values())


def both(left: Values, right: Values) -> list[tuple[Any, Any]]:
    """The rows in which neither is null."""
    return [row for row in zip(left.every, right.every, strict=True) if None not in row]


def mutual_information(left: Values, right: Values) -> float | None:
    pairs = [(label(each), label(other)) for each, other in both(left, right)]
    if not pairs:
        return None
    # not by pandas: its hash of a string stops at a NUL
    joint, one, two = Counter(pairs), Counter(left for left, _ in pairs), Counter(right for _, right in pairs)
    rows = len(pairs)
    return sum(count / rows * math.log(count * rows / one[left] / two[right]) for (left, right), count in joint.items())


# what the references below take parameters to be
PARAMETERS: dict[str, tuple[tuple[str, Any], ...]] = {
    "approx_quantile": (("q", 0.5),),
    "histogram": (("bins", 10),),
    "pattern_match": (("pattern", "[0-9]"),),
    "type_ratio": (("type", "fractional"),),
}
OF_GROUPS: dict[str, Callable[[list[int]], float | None]] = {
    "count_distinct": lambda sizes: float(len(sizes)),
    "distinctness": lambda sizes: len(sizes) / sum(sizes) if sizes else None,
    "uniqueness": lambda sizes: sizes.count(1) / sum(sizes) if sizes else None,
    "unique_value_ratio": lambda sizes: sizes.count(1) / len(sizes) if sizes else None,
    "entropy": entropy,
}
OF_PAIRS: dict[str, Callable[[Values, Values], float | None]] = {
    "correlation": correlation,
    "mutual_information": mutual_information,
    "ratio_of_sums": ratio_of_sums,
}
OF_COLUMNS: dict[str, Callable[[Values], Expected]] = {
    "completeness": lambda values: len(values.present) / len(values.every) if values.every else None,
    "finiteness": lambda values: len(values.numbers) / len(values.present) if values.present else None,
    "min": of_ordered(np.min),
    "max": of_ordered(np.max),
    "range": of_ordered(lambda found: np.ptp(found) if found.min() < found.max() else 0.0),
    "mean": of_numbers(np.mean),
    "sum": lambda values: math.fsum(values.numbers),
    "stddev": of_numbers(np.std),
    "variance": of_numbers(np.var),
    "skewness": of_spread(stats.skew),
    "kurtosis": of_spread(stats.kurtosis),
    "median": quantile,
    "approx_quantile": quantile,
    "histogram": histogram,
    "approx_count_distinct": lambda values: float(len(values.sizes)),
    "dist_val_count": lambda values: float(len(values.sizes)),
    "unique_ratio": lambda values: len(values.sizes) / len(values.present) if values.present else None,
    "most_frequent_ratio": lambda values: max(values.sizes) / len(values.present) if values.present else None,
    "value_distribution": lambda values: dict(Counter(map(label, values.present))) or None,
    "str_len": of_lengths(np.mean),
    "min_length": of_lengths(min),
    "max_length": of_lengths(max),
    "char_len": characters(lambda each: unicodedata.category(each)[0] == "L"),
    "digit_len": characters(lambda each: unicodedata.category(each) == "Nd"),
    "punc_len": characters(lambda each: unicodedata.category(each)[0] in "PS"),
    "pattern_distribution": lambda values: dict(Counter(map(pattern, values.present))) or None,
    "pattern_match": lambda values: (
        float(np.mean([bool(re.search("[0-9]", text)) for text in values.present])) if values.present else None
    ),
    "data_type": lambda values: dict(Counter(map(looks, values.present))) or None,
    "type_consistency": lambda values: (
        max(Counter(map(looks, values.present)).values()) / len(values.present) if values.present else None
    ),
    "type_ratio": lambda values: type_ratio(values, "integral", "fractional"),
    "text_min": of_text_numbers(min),
    "text_max": of_text_numbers(max),
    "text_mean": of_text_numbers(np.mean),
    "index_of_peculiarity": peculiarity,
}
