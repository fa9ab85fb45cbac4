"""Suggestions for whole tables: they hold on what they were made from, differ, print, and run as printed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headgate as hg
from headgate.learn.rules.profile import profile
from headgate.learn.rules.split import split_rows
from headgate.learn.rules.suggest import draft_suggestions, suggest
from headgate.learn.rules.suggestions import Suggestions
from headgate.values.errors import MisuseError
from headgate.values.expectation import Status
from tests.pages import HOSTILE, Seen, assert_harmless, coloured, terminal
from tests.strategies import tables


def orders(rows: int = 6_000, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "id": [f"A-{at:06}" for at in range(rows)],
            "region": rng.choice(["EU", "US", "APAC"], rows, p=[0.6, 0.3, 0.1]),
            "price": [f"{value:.2f}" for value in rng.lognormal(3, 1, rows)],
            "discount": [None if rng.random() < 0.3 else float(at % 5) for at in range(rows)],
            "zip": [f"{at % 9_000:05}" for at in range(rows)],
            "it's `odd`": rng.choice(["it's", "a\\b", '"', "é"], rows),
        }
    )


def test_an_order_table_suggests_what_a_person_would_write() -> None:
    assert [str(each) for each in suggest(orders(), "orders")] == [
        "is_complete(id)",
        'has_pattern(id, pattern="^[A-Z]+-[0-9]+$")',
        "is_unique(id)",
        'is_contained_in(region, values=["APAC", "EU", "US"])',
        "is_complete(region)",
        "is_complete(price)",
        'has_data_type(price, type="fractional")',
        "has_text_min(price) at least 0",
        "has_completeness(discount) at least 0.69",
        "is_in_range(discount, low=0.0, high=4.0)",
        "is_complete(zip)",
        'has_pattern(zip, pattern="^[0-9]{5}$")',
        'is_contained_in(it\'s `odd`, values=["\\"", "a\\\\b", "it\'s", "é"])',
        "is_complete(it's `odd`)",
    ]


def test_all_of_them_hold_on_the_rest_and_say_so() -> None:
    found = suggest(orders(), "orders")
    assert {each.coverage for each in found} == {1.0}
    assert found.training + found.held_out == 6_000
    assert "held against" in repr(found)
    assert repr(found).count("yes") == len(found)
    assert found._repr_html_().count("<tr>") == len(found) + 1
    assert terminal(found, 200).count("yes") == len(found)
    assert ("1;32", "yes") in coloured(found, 200)


def random_column(rng: np.random.Generator, rows: int) -> pa.Array:
    """A column of one of many sorts, some values missing."""
    sorts = [
        lambda: rng.integers(-3, 100, rows).astype(object),
        lambda: rng.integers(0, 10**9, rows).astype(object),
        lambda: rng.normal(0, 10, rows).astype(object),
        lambda: rng.exponential(1, rows).round(2).astype(str).astype(object),
        lambda: rng.choice(["a", "b", "c d", "e's", "\\", ""], rows).astype(object),
        lambda: np.array([f"{rng.integers(0, 99):02}-X{at}" for at in range(rows)], object),
        lambda: np.array(["x" * int(each) for each in rng.integers(0, 40, rows)], object),
        lambda: rng.zipf(2.0, rows).clip(1, 10**6).astype(str).astype(object),
        lambda: np.arange(rows).astype("datetime64[s]").astype(object),
        lambda: rng.choice([True, False], rows).astype(object),
        lambda: np.array(["a\nb", "é", "ab--c", "a  b"] * rows, object)[:rows],
    ]
    values = sorts[rng.integers(len(sorts))]()
    values[rng.random(rows) < rng.choice([0.0, 0.0, 0.001, 0.3])] = None
    return pa.array(values.tolist())


def random_table(seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    rows = int(rng.choice([70, 1_000, 5_000]))
    names = ["id", "user_id", "code", "a b", "where", "`", "price", "名前"]
    return pa.table({name: random_column(rng, rows) for name in names[: rng.integers(1, len(names))]})


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_every_suggestion_holds_on_what_it_was_made_from_and_no_two_are_equal(seed: int) -> None:
    table = random_table(seed)
    found = suggest(table, seed=seed)
    assert len({each.rule for each in found}) == len(found)
    training = split_rows(table, None, seed).training
    check = hg.Check("all", rules=[each.rule for each in found])
    judged = hg.verify(training, check)
    assert {each.judgement.status for each in judged.judged} <= {Status.PASS}


@settings(max_examples=25, deadline=None)
@given(tables())
def test_any_table_may_be_asked(table: pa.Table) -> None:
    assert len(suggest(table)) >= 0


@pytest.mark.parametrize("seed", range(6))
def test_what_is_printed_as_python_runs_and_makes_the_same_check(seed: int) -> None:
    found = suggest(random_table(seed))
    names: dict[str, Any] = {}
    exec(found.to_python("mine"), names)
    assert names["check"] == found.to_check("mine")
    assert hg.Check.from_yaml(found.to_yaml("mine"), "mine") == found.to_check("mine")


def test_what_does_not_hold_on_the_rest_is_shown_and_left_out_of_the_check() -> None:
    rare = pa.table({"c": pa.array([None, *["x"] * 9_999])})
    failing = next(
        found for found in (suggest(rare, seed=seed) for seed in range(9)) if len(found.holding) < len(found)
    )
    (complete,) = [each for each in failing if each.by == "complete"]
    assert complete.coverage == pytest.approx(1 - 1 / failing.held_out)
    assert "no, 99.98%" in repr(failing)
    assert "1 of them not" in repr(failing)
    assert ("1;31", "no, 99.98%") in coloured(failing)
    assert "no, 99.98%" in Seen(failing._repr_html_()).said
    assert "is_complete(c)" not in repr(failing.to_check())


def test_what_does_not_hold_on_the_sample_itself_is_not_suggested() -> None:
    spaced = pa.table({"c": [f"A  {at}" for at in range(6_000)]})  # a pattern shows two blanks as one
    drafts = draft_suggestions(profile(split_rows(spaced, None, 0).training))
    assert 'has_pattern(c, pattern="^[A-Z]+ [0-9]+$")' in [str(each) for each in drafts]
    assert [each.by for each in suggest(spaced)] == ["complete"]


def test_every_kind_of_local_data_gives_the_same() -> None:
    table = orders(3_000)
    expected = [str(each) for each in suggest(table)]
    others = [
        table.to_batches()[0],
        ds.dataset(table),
        pa.RecordBatchReader.from_batches(table.schema, table.to_batches()),
        polars.from_arrow(table),
        polars.from_arrow(table).lazy(),
        pd.DataFrame({name: table[name].to_pylist() for name in table.column_names}),
    ]
    for data in others:
        assert [str(each) for each in suggest(data)] == expected


def test_a_column_of_pandas_may_be_named_like_a_method() -> None:
    assert len(suggest(pd.DataFrame({"collect": range(100), "filter": range(100)}))) > 0


def test_data_drawn_with_the_same_seed_are_not_cut_by_their_own_numbers() -> None:
    drawn = pa.table({"high": np.where(np.random.default_rng(7).random(5_000) < 0.5, "yes", "no")})
    assert next(str(each) for each in suggest(drawn, seed=7)) == 'is_contained_in(high, values=["no", "yes"])'


def test_the_same_seed_gives_the_same_and_the_sample_can_be_chosen() -> None:
    table = orders(3_000)
    assert list(suggest(table, seed=3)) == list(suggest(table, seed=3))
    assert suggest(table, sample=0.1).training < 400
    assert suggest(table).training > 1_000
    with pytest.raises(MisuseError, match=r"Write sample=0\.1"):
        suggest(table, sample=1.0)
    with pytest.raises(MisuseError, match="is not a batch"):
        suggest([1, 2])


def test_only_the_columns_named_get_suggestions() -> None:
    assert {each.column for each in suggest(orders(), columns=["price", "zip"])} == {"price", "zip"}


def test_suggestions_are_a_sequence_and_plain_data() -> None:
    found = suggest(orders())
    assert isinstance(found[:2], Suggestions)
    assert [*found[:2]] == [found[0], found[1]]
    told = json.loads(json.dumps(found.to_dict()))
    assert told["suggestions"][0]["constraint"] == "is_complete(id)"
    assert told["training"] == found.training


def test_the_papers_lang_does_not_fail_on_a_language_no_one_in_the_sample_speaks() -> None:
    rng = np.random.default_rng(5)
    langs = rng.choice(["en", "pt", "es", "tr", "hu", "de", "nl"], 20_000, p=[0.7, 0.2, 0.09, 5e-4, 3e-4, 5e-3, 4.2e-3])
    for seed in range(5):
        found = suggest(pa.table({"lang": langs}), sample=0.1, seed=seed)
        assert {each.coverage for each in found} == {1.0}
        assert any(each.by == "categorical" for each in found)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_and_values_are_only_text_wherever_they_are_shown(name: str) -> None:
    found = suggest(pa.table({name: [name, "b"] * 50}))
    assert any(name in each.column for each in found)
    assert_harmless(found)
