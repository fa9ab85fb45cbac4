"""A table as a reader finds it: its columns, and the sets of columns declared as keys."""

from __future__ import annotations

from dataclasses import dataclass, field

from headgate.values.schema import Kind


@dataclass
class Table:
    """What every reader of a schema ends in. A key of two columns makes neither of them unique."""

    name: str
    columns: dict[str, Kind] = field(default_factory=dict)
    keys: list[tuple[str, ...]] = field(default_factory=list)

    def unique(self) -> set[str]:
        return {key[0] for key in self.keys if len(key) == 1 and key[0] in self.columns}
