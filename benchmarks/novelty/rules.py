"""The automated baselines of the paper's section 5.2: rules and tests, learned from the last, three or all batches."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.stats import chi2_contingency, ks_2samp

import headgate as hg
from benchmarks.novelty.vectors import kinds
from benchmarks.suggestions.paper import paper_suggestions
from headgate.checks.constraint import expectations
from headgate.checks.rule import Rule
from headgate.checks.rule_context import AnyRuleContext
from headgate.engine.analysis import Analysis
from headgate.learn.rules.profile import profile
from headgate.learn.rules.suggest import metrics_of
from headgate.metrics.base.arrow import to_plain
from headgate.values.expectation import Expectation, Status
from headgate.values.schema import NUMERIC, TEXT, Schema
from headgate.values.verdict import judge

SIGNIFICANCE = 0.05
DOMAIN = 100  # distinct values up to which TFDV's schema lists the domain of a text column
MODES = {"last": 1, "last 3": 3, "all": None}

Judge = Callable[[pa.Table], bool]
Learner = Callable[[pa.Table], Judge]


def joined(batches: Sequence[pa.Table], mode: str) -> pa.Table:
    """What a rule is learned from: the newest batches, one below the other."""
    count = MODES[mode]
    return pa.concat_tables(batches if count is None else batches[-count:], promote_options="permissive")


# --- constraints


def deequ_rules(history: pa.Table) -> Judge:
    """Every constraint that Deequ's rules suggest from the profile of the history (VLDB 2018, section 3.3)."""
    found = profile(history)
    drafts = [each.rule for column in found.values() for each in paper_suggestions(column, "")]
    return _broken(drafts, found.schema)


def suggested(history: pa.Table) -> Judge:
    """Every constraint that `hg.suggest` suggests."""
    return _broken([each.rule for each in hg.suggest(history)], profile(history).schema)


def _broken(rules: Sequence[Rule], schema: Schema) -> Judge:
    context = AnyRuleContext(schema)
    asked = [expectation for rule in rules for expectation in expectations(rule, context)]
    wanted = [hg.Size(), *metrics_of([asked])]

    def flags(batch: pa.Table) -> bool:
        return _any_fails(asked, hg.analyze(batch, wanted))

    return flags


def _any_fails(asked: Sequence[Expectation], found: Analysis) -> bool:
    return any(each.status is Status.FAIL for each in judge(asked, found.outcomes).judgements)


# --- a schema


def tfdv_schema(history: pa.Table) -> Judge:
    """A schema as TensorFlow Data Validation infers it: types, presence where nothing was missing, small domains."""
    types = kinds(history)
    required = [name for name in history.column_names if not history[name].null_count]
    texts = {name: pc.unique(to_plain(history[name]).drop_null()) for name, kind in types.items() if kind in TEXT}
    domains = {name: values for name, values in texts.items() if 0 < len(values) <= DOMAIN}

    def flags(batch: pa.Table) -> bool:
        if kinds(batch) != types or any(batch[name].null_count for name in required):
            return True
        return any(_unknown(batch[name], values) for name, values in domains.items())

    return flags


def _unknown(column: pa.ChunkedArray, domain: pa.Array) -> bool:
    return not pc.all(pc.is_in(to_plain(column).drop_null(), domain), min_count=0).as_py()


# --- tests


def statistical_tests(history: pa.Table) -> Judge:
    """Kolmogorov-Smirnov for numbers, chi-squared for the shares of texts; 0.05 over the number of columns."""
    tested = [name for name, kind in kinds(history).items() if kind in NUMERIC | TEXT]

    def flags(batch: pa.Table) -> bool:
        return min(p_value(history[name], batch[name]) for name in tested) < SIGNIFICANCE / len(tested)

    return flags


def p_value(before: pa.ChunkedArray, now: pa.ChunkedArray) -> float:
    """How likely two columns of one kind are to differ so much by chance; 1 where one has no values."""
    one, two = to_plain(before).drop_null(), to_plain(now).drop_null()
    if not len(one) or not len(two):
        return 1.0
    if not pa.types.is_string(one.type):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # many ties: SciPy falls back to the asymptotic value
            return float(ks_2samp(one.cast(pa.float64()).to_numpy(), two.cast(pa.float64()).to_numpy()).pvalue)
    values, codes = np.unique(np.array(one.to_pylist() + two.to_pylist(), str), return_inverse=True)
    if len(values) < 2:
        return 1.0
    counts = [np.bincount(part, minlength=len(values)) for part in (codes[: len(one)], codes[len(one) :])]
    return float(chi2_contingency(np.array(counts)).pvalue)


LEARNERS: dict[str, Learner] = {
    "Deequ's rules": deequ_rules,
    "hg.suggest": suggested,
    "TFDV's schema": tfdv_schema,
    "statistical tests": statistical_tests,
}
