"""Fitting the classifier, and judging it on projects that it has not seen."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, vstack
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from headgate.learn.rules.key_names import hash_features, split_words
from training.key_names.rows import Row, project_folds

SEED = 20180801
FOLDS = 5
INNER_FOLDS = 4


class Choice(NamedTuple):
    """One setting: the longest n-gram, the bits of a bucket, the strength (1/C) and the mixture of the penalty."""

    ngram: int
    bits: int
    c: float
    l1_ratio: float


CHOICES = (
    Choice(3, 14, 0.3, 1.0),
    Choice(3, 14, 1.0, 1.0),
    Choice(5, 16, 0.3, 1.0),
    Choice(3, 14, 0.3, 0.3),
)

Split = tuple[np.ndarray, np.ndarray]


class Data:
    """All rows, and their features with and without the table's name."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self.unique = np.array([row.is_unique for row in rows])
        self.projects = np.array([row.project for row in rows])
        self.is_id = np.array([split_words(row.column) == ["id"] for row in rows])
        self.features = cache(self._features)

    def _features(self, ngram: int, bits: int, table: bool) -> csr_matrix:
        found = [
            sorted(hash_features(r.column, r.kind, r.table if table else "", ngram=ngram, bits=bits)) for r in self.rows
        ]
        ends = np.cumsum([0, *map(len, found)])
        places = np.concatenate(found)
        return csr_matrix((np.ones(len(places)), places, ends), shape=(len(found), 1 << bits))


def fit(data: Data, choice: Choice, at: np.ndarray) -> LogisticRegression:
    """Every column twice, with its table's name and without, each of half weight: one model serves both questions.

    No class weights: they would raise every probability, and 0.5 would no longer mean one in two.
    """
    both = vstack([data.features(choice.ngram, choice.bits, table)[at] for table in (True, False)])
    solver = "liblinear" if choice.l1_ratio == 1.0 else "saga"
    model = LogisticRegression(
        C=choice.c,
        l1_ratio=choice.l1_ratio,
        solver=solver,
        max_iter=60 if solver == "saga" else 500,
        tol=1e-3,
        random_state=SEED,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # saga's last digits; the figures are what is judged
        return model.fit(both, np.tile(data.unique[at], 2), np.full(2 * len(at), 0.5))


def predict(data: Data, choice: Choice, model: LogisticRegression, at: np.ndarray, table: bool) -> np.ndarray:
    return model.predict_proba(data.features(choice.ngram, choice.bits, table)[at])[:, 1]


def by_project(data: Data, at: np.ndarray, folds: int) -> list[Split]:
    """Folds in which no project is on both sides."""
    parts = project_folds(data.projects[at].tolist(), folds, SEED)
    inside = [np.isin(data.projects[at], sorted(part)) for part in parts]
    return [(at[~here], at[here]) for here in inside]


def by_column(data: Data) -> list[Split]:
    """Folds over columns, as the paper has them: a project's habits are learnt on one side and met on the other."""
    cut = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    return list(cut.split(data.unique, data.unique))


def best(data: Data, at: np.ndarray) -> tuple[Choice, dict[Choice, float]]:
    """The choice with the best mean of the two areas, with and without the table, over folds by project."""
    scores = {}
    folds = by_project(data, at, INNER_FOLDS)
    for choice in CHOICES:
        held = held_out(data, folds, lambda _, choice=choice: choice)
        scores[choice] = float(np.mean([roc_auc_score(data.unique[at], each[at]) for each in held]))
    return max(CHOICES, key=lambda choice: scores[choice]), scores


def held_out(
    data: Data, folds: Iterable[Split], choose: Callable[[np.ndarray], Choice]
) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of held-out columns, with the table's name and without; `choose` sees only the training side."""
    found = np.full((2, len(data.rows)), np.nan)
    for train, test in folds:
        choice = choose(train)
        model = fit(data, choice, train)
        for way, table in enumerate((True, False)):
            found[way, test] = predict(data, choice, model, test, table)
    return found[0], found[1]


def judged(data: Data, held: np.ndarray) -> dict[str, Any]:
    """Area under the ROC curve; precision and recall of "unique" at 0.5; and predicted against seen shares."""
    said, unique, rest = held > 0.5, data.unique, ~data.is_id
    edges = (0.0, 0.05, 0.2, 0.5, 0.8, 1.0000001)
    bins = [(held >= low) & (held < high) for low, high in pairwise(edges)]
    return {
        "auc": _round(roc_auc_score(unique, held)),
        "auc_not_named_id": _round(roc_auc_score(unique[rest], held[rest])),
        "precision": _round(unique[said].mean()),
        "recall": _round(said[unique].mean()),
        "precision_not_named_id": _round(unique[said & rest].mean()),
        "recall_not_named_id": _round(said[unique & rest].mean()),
        "calibration": [
            {"columns": int(each.sum()), "predicted": _round(held[each].mean()), "seen": _round(unique[each].mean())}
            for each in bins
        ],
    }


def thresholds(data: Data, held: np.ndarray) -> list[dict[str, float]]:
    """What a refusal below a threshold costs: keys that are let through, and other columns that are stopped."""
    keys, others = data.unique & ~data.is_id, ~data.unique
    return [
        {
            "threshold": each,
            "keys_kept": _round((held[data.unique] >= each).mean()),
            "keys_kept_not_named_id": _round((held[keys] >= each).mean()),
            "others_refused": _round((held[others] < each).mean()),
        }
        for each in (0.02, 0.05, 0.1, 0.2, 0.5)
    ]


def fold_areas(data: Data, folds: Iterable[Split], held: np.ndarray) -> list[float]:
    return [_round(roc_auc_score(data.unique[test], held[test])) for _, test in folds]


def by_each_project(data: Data, held: np.ndarray) -> dict[str, float]:
    """The area for every project that has columns of both classes."""
    areas = {}
    for project in sorted(set(data.projects)):
        at = data.projects == project
        if 0 < data.unique[at].sum() < at.sum():
            areas[project] = _round(roc_auc_score(data.unique[at], held[at]))
    return areas


def _round(number: float) -> float:
    return round(float(number), 4)
