"""Estimates from the names of table and column and from the column's kind how likely the column is unique."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from zlib import crc32

import msgspec

from headgate.values.schema import Kind

FORMAT = 1
MAX_NAME_LENGTH = 128  # characters that are read: the end of a longer name, because it carries most information
CASE_CHANGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
SEPARATORS = re.compile(r"[\W_]+")


class Example(msgspec.Struct, frozen=True):
    """A probability as computed in training, stored so that a test can compare."""

    column: str
    kind: Kind
    table: str
    probability: float


class Weights(msgspec.Struct, frozen=True):
    """A logistic regression over hashed features: bucket -> weight, without the weights that are 0."""

    format: int
    bits: int
    ngram: int
    intercept: float
    weights: dict[int, float]
    training: dict[str, str | int | float]
    examples: tuple[Example, ...] = ()

    def probability(self, column: str, kind: Kind, table: str = "") -> float:
        """1 / (1 + exp(-(intercept + sum of the weights of the features)))."""
        buckets = hash_features(column, kind, table, ngram=self.ngram, bits=self.bits)
        score = math.fsum([self.intercept, *(self.weights.get(bucket, 0.0) for bucket in buckets)])
        return 1 / (1 + math.exp(-max(-500.0, min(500.0, score))))


def unique_probability(column: str, kind: Kind, table: str = "") -> float:
    """The probability that the schema of an open-source project would declare such a column unique.

    Logistic regression over hashed character n-grams and the type (Schelter et al., VLDB 2018, section 4.2). It sees
    only names, so it serves to reject a suggestion (below 0.5), not to make one.

    >>> unique_probability("id", Kind.INTEGER) > 0.8
    True
    >>> unique_probability("statuses_count", Kind.INTEGER) < 0.1
    True
    >>> key = unique_probability("customer_id", Kind.INTEGER, table="customers")
    >>> key > unique_probability("customer_id", Kind.INTEGER, table="orders")
    True
    """
    return load_weights().probability(column, kind, table)


@cache
def load_weights() -> Weights:
    """The weights that come with the package."""
    return msgspec.json.decode(files(__package__).joinpath("key_names.json").read_bytes(), type=Weights)


def hash_features(column: str, kind: Kind, table: str = "", *, ngram: int, bits: int) -> frozenset[int]:
    """The hashed features. CRC-32 is the same on every machine; two features in one bucket share a weight."""
    mask = (1 << bits) - 1
    return frozenset(
        crc32(each.encode("utf-8", "surrogatepass")) & mask for each in list_features(column, kind, table, ngram)
    )


def list_features(column: str, kind: Kind, table: str, ngram: int) -> Iterator[str]:
    """The features of a name, as text; each is present or absent.

    >>> sorted(list_features("ab", Kind.DATE, "", 2))
    ['#:1', '<:ab', '<:ab date', '=:ab', '=:ab date', '>:ab', '>:ab date', 'k:date', 'n:^a', 'n:ab', 'n:b$']
    """
    words = split_words(column)
    whole = "_".join(words)
    yield f"k:{kind}"
    yield f"#:{min(len(words), 5)}"
    for mark, text in (("=", whole), ("<", words[0]), (">", words[-1])):
        yield f"{mark}:{text}"
        yield f"{mark}:{text} {kind}"
    yield from (f"n:{gram}" for gram in _list_grams(f"^{whole}$", ngram))
    if table:
        yield from _table_features(words, kind, split_words(table))


def split_words(name: str) -> list[str]:
    """The words of a name in lower case; at least one, which may be the empty string.

    >>> split_words("InvoiceLineID"), split_words("comment_post_ID"), split_words("_")
    (['invoice', 'line', 'id'], ['comment', 'post', 'id'], [''])
    """
    return [word for word in SEPARATORS.split(CASE_CHANGE.sub("_", name[-MAX_NAME_LENGTH:]).lower()) if word] or [""]


def _list_grams(text: str, longest: int) -> Iterator[str]:
    for size in range(2, longest + 1):
        yield from (text[start : start + size] for start in range(len(text) - size + 1))


def _table_features(words: list[str], kind: Kind, table: list[str]) -> Iterator[str]:
    """The table's last word, and the column's name without the table's: `id` for orders.order_id."""
    yield "t"
    yield f"t>:{_make_singular(table[-1])}"
    yield f"t>:{_make_singular(table[-1])} {words[-1]}"
    yield f"t#:{min(len(table), 5)}"
    left = _without_table(words, table)
    yield f"t-:{'_'.join(left)}"
    yield f"t-:{'_'.join(left)} {kind}"
    yield f"t?:{len(left) < len(words)} {left[-1]}"
    yield f"t?:{_make_singular(words[0]) in map(_make_singular, table)} {words[-1]}"


def _without_table(words: list[str], table: list[str]) -> list[str]:
    """The words after a prefix made of the table's name, its end, its singular or its initials; else all words."""
    names = [_make_singular(word) for word in words]
    stem = [_make_singular(word) for word in table]
    for begin in range(len(stem)):
        part = stem[begin:]
        if len(words) > len(part) and names[: len(part)] == part:
            return words[len(part) :]
    initials = {"".join(word[:1] for word in table), table[-1][:1], table[0][:1]}
    if len(words) > 1 and words[0] in initials:
        return words[1:]
    joined = "".join(words)
    glued = "".join(stem)
    return ["id"] if joined in {f"{glued}id", f"id{glued}"} else words


def _make_singular(word: str) -> str:
    """An approximate singular, to compare a table's name with a column's: `categories` and `category` agree."""
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
