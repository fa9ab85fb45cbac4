"""What holds for every registered issue at every level, whatever the column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.inject.issue import NUMBERS, Issue, issue_from_key, issues, standard
from headgate.inject.parameters import count_of
from headgate.metrics.base.arrow import kind_of
from headgate.values.errors import MisuseError
from headgate.values.schema import Kind
from tests.inject.columns import changed, column, listed
from tests.strategies import TEXT_VIEWS, columns

CASES = [(issue, kind) for kind in Kind for issue in standard(kind)]


def cases(chosen: Callable[[Issue, Kind], bool] = lambda issue, kind: True) -> pytest.MarkDecorator:
    some = [(issue, kind) for issue, kind in CASES if chosen(issue, kind)]
    return pytest.mark.parametrize(("issue", "kind"), some, ids=[f"{kind}-{issue}" for issue, kind in some])


def moves_rows(issue: Issue, kind: Kind) -> bool:
    """Whether nulls move with the rest."""
    return issue.of_rows or issue.needs_neighbour


def has_a_draw(issue: Issue, kind: Kind) -> bool:
    """Whether two seeds can differ; a biased sample of booleans is all true, or all false."""
    return issue.is_random and "=1.0" not in str(issue) and (issue.name, kind) != ("distribution_change", Kind.BOOLEAN)


def changes_its_share(issue: Issue, kind: Kind) -> bool:
    """Whether `share` is that of changed values, none of which a draw may leave as it was."""
    return not issue.of_rows and issue.name not in {"distribution_change", "schema_change", "character_perturbation"}


of_every_case = cases()
of_every_level = pytest.mark.parametrize("issue", sorted({issue for issue, _ in CASES}, key=str), ids=str)


def broken(issue: Issue, values: pa.Array, seed: int = 0, neighbour: pa.Array | None = None) -> pa.Array:
    other = (values if neighbour is None else neighbour) if issue.needs_neighbour else None
    return issue.apply_to(values, np.random.default_rng(seed), other)


def expected_rows(issue: Issue, before: int) -> int:
    return count_of(issue.factor, before) if issue.of_rows else before  # type: ignore[attr-defined]


@of_every_case
def test_the_type_is_kept_and_the_array_is_sound(issue: Issue, kind: Kind) -> None:
    values = column(kind)
    after = broken(issue, values)
    after.validate(full=True)
    assert len(after) == expected_rows(issue, len(values))
    if not issue.widens_numbers or kind not in NUMBERS:
        assert after.type == values.type
    assert kind_of(after.type) is kind


@of_every_case
def test_a_seed_gives_one_result(issue: Issue, kind: Kind) -> None:
    values = column(kind)
    assert listed(broken(issue, values, seed=1)) == listed(broken(issue, values, seed=1))


@cases(has_a_draw)
def test_another_seed_gives_another_result(issue: Issue, kind: Kind) -> None:
    values, other = column(kind), column(kind, rows=300)
    assert listed(broken(issue, values, 1, other)) != listed(broken(issue, values, 2, other))


@of_every_case
def test_the_input_is_left_as_it_was(issue: Issue, kind: Kind) -> None:
    values = column(kind)
    broken(issue, values)
    assert listed(values) == listed(column(kind))


@cases(lambda issue, kind: not moves_rows(issue, kind))
def test_a_null_stays_null(issue: Issue, kind: Kind) -> None:
    values = column(kind)
    after = listed(broken(issue, values))
    assert all(after[at] is None for at, value in enumerate(listed(values)) if value is None)


@of_every_case
@pytest.mark.parametrize("rows", [0, 7])
def test_a_column_without_values_is_left_alone(issue: Issue, kind: Kind, rows: int) -> None:
    values = pa.nulls(rows, column(kind).type)
    after = broken(issue, values)
    assert after.type == values.type
    assert after.null_count == len(after) == expected_rows(issue, rows)


@of_every_case
def test_something_changes(issue: Issue, kind: Kind) -> None:
    values = column(kind, nulls=False)
    other = column(kind, rows=300) if issue.needs_neighbour else None
    assert listed(values) != listed(broken(issue, values, neighbour=other))


@cases(changes_its_share)
def test_a_share_of_the_values_changes(issue: Issue, kind: Kind) -> None:
    share: float = getattr(issue, "share", 1.0)
    values = column(kind, rows=2_000)
    there = len(values) - values.null_count
    count = changed(values, broken(issue, values))
    if issue.name.startswith("character"):
        assert count == pytest.approx(share * there, rel=0.25)
    else:
        assert count == count_of(share, there)


@of_every_case
def test_a_dictionary_and_chunks_are_columns_too(issue: Issue, kind: Kind) -> None:
    values = column(kind)
    chunks = pa.chunked_array([values.slice(0, 150), values.slice(150)])
    plain = listed(broken(issue, values))
    assert listed(broken(issue, chunks)) == plain
    if kind is Kind.OTHER:
        return
    packed = broken(issue, values.dictionary_encode())
    assert listed(packed) == plain
    assert pa.types.is_dictionary(packed.type) or issue.widens_numbers
    assert listed(broken(issue, pa.concat_arrays([values.slice(0, 9), values]).slice(9))) == plain


@given(data=st.data())
@settings(max_examples=200, deadline=None)
def test_no_column_is_too_odd(data: st.DataObject) -> None:
    issue, kind = data.draw(st.sampled_from(CASES))
    values, other = data.draw(columns(kind)), data.draw(columns(kind))
    after = broken(issue, values, data.draw(st.integers(0, 9)), other)
    after.validate()
    assert len(after) == expected_rows(issue, len(values))
    assert after.type == values.type or kind in NUMBERS or issue.needs_neighbour
    if kind in NUMBERS:
        assert kind_of(after.type) in NUMBERS
    if not moves_rows(issue, kind):
        assert all(value is None for value, old in zip(listed(after), listed(values), strict=True) if old is None)


@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_valid_text_stays_valid(data: st.DataObject) -> None:
    issue = data.draw(st.sampled_from(standard(Kind.STRING)))
    texts = data.draw(st.lists(st.one_of(st.none(), st.text(max_size=9)), max_size=30))
    values = pa.array(texts, data.draw(st.sampled_from([pa.string(), pa.large_string(), *TEXT_VIEWS])))
    after = broken(issue, values)
    after.validate(full=True)
    assert after.type == values.type


@of_every_level
def test_its_text_reads_back(issue: Issue) -> None:
    assert issue_from_key(str(issue)) == issue


@pytest.mark.parametrize("kind", issues().values(), ids=issues())
def test_a_kind_it_cannot_happen_to_is_refused(kind: type[Issue]) -> None:
    issue = kind.variants()[0]
    for wrong in set(Kind) - kind.accepts:
        with pytest.raises(MisuseError, match=f"{kind.name} cannot happen to a {wrong} column; these can: .*increased"):
            broken(issue, column(wrong))


@pytest.mark.parametrize("kind", issues().values(), ids=issues())
def test_parameters_that_make_no_sense_are_refused(kind: type[Issue]) -> None:
    good = msgspec.structs.asdict(kind.variants()[0])
    wrong: dict[str, list[Any]] = {
        "share": [-0.1, 1.5, 50, True, "half", None, float("nan")],
        "factor": [0, -2, float("inf"), float("nan"), True, "10"],
        "end": ["middle", None],
        "value": ["zero", 0],
        "to": ["title"],
    }
    assert good.keys() <= wrong.keys(), "list values here that the new parameter refuses"
    for name in good:
        for value in wrong[name]:
            with pytest.raises(MisuseError, match=f"{kind.name}: {name} is"):
                kind(**good | {name: value})
