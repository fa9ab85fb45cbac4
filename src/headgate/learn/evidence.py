"""Evidence of a user's own tables: how rare their good batches were, without a value or a name of the data.

It takes the place of the evidence that comes with the package, which is of other tables. Evidence of several stores can
be merged.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import msgspec

from headgate.learn.history.learn import BASIC_SHARES, COARSE_SHARE, NOVELTY_SHARE, OTHERS_SHARE
from headgate.learn.history.replayed_memory import replay_rarities
from headgate.learn.past import Past
from headgate.learn.pooled_rates import HISTORY_LENGTHS, PooledRates, TableRarities, make_batch_key
from headgate.learn.rarity_limit import count_rarities, find_limit, find_working_budget
from headgate.learn.remembered_rarity import FADES_AFTER, limit_rarity, remember_batch
from headgate.values.errors import MisuseError
from headgate.values.key import MetricKey
from headgate.values.rarity_memory import NOTHING_REMEMBERED, BatchRarity, Part, RarityMemory

FORMAT = 1
MIN_BATCHES = 20
"""Good batches after 30 others that a table must have: fewer tell too little."""
OWN_TABLES, OWN_BATCHES = 20, 2_000
"""Own tables and their good batches from which on those of the package are left out: fewer tell little of what is rare.
"""
MOST_SHORT = 60
"""Batches after short histories that are replayed of a table, the oldest."""
RUNS_OF_LENGTH = {7: 10, 14: 20, 28: 30}
"""Runs that stand for the histories from one length up to the next."""
REMEMBERED = {7: 3, 14: 13, 28: int(FADES_AFTER)}
"""Runs that a table with a history of a length has judged before."""
LONGEST = HISTORY_LENGTHS[-1]


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """How rare the good batches of tables were: by table, part and history length, how many are in each step of rarity.

    The name of a table is a keyed hash. `levels` says with what the rarities of a table were compared: evidence of
    different levels is not merged.
    """

    format: int = FORMAT
    levels: dict[str, float] = {}
    tables: dict[str, TableRarities] = {}

    @classmethod
    def parse(cls, text: bytes, where: str = "evidence") -> Evidence:
        """Read evidence that `encode` wrote. Raises `MisuseError` if it is something else."""
        hint = "Write it with headgate calibrate."
        try:
            found = msgspec.json.decode(text, type=cls)
        except msgspec.MsgspecError as error:
            raise MisuseError(f"{where} is no evidence: {error}.", hint=hint) from None
        if found.format != FORMAT:
            raise MisuseError(f"{where} has the format {found.format}; this version reads {FORMAT}.", hint=hint)
        if not all(_is_count(*each) for table in found.tables.values() for by in table.values() for each in by.items()):
            raise MisuseError(f"{where} is no evidence: a step or a count is no whole number above 0.", hint=hint)
        return found

    @classmethod
    def read(cls, file: str | Path) -> Evidence:
        """The evidence in a file. Raises `MisuseError` if there is none."""
        path = Path(file)
        try:
            content = path.read_bytes()
        except OSError:
            raise MisuseError(f"there is no {path}.", hint="Write it with headgate calibrate.") from None
        return cls.parse(content, path.name)

    def fits(self, pooled_rates: PooledRates) -> bool:
        """Whether it was gathered with this version of the package's evidence."""
        return not self.tables or self.levels == pooled_rates.levels

    def encode(self) -> bytes:
        """The evidence as JSON with one line per table."""
        tables = ",\n".join(
            f'"{name}": {msgspec.json.encode(self.tables[name], order="sorted").decode()}'
            for name in sorted(self.tables)
        )
        levels = msgspec.json.encode(self.levels, order="sorted").decode()
        return f'{{"format": {self.format}, "levels": {levels}, "tables": {{\n{tables}\n}}}}\n'.encode()

    def merge(self, other: Evidence) -> Evidence:
        """The evidence of both. Of a table that both have, that of more batches.

        Raises `MisuseError` if they were gathered by different versions of the package's evidence.
        """
        if self.tables and other.tables and self.levels != other.levels:
            raise MisuseError(
                "the two were gathered with different evidence of the package, so they cannot be merged.",
                hint="Run headgate calibrate again for the older one.",
            )
        tables = dict(self.tables)
        for name, table in other.tables.items():
            if name not in tables or _count_batches(tables[name]) < _count_batches(table):
                tables[name] = table
        return Evidence(levels=self.levels if self.tables else other.levels, tables=tables)

    def leave_out(self, names: Collection[str]) -> Evidence:
        """The evidence without some tables."""
        kept = {name: each for name, each in self.tables.items() if name not in names}
        return msgspec.structs.replace(self, tables=kept)

    def apply_to(self, pooled_rates: PooledRates, *, without: str = "") -> PooledRates:
        """The rates with these tables: beside those of the package, or in place of them where there are enough.

        Evidence that was gathered with another version of the package's is left out.

        Args:
            pooled_rates: The rates of the package.
            without: A table that does not count, because it is the one that is judged.
        """
        if not self.tables or not self.fits(pooled_rates):
            return pooled_rates
        replaced = self.replaced_keys
        package = {
            name: {key: counts for key, counts in table.items() if key not in replaced}
            for name, table in pooled_rates.tables.items()
        }
        own = {name: table for name, table in self.tables.items() if name != without}
        return msgspec.structs.replace(pooled_rates, tables={**package, **own})

    @property
    def digest(self) -> str:
        """Tells one evidence from another; empty if there is none."""
        return hashlib.sha256(self.encode()).hexdigest()[:12] if self.tables else ""

    @property
    def replaced_keys(self) -> frozenset[str]:
        """The parts and history lengths of which there is enough to do without the package."""
        found: dict[str, list[int]] = {}
        for table in self.tables.values():
            for key, counts in table.items():
                found.setdefault(key, []).append(sum(counts.values()))
        return frozenset(key for key, each in found.items() if len(each) >= OWN_TABLES and sum(each) >= OWN_BATCHES)

    @property
    def replaces_package(self) -> bool:
        """Whether the limits of columns rest on these tables alone, once a table has many runs."""
        return make_batch_key(Part.COLUMNS, LONGEST) in self.replaced_keys


NO_EVIDENCE = Evidence()


def gather_rarities(
    past: Past, pooled_rates: PooledRates, is_learned: Callable[[MetricKey], bool] = lambda _: True
) -> dict[int, list[BatchRarity]]:
    """How rare the good batches of a table were after a history of each length, oldest first.

    Args:
        past: All good runs of the table.
        pooled_rates: How often series of each kind surprise.
        is_learned: Whether a metric counts.
    """
    return {
        length: replay_rarities(
            past,
            pooled_rates,
            runs,
            REMEMBERED[length],
            most=None if length == LONGEST else MOST_SHORT,
            is_learned=is_learned,
        )
        for length, runs in RUNS_OF_LENGTH.items()
    }


def count_table(rarities: Mapping[int, Sequence[BatchRarity]], levels: Mapping[str, float]) -> TableRarities:
    """The batches of a table, counted by steps of rarity; a part that is never rare, such as nulls, is left out."""
    table: TableRarities = {}
    for length, batches in rarities.items():
        for part in Part:
            key = make_batch_key(part, length)
            found = [batch.parts.get(part, 0.0) for batch in batches]
            if any(found):
                table[key] = count_rarities(found, levels.get(key, 0.0))
    return table


def name_table(secret: bytes | None, dataset: str) -> str:
    """A name for a table that tells nothing of it: a hash, keyed with the secret of a store that hides values."""
    return hmac.new(secret or b"", dataset.encode("utf-8", "surrogatepass"), "sha256").hexdigest()[:16]


def count_held(batches: Sequence[BatchRarity], pooled_rates: PooledRates, budget: float) -> int:
    """How many of the good batches of a table a gate would have held, all of them accepted.

    Args:
        batches: How rare they were after a long history, oldest first.
        pooled_rates: What other tables tell.
        budget: The share of good batches that may be held.
    """
    memory, held = NOTHING_REMEMBERED, 0
    rates = pooled_rates.batch_rates(Part.COLUMNS, LONGEST)
    for batch in batches:
        limits = _find_limits(pooled_rates, memory, budget)
        limited = limit_rarity(batch, limits)
        held += limited.is_alarm
        memory = remember_batch(memory, limited, rates)
    return held


def _find_limits(pooled_rates: PooledRates, memory: RarityMemory, budget: float) -> dict[Part, float]:
    budget = find_working_budget(budget, memory)
    spent = sum(BASIC_SHARES.values()) + COARSE_SHARE + OTHERS_SHARE + NOVELTY_SHARE
    shares = {**BASIC_SHARES, Part.COLUMNS: 1.0 - spent}
    found = {
        part: find_limit(pooled_rates.batch_rates(part, LONGEST), memory, part, share * budget)
        for part, share in shares.items()
    }
    return {part: math.inf if limit is None else limit.rarity for part, limit in found.items()}


def _count_batches(table: TableRarities) -> int:
    return sum(table.get(make_batch_key(Part.COLUMNS, LONGEST), {}).values())


def _is_count(step: str, count: int) -> bool:
    return step.isdecimal() and step.isascii() and count > 0
