"""Predictability against scikit-learn on the same tokens and rows, and where it must be high, low or undefined."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.dummy import DummyClassifier
from sklearn.metrics import f1_score, precision_score, recall_score
from sklearn.naive_bayes import MultinomialNB

import headgate as hg
from headgate.engine.analyze import analyze
from headgate.metrics.base.arrow import kind_of
from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.hashing import combine
from headgate.metrics.base.tokens import BUCKETS, side_by_side, tokens_of
from headgate.metrics.predictability import Predictability
from headgate.metrics.states.labelled_tokens import LABELS, SAMPLE, LabelledTokens
from headgate.values.errors import MisuseError
from headgate.values.outcome import Measured, Undefined

SKLEARN = {"f1": f1_score, "precision": precision_score, "recall": recall_score}


def addresses(rows: int, zips: int = 30, seed: int = 1) -> pa.Table:
    """Countries with their cities, of which some are common, and the zip codes of these."""
    chance = np.random.default_rng(seed)
    city = np.minimum(chance.geometric(0.03, rows), 120)
    country = (city * 7919) % 8
    code = city * 100 + chance.integers(0, zips, rows)
    shuffled = chance.permutation(city)
    return pa.table(
        {
            "country": [f"Land {each}" for each in country],
            "city": [f"{'San' if each % 5 else 'Bad'} Town{each}" for each in city],
            "zip": [f"{each:06d}" for each in code],
            "code": code,
            "other city": [f"San Town{each}" for each in shuffled],
            "one": ["x"] * rows,
        }
    )


def views(table: pa.Table, columns: Sequence[str]) -> list[ColumnBatch]:
    return [ColumnBatch(table[name], kind_of(table[name].type)) for name in columns]


def value(table: pa.Table, columns: Sequence[str], score: str = "f1") -> Any:
    return analyze(table, [Predictability(columns, score=score)]).value(Predictability(columns, score=score))


# --- the same model by scikit-learn


class Rows:
    """Different rows in the order of their hashes, with their tokens and copies; the first 1,024 are tried."""

    def __init__(self, table: pa.Table, columns: Sequence[str]) -> None:
        seen = views(table, columns)
        self.hashes, rows, self.copies = np.unique(
            combine([each.hashes for each in seen])[0], return_index=True, return_counts=True
        )
        most = 64 // (len(columns) - 1)
        tokens = side_by_side([tokens_of(each, rows, place, most) for place, each in enumerate(seen[1:])])
        cells = (np.ones(len(tokens.buckets)), (tokens.owners(), tokens.in_a_row()))
        self.features = csr_array(cells, shape=(len(rows), BUCKETS))
        self.labels = seen[0].hashes[0][rows]

    def predicted(self, row: int) -> np.uint64:
        """By a model that is fitted to all rows but this copy of this one."""
        left = self.copies.copy()
        left[row] -= 1
        model = MultinomialNB(alpha=1.0, fit_prior=False)
        known = np.flatnonzero(left)
        model.fit(self.features[known], self.labels[known], sample_weight=left[known])
        logs = model.predict_joint_log_proba(self.features[[row]])[0]
        # classes that differ only by the order of adding up are equally likely
        return model.classes_[np.argmax(np.round(logs, 9))]


@cache
def by_scikit_learn(rows: int, columns: tuple[str, ...]) -> dict[str, float]:
    found = Rows(addresses(rows), columns)
    tried = range(min(len(found.hashes), SAMPLE))
    true, predicted = (
        np.array(each).astype(str) for each in (found.labels[: len(tried)], [*map(found.predicted, tried)])
    )
    given = {"average": "weighted", "sample_weight": found.copies[: len(tried)], "zero_division": 0}
    return {name: float(score(true, predicted, **given)) for name, score in SKLEARN.items()}


@pytest.mark.parametrize("score", SKLEARN)
@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (2, ("country", "city")),
        (40, ("country", "city", "zip")),
        (300, ("country", "city", "zip")),
        (300, ("country", "other city")),
        (300, ("city", "code", "country")),
        (3_000, ("country", "other city", "zip")),
        (3_000, ("country", "one")),
    ],
)
def test_the_scores_are_those_of_scikit_learn(rows: int, columns: tuple[str, ...], score: str) -> None:
    found = value(addresses(rows), columns, score)
    assert found == pytest.approx(by_scikit_learn(rows, columns)[score], abs=1e-12)


# --- high, and low


def most_frequent(table: pa.Table, target: str) -> float:
    """How often the most frequent label is right."""
    labels = table[target].to_pylist()
    return float(DummyClassifier(strategy="most_frequent").fit(labels, labels).score(labels, labels))


@pytest.mark.parametrize("columns", [["country", "city"], ["country", "city", "zip"], ["country", "city", "code"]])
def test_a_column_that_follows_from_others_is_predictable(columns: list[str]) -> None:
    assert value(addresses(20_000), columns) > 0.97


def test_a_few_equal_rows_are_enough() -> None:
    table = pa.table({"currency": ["EUR", "USD"] * 20, "country": ["FR", "US"] * 20})
    assert value(table, ["currency", "country"]) == 1.0


@pytest.mark.parametrize("column", ["other city", "one"])
def test_an_input_that_has_nothing_to_do_with_the_target_is_no_better_than_the_most_frequent_label(column: str) -> None:
    table = addresses(20_000)
    found, share = value(table, ["country", column], "recall"), most_frequent(table, "country")
    assert found < share + 0.05


@pytest.mark.parametrize(("rows", "words"), [(500, 20), (2_000, 200), (5_000, 2_000), (20_000, 50), (20_000, 3_000)])
def test_noise_is_told_right_as_often_as_by_chance(rows: int, words: int) -> None:
    chance = np.random.default_rng(3)
    found = []
    for _ in range(5):
        texts = [f"w{each}" for each in chance.integers(0, words, rows)]
        found.append(value(pa.table({"y": chance.integers(0, 4, rows), "x": texts}), ["y", "x"], "recall"))
    assert abs(np.mean(found) - 0.25) < 0.03


def test_it_falls_when_half_of_the_targets_are_mixed_up() -> None:
    table = addresses(20_000)
    labels = np.array(table["country"].to_pylist())
    chance = np.random.default_rng(2)
    mixed = np.where(chance.random(len(labels)) < 0.5, chance.permutation(labels), labels)
    found = value(table.set_column(0, "country", pa.array(mixed)), ["country", "city"])
    assert found < value(table, ["country", "city"]) - 0.3


# --- odd values


def test_a_row_without_a_target_is_left_out() -> None:
    table = addresses(300)
    more = pa.table({**{name: table[name].combine_chunks() for name in table.column_names}})
    absent = more.set_column(0, "country", pa.nulls(300, pa.string()))
    key = Predictability(["country", "city"])
    alone, together = analyze(table, [key]), analyze(pa.concat_tables([table, absent]), [key])
    assert together.states == alone.states


def test_a_null_input_gives_no_token() -> None:
    kept, gone = (pa.table({"y": ["a", "b"], "x": pa.array(each, pa.string())}) for each in (["u v", ""], [None, None]))
    key = Predictability(["y", "x"])
    states = [key.fold_views(views(each, ["y", "x"])) for each in (kept, gone)]
    assert [int(state.table().sum()) for state in states] == [3 + 1, 0]
    assert [state.label_rows.tolist() for state in states] == [[1, 1], [1, 1]]


def test_the_same_word_in_another_column_is_another_token() -> None:
    table = pa.table({"y": ["a"], "left": ["word"], "right": ["word"]})
    state = Predictability(["y", "left", "right"]).fold_views(views(table, ["y", "left", "right"]))
    assert len(set(state.sample().tokens.in_a_row().tolist())) == 4


def test_of_a_row_64_tokens_count() -> None:
    long = " ".join(f"w{at}" for at in range(500))
    table = pa.table({"y": ["a"], "left": [long], "right": [long]})
    assert Predictability(["y", "left"]).fold_views(views(table, ["y", "left"])).table().sum() == 64
    assert Predictability(["y", "left", "right"]).fold_views(views(table, ["y", "left", "right"])).table().sum() == 64


def folded(labels: range, copies: int = 10) -> LabelledTokens:
    table = pa.table({"y": list(labels) * copies, "x": [str(each) for each in labels] * copies})
    return Predictability(["y", "x"]).fold_views(views(table, ["y", "x"]))


def test_a_target_may_have_256_values_and_no_more() -> None:
    metric = Predictability(["y", "x"])
    assert metric.measure(folded(range(LABELS))) == Measured(1.0)
    assert metric.measure(folded(range(LABELS + 1))) == Undefined("the target has more than 256 distinct values")


def test_too_many_values_stay_too_many() -> None:
    one, two = folded(range(200)), folded(range(100, 300))
    assert one + two == LabelledTokens(crowded=True) == (one + two) + one == one + (one + two)
    assert not (one + folded(range(50, 250))).crowded


def test_rows_of_many_batches_are_counted_exactly_past_what_the_sample_holds() -> None:
    table = addresses(9_000, zips=90)
    columns = ["country", "city", "zip"]
    metric = Predictability(columns)
    parts = [metric.fold_views(views(table.slice(at, 700), columns)) for at in range(0, 9_000, 700)]
    merged = parts[0]
    for part in parts[1:]:
        merged = part + merged
    assert merged == LabelledTokens.merge_all(parts) == metric.fold_views(views(table, columns))
    rows = Rows(table, columns)
    assert len(rows.hashes) > SAMPLE
    assert merged.sample().copies.tolist() == rows.copies[:SAMPLE].tolist()
    assert rows.copies[:SAMPLE].max() > 1


@pytest.mark.parametrize(("labels", "why"), [([], "no values in scope"), ([None], "no values in scope")])
def test_without_targets_it_is_undefined(labels: list[Any], why: str) -> None:
    table = pa.table({"y": pa.array(labels, pa.string()), "x": pa.array(["a"] * len(labels), pa.string())})
    assert analyze(table, [Predictability(["y", "x"])])[Predictability(["y", "x"])] == Undefined(why)


def test_one_row_is_too_few() -> None:
    found = analyze(pa.table({"y": ["a"], "x": ["b"]}), [Predictability(["y", "x"])])[Predictability(["y", "x"])]
    assert found == Undefined("one row is too few to learn from the others")


def test_a_label_that_occurs_once_cannot_be_predicted() -> None:
    table = pa.table({"y": ["a", "b", "c"], "x": ["a", "b", "c"]})
    assert value(table, ["y", "x"]) == 0.0


# --- use


def test_the_scores_share_one_state() -> None:
    asked = [Predictability(["country", "city"], score=score) for score in SKLEARN]
    assert len(analyze(addresses(300), asked).states) == 1


def test_it_is_found_by_its_key() -> None:
    table, key = addresses(300), 'predictability(country, city, score="f1")'
    assert analyze(table, [key]).value(key) == value(table, ["country", "city"])


@pytest.mark.parametrize("columns", ["country", ["country"], [f"c{at}" for at in range(66)]])
def test_it_needs_a_target_and_inputs(columns: Any) -> None:
    with pytest.raises(MisuseError, match="Write the target first"):
        hg.Predictability(columns)


def test_an_unknown_score_is_misuse() -> None:
    with pytest.raises(MisuseError, match="Write f1, precision or recall"):
        hg.Predictability(["country", "city"], score="accuracy")
