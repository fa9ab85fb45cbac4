"""What each issue does, by hand-made examples."""

from __future__ import annotations

import unicodedata
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from headgate.inject.casing_change import CasingChange
from headgate.inject.character_deletion import CharacterDeletion
from headgate.inject.character_insertion import CharacterInsertion
from headgate.inject.character_perturbation import CharacterPerturbation
from headgate.inject.distribution_change import DistributionChange
from headgate.inject.increased_nulls import IncreasedNulls
from headgate.inject.issue import Issue
from headgate.inject.schema_change import SchemaChange
from headgate.inject.unit_change import UnitChange
from headgate.inject.volume_change import VolumeChange
from headgate.inject.whitespace_padding import WhitespacePadding
from headgate.values.errors import MisuseError
from tests.inject.columns import WORDS
from tests.strategies import text_of_bytes

NAN, INF = float("nan"), float("inf")


def broken(issue: Issue, values: pa.Array, neighbour: pa.Array | None = None) -> pa.Array:
    return issue.apply_to(values, np.random.default_rng(7), neighbour)


def test_a_column_out_of_place_has_the_values_and_the_nulls_of_its_neighbour() -> None:
    after = broken(SchemaChange(1.0), pa.array(range(1000)), pa.array([-1, None]))
    assert set(after.to_pylist()) == {-1, None}
    assert after.null_count == pytest.approx(500, abs=80)


def test_a_share_of_the_rows_comes_from_the_neighbour() -> None:
    after = broken(SchemaChange(0.1), pa.array(range(1000)), pa.array([-1]))
    assert after.to_pylist().count(-1) == 100


def test_a_neighbour_too_large_for_the_type_makes_doubles() -> None:
    assert broken(SchemaChange(1.0), pa.array([1], pa.int8()), pa.array([10**6])).to_pylist() == [1e6]
    assert broken(SchemaChange(1.0), pa.array([1], pa.int8()), pa.array([100])).type == pa.int8()


def test_an_empty_neighbour_changes_nothing() -> None:
    assert broken(SchemaChange(1.0), pa.array([1]), pa.array([], pa.int64())).to_pylist() == [1]


def test_a_schema_change_needs_a_neighbour_of_the_same_kind() -> None:
    with pytest.raises(MisuseError, match="needs another column"):
        broken(SchemaChange(0.1), pa.array([1]))
    with pytest.raises(MisuseError, match="the column is integer, its neighbour string"):
        broken(SchemaChange(0.1), pa.array([1]), pa.array(["a"]))


@pytest.mark.parametrize(
    ("values", "factor", "expected"),
    [
        pytest.param(pa.array([1, -2, None]), 10, pa.array([10, -20, None]), id="whole"),
        pytest.param(pa.array([1, 2], pa.int8()), 10, pa.array([10, 20], pa.int8()), id="fits"),
        pytest.param(pa.array([1, 100], pa.int8()), 10, pa.array([10, 1000]), id="too large for 8 bits"),
        pytest.param(pa.array([2**62]), 10, pa.array([2.0**62 * 10]), id="too large for 64 bits"),
        pytest.param(pa.array([-(2**63)]), 1000, pa.array([-(2.0**63) * 1000]), id="the least"),
        pytest.param(pa.array([15, 16]), 0.1, pa.array([2, 2]), id="whole numbers stay whole"),
        pytest.param(pa.array([1.5, NAN, INF]), 10, pa.array([15.0, NAN, INF]), id="floats"),
        pytest.param(pa.array([1.5], pa.float32()), 10, pa.array([15.0], pa.float32()), id="float32"),
        pytest.param(pa.array([3e38], pa.float32()), 10, pa.array([3e39]), id="too large for 32 bits"),
        pytest.param(pa.array([2**63], pa.uint64()), 1, pa.array([2**63], pa.uint64()), id="uint64"),
        pytest.param(
            pa.array([Decimal("1.25")], pa.decimal128(9, 2)),
            1000,
            pa.array([Decimal("1250.00")], pa.decimal128(9, 2)),
            id="decimals",
        ),
        pytest.param(
            pa.array([Decimal("9.25")], pa.decimal128(3, 2)),
            100,
            pa.array([Decimal("925.00")], pa.decimal128(38, 2)),
            id="more digits",
        ),
        pytest.param(
            pa.array([Decimal("1.25")], pa.decimal128(9, 2)),
            0.1,
            pa.array([Decimal("0.12")], pa.decimal128(9, 2)),
            id="decimals keep their scale",
        ),
    ],
)
def test_a_unit_change_multiplies(values: pa.Array, factor: float, expected: pa.Array) -> None:
    after = broken(UnitChange(factor), values)
    assert after.type == expected.type
    assert after.is_valid().to_pylist() == expected.is_valid().to_pylist()
    found, wanted = (each.drop_null().cast(pa.float64(), safe=False).to_pylist() for each in (after, expected))
    assert found == pytest.approx(wanted, rel=1e-6, abs=0, nan_ok=True)


def test_the_case_of_letters_is_swapped_or_made_one() -> None:
    values = pa.array(["Smith", "élan", "中1", None])
    assert broken(CasingChange(1.0), values).to_pylist() == ["sMITH", "ÉLAN", "中1", None]
    assert broken(CasingChange(1.0, to="upper"), values).to_pylist() == ["SMITH", "ÉLAN", "中1", None]
    assert broken(CasingChange(1.0, to="lower"), values).to_pylist() == ["smith", "élan", "中1", None]


def test_letters_among_bytes_that_are_no_text_have_case() -> None:
    after = broken(CasingChange(1.0), text_of_bytes([b"a\xffB"], pa.string()))
    assert after.cast(pa.binary()).to_pylist() == [b"A\xffb"]


def test_values_go_blank_or_null() -> None:
    assert broken(IncreasedNulls(1.0), pa.array(["a", None])).to_pylist() == ["", None]
    assert broken(IncreasedNulls(1.0), pa.array([1.5, None])).to_pylist() == [0.0, None]
    assert broken(IncreasedNulls(1.0), pa.array([True, None])).to_pylist() == [None, None]
    assert broken(IncreasedNulls(0.5, value="null"), pa.array(range(100))).null_count == 50
    assert broken(IncreasedNulls(0.0), pa.array(range(9))).to_pylist() == list(range(9))


def test_fewer_rows_are_some_of_the_rows_and_more_are_repeats() -> None:
    values = pa.array(range(100))
    fewer = broken(VolumeChange(0.5), values).to_pylist()
    assert len(set(fewer)) == 50
    more = broken(VolumeChange(10), values).to_pylist()
    assert len(more) == 1000
    assert set(more) <= set(range(100))
    assert more == sorted(more)


@pytest.mark.parametrize(("end", "allowed"), [("first", range(10)), ("last", range(90, 100))])
def test_a_biased_sample_is_of_one_end(end: str, allowed: range) -> None:
    values = pa.array(np.random.default_rng(0).permutation(100))
    after = broken(DistributionChange(0.1, end), values).to_pylist()
    assert len(after) == 100
    assert set(after) == set(allowed)


def test_a_biased_sample_of_nothing_is_refused() -> None:
    with pytest.raises(MisuseError, match="share of 0"):
        DistributionChange(0.0, "first")


def test_padding_is_on_one_side_and_trims_away() -> None:
    after = broken(WhitespacePadding(1.0), pa.array(WORDS * 50)).to_pylist()
    assert [text.strip() for text in after] == [word.strip() for word in WORDS * 50]
    assert {text[:1] == " " for text in after} == {True, False}
    assert {len(text) - len(word) for text, word in zip(after, WORDS * 50, strict=True)} == {1, 2, 3}


def test_a_perturbed_character_is_another_of_its_sort() -> None:
    words = ["Ab1-z 9", "ünïcödé", "中文字符", "🙂👍", "a\u0301e\u0300"]
    for before, after in zip(words, broken(CharacterPerturbation(1.0), pa.array(words)).to_pylist(), strict=True):
        assert len(before) == len(after)
        for old, new in zip(before, after, strict=True):
            assert (old == new) == (old == " ")
            same = unicodedata.category(old) == unicodedata.category(new)
            assert same or (ord(old) < 128 and not old.isalnum() and not new.isalnum())


def test_every_other_character_of_a_sort_is_drawn_about_as_often() -> None:
    after = broken(CharacterPerturbation(1.0), pa.array(["3" * 9000])).to_pylist()[0]
    counts = {digit: after.count(digit) for digit in "012456789"}
    assert sum(counts.values()) == 9000
    assert min(counts.values()) > 850
    assert max(counts.values()) < 1150


def test_a_share_of_the_characters_is_perturbed() -> None:
    before = "abcdefghij" * 1000
    after = broken(CharacterPerturbation(0.1), pa.array([before])).to_pylist()[0]
    assert sum(old != new for old, new in zip(before, after, strict=True)) == pytest.approx(1000, abs=120)


@pytest.mark.parametrize("words", [WORDS, WORDS[:3]], ids=["unicode", "ascii"])
def test_an_inserted_character_is_one_more(words: tuple[str, ...]) -> None:
    after = broken(CharacterInsertion(1.0), pa.array(words)).to_pylist()
    for before, text in zip(words, after, strict=True):
        assert before in {text[:at] + text[at + 1 :] for at in range(len(text))}


@pytest.mark.parametrize("words", [WORDS, WORDS[:3]], ids=["unicode", "ascii"])
def test_a_deleted_character_is_one_less(words: tuple[str, ...]) -> None:
    after = broken(CharacterDeletion(1.0), pa.array(words)).to_pylist()
    for before, text in zip(words, after, strict=True):
        assert text in {before[:at] + before[at + 1 :] for at in range(max(1, len(before)))}


def test_a_place_is_any_place() -> None:
    inserted = broken(CharacterInsertion(1.0), pa.array(["中" * 3] * 400)).to_pylist()
    assert {next(at for at, each in enumerate(text) if each != "中") for text in inserted} == {0, 1, 2, 3}
    deleted = broken(CharacterDeletion(1.0), pa.array(["123"] * 400)).to_pylist()
    assert set(deleted) == {"12", "13", "23"}


def test_digits_of_numbers_change_and_signs_and_points_stay() -> None:
    after = broken(CharacterPerturbation(1.0), pa.array([-12.5] * 300)).to_pylist()
    assert all(-100 < each <= 0 and each != -12.5 and each * 10 == int(each * 10) for each in after)
    whole = broken(CharacterPerturbation(1.0), pa.array([-7] * 300)).to_pylist()
    assert set(whole) == {0, -1, -2, -3, -4, -5, -6, -8, -9}


def test_exponents_and_what_has_no_digits_stay() -> None:
    for issue in (CharacterPerturbation(1.0), CharacterInsertion(1.0)):
        tiny, nan, infinite = broken(issue, pa.array([1.5e-300, NAN, -INF])).to_pylist()
        assert 0 <= tiny < 1e-298
        assert tiny != 1.5e-300
        assert nan != nan
        assert infinite == -INF


def test_a_number_gets_a_digit_or_loses_one() -> None:
    longer = broken(CharacterInsertion(1.0), pa.array([25] * 500)).to_pylist()
    assert set(longer) == {*range(125, 926, 100), *range(215, 296, 10), *range(251, 260)}
    assert set(broken(CharacterDeletion(1.0), pa.array([-125] * 99)).to_pylist()) == {-12, -15, -25}
    assert set(broken(CharacterDeletion(1.0), pa.array([1.5] * 99)).to_pylist()) == {1.0, 0.5}


def test_a_number_without_its_last_digit_is_null() -> None:
    assert broken(CharacterDeletion(1.0), pa.array([5, -5, 12])).to_pylist()[:2] == [None, None]
    decimals = pa.array([Decimal("5")], pa.decimal128(5, 0))
    assert broken(CharacterDeletion(1.0), decimals).to_pylist() == [None]


def test_a_number_that_outgrows_its_type_gets_a_wider_one() -> None:
    assert broken(CharacterInsertion(1.0), pa.array([100], pa.int8())).type == pa.int64()
    assert broken(CharacterInsertion(1.0), pa.array([2**63 - 1])).type == pa.float64()
    assert broken(CharacterInsertion(1.0), pa.array([2**64 - 1], pa.uint64())).type == pa.decimal128(38, 0)
    assert broken(CharacterInsertion(1.0), pa.array([12], pa.int8())).type in (pa.int8(), pa.int64())


def test_decimals_keep_their_scale() -> None:
    values = pa.array([Decimal("12.50")] * 200, pa.decimal128(9, 2))
    for issue in (CharacterInsertion(1.0), CharacterDeletion(1.0), CharacterPerturbation(1.0)):
        after = broken(issue, values)
        assert after.type == values.type
        assert len(set(after.to_pylist())) > 2
