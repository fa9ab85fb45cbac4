"""How well a column can be told from others."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.hashing import combine
from headgate.metrics.base.metric import NO_VALUES, GroupMetric
from headgate.metrics.base.registry import metric
from headgate.metrics.base.tokens import BUCKETS, side_by_side, tokens_of
from headgate.metrics.states.labelled_tokens import LABELS, Integers, LabelledRows, LabelledTokens
from headgate.values.errors import MisuseError
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.schema import HASHABLE

SCORES = ("f1", "precision", "recall")
TOKENS = 64  # of a row

Floats: TypeAlias = npt.NDArray[np.float64]

_DIGITS = 9  # of a logarithm: classes that differ by less are equally likely, and the first of them is taken


class Trial(NamedTuple):
    """Rows that were predicted: the place of the true label of each, of the predicted one, and how much it counts."""

    true: Integers
    predicted: Integers
    weights: Integers


@metric
class Predictability(GroupMetric[LabelledTokens], frozen=True):
    """The weighted F1 of a naive Bayes model that predicts the first column from the others (Deequ 2018, section 3.1).

    argmax over k of sum_i f_i log((N_ki + 1) / (N_k + 4096)), where N_ki counts token i in rows of label k and all
    labels are equally likely before (section 3.2). Tokens are the inputs' whole values and their words, lower case, by
    4,096 hashes; of a row 64 at most, each input having an equal share. Numbers and dates count as text.

    A row is predicted by the model of all other rows: its own tokens are taken from the counts. So the model learns
    from every row, and is tried on what it has not learnt from. Of more than 1,024 different rows those 1,024 of the
    least hashes are tried, each for all of its copies: a share has then a standard error of 1.6% if rows do not repeat.
    `score`: f1, precision or recall, the mean over labels weighted by their rows; recall is accuracy.

    A row whose target is null is left out; a null input gives no token. Undefined where the target has more than 256
    different values, or where there is only one row.
    """

    score: str = "f1"
    name: ClassVar = "predictability"
    share: ClassVar = True
    state: ClassVar = LabelledTokens
    accepts: ClassVar = HASHABLE
    least: ClassVar = 2  # columns

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.least <= len(self.inputs) <= 1 + TOKENS:
            raise MisuseError(
                f"predictability needs a target and 1 to {TOKENS} inputs, not {list(self.inputs)}.",
                hint='Write the target first: Predictability(["country", "city", "zip"]).',
            )
        if self.score not in SCORES:
            raise MisuseError(f"{self.score!r} is no score of a prediction.", hint="Write f1, precision or recall.")

    def fold(self, *columns: ColumnBatch) -> LabelledTokens:
        labelled = np.flatnonzero(columns[0].valid)
        labels, _ = (columned := [column.hashes for column in columns])[0]
        every, _ = combine(columned)
        hashes, firsts, copies = np.unique(every[labelled], return_index=True, return_counts=True)
        rows = labelled[firsts]
        if len(np.unique(labels[rows])) > LABELS:
            return LabelledTokens(crowded=True)
        most = TOKENS // (len(columns) - 1)
        tokens = [tokens_of(column, rows, place, most) for place, column in enumerate(columns[1:])]
        return LabelledTokens.of(LabelledRows(hashes, copies, labels[rows], side_by_side(tokens)))

    def measure(self, state: LabelledTokens) -> Outcome:
        if state.crowded:
            return Undefined(f"the target has more than {LABELS} distinct values")
        if not state.labels:
            return Undefined(NO_VALUES)
        if state.label_rows.sum() == 1:
            return Undefined("one row is too few to learn from the others")
        return Measured(_compute_score(_predict_sample(state), self.score))


def _predict_sample(state: LabelledTokens) -> Trial:
    rows, table = state.sample(), state.table()
    true = np.searchsorted(state.label_hashes, rows.labels)
    likely = _likelihoods(table, rows)
    likely[true, np.arange(len(true))] = _without_itself(table, rows, true)
    # a label that no other row has is not known without it
    likely[true[state.label_rows[true] == 1], np.flatnonzero(state.label_rows[true] == 1)] = -np.inf
    predicted = np.argmax(np.round(likely, _DIGITS), axis=0)
    return Trial(true, predicted, rows.copies)


def _likelihoods(table: Integers, rows: LabelledRows) -> Floats:
    """The logarithm of how likely each label (down) makes the tokens of each row (across)."""
    tokens, owners = rows.tokens.in_a_row(), rows.tokens.owners()
    sums = [np.bincount(owners, each[tokens], minlength=len(rows.hashes)) for each in np.log(table + 1.0)]
    return np.asarray(np.stack(sums) - np.outer(np.log(table.sum(axis=1) + BUCKETS), rows.tokens.sizes), np.float64)


def _without_itself(table: Integers, rows: LabelledRows, true: Integers) -> Floats:
    """The same of each row's own label, if there were one copy less of the row."""
    tokens, owners = rows.tokens.in_a_row(), rows.tokens.owners()
    _, pairs, repeats = np.unique(owners * BUCKETS + tokens, return_inverse=True, return_counts=True)
    others = table[true[owners], tokens] - repeats[pairs]
    sums = np.bincount(owners, np.log(others + 1.0), minlength=len(rows.hashes))
    sizes = rows.tokens.sizes
    return np.asarray(sums - sizes * np.log(table.sum(axis=1)[true] - sizes + BUCKETS), np.float64)


def _compute_score(trial: Trial, score: str) -> float:
    most = int(max(trial.true.max(), trial.predicted.max())) + 1
    hit = trial.true == trial.predicted
    right = np.bincount(trial.true[hit], trial.weights[hit], minlength=most)
    actual = np.bincount(trial.true, trial.weights, minlength=most)
    claimed = np.bincount(trial.predicted, trial.weights, minlength=most)
    whole = {"f1": (actual + claimed) / 2, "precision": claimed, "recall": actual}[score]
    shares = np.divide(right, whole, out=np.zeros(most), where=whole > 0)
    return float(shares @ actual / actual.sum())
