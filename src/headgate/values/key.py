"""The key of a metric: the text under which it is stored and written, which parses back."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TypeAlias

import msgspec

from headgate.values.errors import BadMetricKey

Parameter: TypeAlias = str | int | float | bool

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PATH = re.compile(rf"{_BARE.pattern}(?:\[\])*(?:\.{_BARE.pattern}(?:\(\)|(?:\[\])*))*")  # items[].price, tags.size()
_RESERVED = frozenset({"where", "true", "false", "null", "and", "or", "not"})
_JSON = json.JSONDecoder()


class MetricKey(msgspec.Struct, frozen=True):
    """A metric's name, its columns, its parameters and its row filter.

    >>> str(MetricKey("approx_quantile", ("price",), (("q", 0.9),), where="region = 'EU'"))
    'approx_quantile(price, q=0.9) where "region = \\'EU\\'"'
    >>> MetricKey.parse('completeness("unit price")').columns
    ('unit price',)
    >>> MetricKey.parse("mean(items[].price)").columns
    ('items[].price',)

    Args:
        name: The stored name of the metric, such as `mean`.
        columns: The columns that it reads, in order.
        parameters: Pairs of a parameter's name and its value.
        where: A SQL predicate that selects rows; None for all rows.
    """

    name: str
    columns: tuple[str, ...] = ()
    parameters: tuple[tuple[str, Parameter], ...] = ()
    where: str | None = None

    def __str__(self) -> str:
        inside = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in self.parameters]
        return _format_key(self.name, self.columns, tuple(inside), self.where)

    @classmethod
    def parse(cls, text: str) -> MetricKey:
        return _parse_key(text)


# A history has the same thousands of keys in every run, so their texts are cached in both directions.
@lru_cache(maxsize=1 << 16)
def _parse_key(text: str) -> MetricKey:
    return _KeyReader(text).read_key()


@lru_cache(maxsize=1 << 16)
def _format_key(name: str, columns: tuple[str, ...], parameters: tuple[str, ...], where: str | None) -> str:
    inside = [*map(_format_column, columns), *parameters]
    tail = "" if where is None else f" where {json.dumps(where, ensure_ascii=False)}"
    return f"{name}({', '.join(inside)}){tail}"


def _format_column(name: str) -> str:
    plain = _BARE.fullmatch(name) and name.lower() not in _RESERVED
    return name if plain else json.dumps(name, ensure_ascii=False)


class _KeyReader:
    """A parser of one key: `name(column, ..., parameter=value, ...)`, and optionally `where "text"`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def read_key(self) -> MetricKey:
        name = self.read_bare("a metric's name")
        self.expect_symbol("(")
        columns: list[str] = []
        parameters: list[tuple[str, Parameter]] = []
        while not self.is_ahead(")"):
            if columns or parameters:
                self.expect_symbol(",")
            self.read_argument(columns, parameters)
        self.expect_symbol(")")
        where = self.read_filter()
        if self.text[self.position :].strip():
            raise self.make_error("nothing more")
        return MetricKey(name, tuple(columns), tuple(parameters), where)

    def read_argument(self, columns: list[str], parameters: list[tuple[str, Parameter]]) -> None:
        if self.is_ahead('"'):
            columns.append(str(self.read_literal()))
            return
        word = self.read_bare("a column or a parameter", _PATH)
        if self.is_ahead("="):
            self.expect_symbol("=")
            parameters.append((word, self.read_literal()))
        else:
            columns.append(word)

    def read_filter(self) -> str | None:
        if not self.text[self.position :].strip():
            return None
        if self.read_bare("where") != "where":
            raise self.make_error("where")
        text = self.read_literal()
        if not isinstance(text, str):
            raise self.make_error("a quoted row predicate")
        return text

    def read_bare(self, wanted: str, form: re.Pattern[str] = _BARE) -> str:
        self.skip_spaces()
        match = form.match(self.text, self.position)
        if not match:
            raise self.make_error(wanted)
        self.position = match.end()
        return match.group()

    def read_literal(self) -> Parameter:
        self.skip_spaces()
        try:
            value, self.position = _JSON.raw_decode(self.text, self.position)
        except ValueError:
            raise self.make_error('a number, true, false or "text"') from None
        if not isinstance(value, (str, int, float, bool)):
            raise self.make_error('a number, true, false or "text"')
        return value

    def expect_symbol(self, wanted: str) -> None:
        if not self.is_ahead(wanted):
            raise self.make_error(wanted)
        self.position += len(wanted)

    def is_ahead(self, wanted: str) -> bool:
        self.skip_spaces()
        return self.text.startswith(wanted, self.position)

    def skip_spaces(self) -> None:
        while self.position < len(self.text) and self.text[self.position].isspace():
            self.position += 1

    def make_error(self, wanted: str) -> BadMetricKey:
        return BadMetricKey(
            f"{self.text!r} is not a metric key: at character {self.position + 1} there should be {wanted}.",
            hint='Write it like mean(price) or mean("unit price") where "region = \'EU\'".',
        )
