"""What folds and the reading of rows cost: constants that `python -m training.fold_costs` measured on one machine."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from statistics import median

import msgspec

from headgate.values.schema import BYTES, Column, Kind

FEW_TEXTS = "few texts"
"""The name of a column of texts that has few different ones, each in many rows."""
MANY_TEXTS = "many texts"
"""The name of a column of texts that differ from row to row."""
DICTIONARY = "dictionary"
"""The name of a column of texts that is dictionary encoded."""
_ENCODED = ("dictionary", "category")  # how the types of such columns begin, in Arrow and in pandas


class FoldCost(msgspec.Struct, frozen=True):
    """What one state costs on one kind of column: nanoseconds of CPU a value, microseconds a batch, bytes of state.

    Args:
        own: Nanoseconds a value where other states have prepared the column.
        shared: Nanoseconds a value of what other states need too, such as sorted values. A column pays once for it.
        own_byte: How much `own` grows with each byte of a text.
        shared_byte: How much `shared` grows with each byte of a text.
        batch: Microseconds for each batch, however few rows it has.
        size: Bytes of the stored state.
        growth: How many bytes the state grows with each value.
        merge: Nanoseconds a value each time that the batches are merged in pairs, for a state that grows.
    """

    own: float
    shared: float = 0.0
    own_byte: float = 0.0
    shared_byte: float = 0.0
    batch: float = 0.0
    size: float = 0.0
    growth: float = 0.0
    merge: float = 0.0

    def price_own(self, text_bytes: float) -> float:
        """Nanoseconds a value of the fold alone, for texts of this length."""
        return self.own + self.own_byte * text_bytes

    def price_shared(self, text_bytes: float) -> float:
        """Nanoseconds a value of what states of one column share, for texts of this length."""
        return self.shared + self.shared_byte * text_bytes


class ReadCost(msgspec.Struct, frozen=True):
    """What it costs to read one value of a kind of column: nanoseconds of CPU, and more for each byte of a text."""

    value: float
    byte: float = 0.0

    def price(self, text_bytes: float) -> float:
        """Nanoseconds a value, for texts of this length."""
        return self.value + self.byte * text_bytes


class FoldCosts(msgspec.Struct, frozen=True):
    """The measured constants, and what they were measured on.

    Args:
        machine: The processor.
        versions: Of Python and of the libraries.
        columns: What each state costs, by kind of column.
        reading: What reading a value costs, by the way of reading and the kind of column.
        jobs: CPU seconds that a job takes however few rows it has, by the way of reading.
        predicate: Nanoseconds for a row to evaluate a simple predicate.
        filter: Nanoseconds for a value to leave out those that do not meet a predicate.
    """

    machine: str
    versions: dict[str, str]
    columns: dict[str, dict[str, FoldCost]]
    reading: dict[str, dict[str, ReadCost]]
    jobs: dict[str, float]
    predicate: float = 0.0
    filter: float = 0.0

    def find_fold(self, kind: str, state: str) -> tuple[FoldCost, bool]:
        """The cost of a state on a kind of column, and whether it was measured.

        A state that nobody measured is taken to cost what the middle one of this kind does.
        """
        of_kind = self.columns[kind]
        if state in of_kind:
            return of_kind[state], True
        own = median(each.price_own(0) for each in of_kind.values())
        slope = median(each.own_byte for each in of_kind.values())
        batch = median(each.batch for each in of_kind.values())
        size = median(each.size for each in of_kind.values())
        return FoldCost(own, own_byte=slope, batch=batch, size=size), False

    def find_reading(self, way: str, kind: str) -> ReadCost | None:
        """The cost of reading a value; None if nobody measured this way of reading. Kinds without texts cost alike."""
        if way not in self.reading:
            return None
        return self.reading[way].get(kind, self.reading[way][NUMBERS])

    def list_unmeasured(self, states: dict[str, set[str]]) -> list[str]:
        """The states, given by kind of column, that have no measured cost."""
        return sorted({state for kind, own in states.items() for state in own - set(self.columns[kind])})


NUMBERS = "numbers"
"""The name under which `reading` has the cost of all columns but texts."""


def name_kind(column: Column) -> str:
    """Under which name the constants have a column of this kind.

    The type does not tell how many texts differ: those of a dictionary are few, others are taken to be many.

    >>> name_kind(Column("price", Kind.FLOAT, "double")), name_kind(Column("note", Kind.STRING, "string"))
    ('float', 'many texts')
    """
    if column.empty or column.kind is Kind.STRING:
        return DICTIONARY if column.type.startswith(_ENCODED) else MANY_TEXTS
    return column.kind.value


def has_length(kind: str) -> bool:
    """Whether the cost of this kind of column depends on the length of its values."""
    return kind in {FEW_TEXTS, MANY_TEXTS, DICTIONARY, *(each.value for each in BYTES)}


@cache
def load_fold_costs() -> FoldCosts:
    """The constants that come with the package."""
    text = (files("headgate.engine") / "fold_costs.json").read_text(encoding="utf-8")
    return msgspec.json.decode(text, type=FoldCosts)


def format_fold_costs(costs: FoldCosts) -> str:
    """The constants as JSON, one line for each state of each kind of column, so that a change can be reviewed."""
    plain = msgspec.to_builtins(costs)
    head = ",\n".join(f' "{name}": {json.dumps(plain[name])}' for name in plain if name not in ("columns", "reading"))
    groups = ",\n".join(f' "{name}": {{\n{_format_groups(plain[name])}\n }}' for name in ("reading", "columns"))
    return f"{{\n{head},\n{groups}\n}}\n"


def _format_groups(groups: dict[str, dict[str, dict[str, float]]]) -> str:
    return ",\n".join(
        f'  "{name}": {{\n' + ",\n".join(f'   "{key}": {_format_cost(cost)}' for key, cost in group.items()) + "\n  }"
        for name, group in groups.items()
    )


def _format_cost(cost: dict[str, float]) -> str:
    """The constants of a cost, without those that are 0 where that is the default."""
    return json.dumps({name: value for name, value in cost.items() if value or name in ("own", "value")})
