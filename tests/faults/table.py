"""What a fault did, as one row of the table that `python -m tests.faults` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass
class Row:
    """One kind of fault on one backend. `lost` and `doubled` must be 0, and `leaked`: batches that readers see although
    nothing that was committed lets them. `notes` says what else to know."""

    fault: str
    backend: str
    trials: int = 0
    kills: int = 0
    lost: int = 0
    doubled: int = 0
    leaked: int = 0
    seconds: float = 0.0
    notes: str = ""
    points: Counter[str] = field(default_factory=Counter)

    @property
    def held(self) -> bool:
        return not self.lost and not self.doubled and not self.leaked


def printed(rows: Iterable[Row]) -> Iterator[str]:
    """The table, then the injection points with how often each was hit."""
    every = list(rows)
    yield _line("fault", "backend", "trials", "kills", "points", "lost", "doubled", "leaked", "s", "notes")
    for row in every:
        counts = row.trials, row.kills, len(row.points), row.lost, row.doubled, row.leaked
        yield _line(row.fault, row.backend, *counts, f"{row.seconds:.1f}", row.notes)
    points = sum((row.points for row in every), Counter[str]())
    yield ""
    yield f"{sum(points.values())} kills and failures at {len(points)} points:"
    for name, count in sorted(points.items()):
        yield f"  {name:<28} {count:>5}"


def _line(fault: str, backend: str, *cells: object) -> str:
    *numbers, notes = cells
    return f"{fault:<30} {backend:<11}" + "".join(f"{number:>8}" for number in numbers) + f"  {notes}"
