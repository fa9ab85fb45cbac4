"""The name under which a metric of a column is stored and written, as text that parses back."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TypeAlias

import msgspec

from headgate.values.errors import BadMetricKey

Parameter: TypeAlias = str | int | float | bool

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = frozenset({"where", "true", "false", "null", "and", "or", "not"})
_JSON = json.JSONDecoder()


class MetricKey(msgspec.Struct, frozen=True):
    """A metric's name, its columns, its parameters and its row filter.

    >>> str(MetricKey("approx_quantile", ("price",), (("q", 0.9),), where="region = 'EU'"))
    'approx_quantile(price, q=0.9) where "region = \\'EU\\'"'
    >>> MetricKey.parse('completeness("unit price")').columns
    ('unit price',)
    """

    name: str
    columns: tuple[str, ...] = ()
    parameters: tuple[tuple[str, Parameter], ...] = ()
    where: str | None = None

    def __str__(self) -> str:
        inside = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in self.parameters]
        return _text(self.name, self.columns, tuple(inside), self.where)

    @classmethod
    def parse(cls, text: str) -> MetricKey:
        return _parsed(text)


# A history has the same thousands of keys in every run: they are written and read once.
@lru_cache(maxsize=1 << 16)
def _parsed(text: str) -> MetricKey:
    return _Reader(text).key()


@lru_cache(maxsize=1 << 16)
def _text(name: str, columns: tuple[str, ...], parameters: tuple[str, ...], where: str | None) -> str:
    inside = [*map(_word, columns), *parameters]
    tail = "" if where is None else f" where {json.dumps(where, ensure_ascii=False)}"
    return f"{name}({', '.join(inside)}){tail}"


def _word(name: str) -> str:
    plain = _BARE.fullmatch(name) and name.lower() not in _RESERVED
    return name if plain else json.dumps(name, ensure_ascii=False)


class _Reader:
    """A reader of one key: name ( words and name=value, by commas ) and perhaps: where "text"."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def key(self) -> MetricKey:
        name = self.bare("a metric's name")
        self.symbol("(")
        columns: list[str] = []
        parameters: list[tuple[str, Parameter]] = []
        while not self.ahead(")"):
            if columns or parameters:
                self.symbol(",")
            self.argument(columns, parameters)
        self.symbol(")")
        where = self.filter()
        if self.text[self.at :].strip():
            raise self.error("nothing more")
        return MetricKey(name, tuple(columns), tuple(parameters), where)

    def argument(self, columns: list[str], parameters: list[tuple[str, Parameter]]) -> None:
        if self.ahead('"'):
            columns.append(str(self.literal()))
            return
        word = self.bare("a column or a parameter")
        if self.ahead("="):
            self.symbol("=")
            parameters.append((word, self.literal()))
        else:
            columns.append(word)

    def filter(self) -> str | None:
        if not self.text[self.at :].strip():
            return None
        if self.bare("where") != "where":
            raise self.error("where")
        text = self.literal()
        if not isinstance(text, str):
            raise self.error("a quoted row predicate")
        return text

    def bare(self, wanted: str) -> str:
        self.skip()
        found = _BARE.match(self.text, self.at)
        if not found:
            raise self.error(wanted)
        self.at = found.end()
        return found.group()

    def literal(self) -> Parameter:
        self.skip()
        try:
            value, self.at = _JSON.raw_decode(self.text, self.at)
        except ValueError:
            raise self.error('a number, true, false or "text"') from None
        if not isinstance(value, (str, int, float, bool)):
            raise self.error('a number, true, false or "text"')
        return value

    def symbol(self, wanted: str) -> None:
        if not self.ahead(wanted):
            raise self.error(wanted)
        self.at += len(wanted)

    def ahead(self, wanted: str) -> bool:
        self.skip()
        return self.text.startswith(wanted, self.at)

    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def error(self, wanted: str) -> BadMetricKey:
        return BadMetricKey(
            f"{self.text!r} is not a metric key: at character {self.at + 1} there should be {wanted}.",
            hint='Write it like mean(price) or mean("unit price") where "region = \'EU\'".',
        )
