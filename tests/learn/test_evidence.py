"""Evidence of own tables: counting, merging, reading, and what it changes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from headgate.learn.evidence import (
    LONGEST,
    NO_EVIDENCE,
    OWN_BATCHES,
    OWN_TABLES,
    Evidence,
    count_held,
    count_table,
)
from headgate.learn.pooled_rates import PooledRates, TableRarities, load_pooled_rates, make_batch_key
from headgate.learn.rarity_limit import find_limit
from headgate.values.errors import MisuseError
from headgate.values.rarity_memory import NOTHING_REMEMBERED, BatchRarity, Part

COLUMNS = make_batch_key(Part.COLUMNS, LONGEST)


def batches(mean: float, count: int, seed: int = 0) -> list[BatchRarity]:
    drawn = np.random.default_rng(seed).exponential(mean, count).tolist()
    return [BatchRarity(dict.fromkeys(Part, 0.0) | {Part.COLUMNS: rarity}) for rarity in drawn]


def table(mean: float, count: int = 100, seed: int = 0) -> TableRarities:
    return count_table({LONGEST: batches(mean, count, seed)}, load_pooled_rates().levels)


def evidence(tables: int, mean: float = 3.0) -> Evidence:
    made = {f"table {number}": table(mean, seed=number) for number in range(tables)}
    return Evidence(levels=load_pooled_rates().levels, tables=made)


def limit_of(rates: PooledRates, budget: float = 0.05) -> float:
    found = find_limit(rates.batch_rates(Part.COLUMNS, LONGEST), NOTHING_REMEMBERED, Part.COLUMNS, budget)
    assert found is not None
    return found.rarity


def test_evidence_is_read_as_it_was_written() -> None:
    made = evidence(3)
    assert Evidence.parse(made.encode()) == made
    assert made.encode().count(b"\n") == 3 + 2
    assert Evidence.parse(NO_EVIDENCE.encode()) == NO_EVIDENCE


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b'{"tables": 3}',
        b'{"tables": {"a": {"columns, 28 runs": {"-1": 3}}}}',
        b'{"tables": {"a": {"columns, 28 runs": {"1.5": 3}}}}',
        b'{"tables": {"a": {"columns, 28 runs": {"1": -3}}}}',
        b'{"format": 99}',
    ],
)
def test_what_is_no_evidence_is_refused_with_a_hint(text: bytes) -> None:
    with pytest.raises(MisuseError, match=r"evidence\.json.*headgate calibrate"):
        Evidence.parse(text, "evidence.json")


def test_evidence_is_read_from_a_file_that_is_there(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match=r"there is no .*evidence\.json.*headgate calibrate"):
        Evidence.read(tmp_path / "evidence.json")
    (tmp_path / "evidence.json").write_bytes(evidence(2).encode())
    assert Evidence.read(tmp_path / "evidence.json") == evidence(2)


def test_merging_is_the_union_whatever_the_order() -> None:
    one, two = evidence(3), Evidence(levels=load_pooled_rates().levels, tables={"table 1": table(3.0, 300, 7)})
    assert one.merge(two) == two.merge(one)
    assert sum(one.merge(two).tables["table 1"][COLUMNS].values()) == 300
    assert len(one.merge(two).tables) == 3
    assert NO_EVIDENCE.merge(one) == one.merge(NO_EVIDENCE) == one


def test_evidence_of_different_versions_is_not_merged_and_not_used() -> None:
    old = msgspec.structs.replace(evidence(2), levels={COLUMNS: 1.0})
    with pytest.raises(MisuseError, match="headgate calibrate again"):
        evidence(2).merge(old)
    assert old.apply_to(load_pooled_rates()) is load_pooled_rates()


def list_tables(rates: PooledRates, key: str = COLUMNS) -> set[str]:
    return {name for name, table in rates.tables.items() if key in table}


def test_few_tables_stand_beside_those_of_the_package_and_many_in_their_place() -> None:
    package = load_pooled_rates()
    few, many = evidence(3).apply_to(package), evidence(OWN_TABLES).apply_to(package)
    assert len(list_tables(few)) == len(list_tables(package)) + 3
    assert list_tables(many) == evidence(OWN_TABLES).tables.keys()
    assert evidence(OWN_TABLES).replaces_package
    assert NO_EVIDENCE.apply_to(package) is package


def test_many_tables_of_few_batches_do_not_replace_the_package() -> None:
    made = {f"table {number}": table(3.0, OWN_BATCHES // OWN_TABLES - 1, number) for number in range(OWN_TABLES)}
    short = Evidence(levels=load_pooled_rates().levels, tables=made)
    assert not short.replaces_package
    assert list_tables(short.apply_to(load_pooled_rates())) > short.tables.keys()


def test_a_part_that_the_tables_do_not_have_stays_that_of_the_package() -> None:
    """Tables without nulls tell nothing of nulls."""
    package, nulls = load_pooled_rates(), make_batch_key(Part.NULLS, LONGEST)
    own = evidence(OWN_TABLES).apply_to(package)
    assert all(nulls not in each for each in evidence(OWN_TABLES).tables.values())
    assert own.batch_rates(Part.NULLS, LONGEST) == package.batch_rates(Part.NULLS, LONGEST)


def test_the_table_that_is_judged_does_not_count_and_the_package_stays_replaced() -> None:
    own = evidence(OWN_TABLES)
    assert list_tables(own.apply_to(load_pooled_rates(), without="table 3")) == own.tables.keys() - {"table 3"}


def test_quiet_tables_lower_the_limit_and_wild_ones_raise_it() -> None:
    package = load_pooled_rates()
    quiet, wild = (evidence(OWN_TABLES, mean).apply_to(package) for mean in (0.5, 30.0))
    assert limit_of(quiet) < limit_of(package) < limit_of(wild)


@pytest.mark.parametrize("budget", [0.01, 0.05])
def test_tables_like_those_of_the_evidence_are_held_as_often_as_the_budget_says(budget: float) -> None:
    rates = evidence(OWN_TABLES, 6.0).apply_to(load_pooled_rates())
    held = sum(count_held(batches(6.0, 400, 100 + number), rates, budget) for number in range(5))
    assert 0.4 * budget <= held / 2_000 <= 1.2 * budget


def test_digests_differ_with_the_tables_and_are_empty_without() -> None:
    assert NO_EVIDENCE.digest == ""
    assert len({evidence(1).digest, evidence(2).digest}) == 2
    assert evidence(2).leave_out(["table 1"]) == evidence(1)
