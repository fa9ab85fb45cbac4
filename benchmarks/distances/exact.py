"""The same distances from all values of two batches, by scipy and numpy."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy.spatial import distance as vectors
from scipy.stats import entropy, ks_2samp, wasserstein_distance

from headgate.metrics.base.batch import ColumnBatch
from headgate.values.schema import Kind

Floats: TypeAlias = npt.NDArray[np.float64]

BINS = 10
SMOOTHING = 0.5


def of_numbers(now: Floats, before: Floats, sketched_ends: Floats) -> dict[str, float]:
    """Every distance of numbers; those in bins also in the bins that the sketch of the earlier batch made."""
    ends = _deciles(before)
    found = {
        "emd": float(wasserstein_distance(now, before)),
        "ks_dist": float(ks_2samp(now, before, method="asymp").statistic) if min(len(now), len(before)) > 2 else np.nan,
        "cohen_d": _cohens_d(now, before),
    }
    for suffix, bins in (("", ends), (" in the same bins", sketched_ends)):
        counts = [np.bincount(np.searchsorted(bins, each), minlength=len(bins) + 1) for each in (now, before)]
        found[f"js_div{suffix}"] = _js_div(*counts)
        found[f"kl_div{suffix}"] = _kl_div(*counts)
    return found


def of_labels(now: dict[Any, int], before: dict[Any, int]) -> dict[str, float]:
    """Every distance of labels; the label "other", which nothing falls under, is smoothed too."""
    labels = list(now | before)
    counts = [np.array([each.get(label, 0) for label in labels], np.float64) for each in (now, before)]
    p, q = (each / each.sum() for each in counts)
    return {
        "l1": float(vectors.cityblock(p, q)),
        "l_inf": float(vectors.chebyshev(p, q)),
        "cosine": float(vectors.cosine(p, q)),
        "chi_squared": float(((p - q) ** 2 / (p + q)).sum()),
        "js_div": _js_div(*counts),
        "kl_div": _kl_div(*(np.append(each, 0.0) for each in counts)),
    }


def values_of(column: pa.Array) -> dict[Any, int]:
    counted = pc.value_counts(column.drop_null())
    return dict(zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True))


def patterns_of(column: pa.Array) -> dict[Any, int]:
    symbols, counts = ColumnBatch(column, Kind.STRING).patterns
    return dict(zip(symbols.to_pylist(), counts.tolist(), strict=True))


def _deciles(values: Floats) -> Floats:
    inner = np.quantile(values, np.arange(1, BINS) / BINS, method="inverted_cdf")
    return np.unique([np.nextafter(values.min(), -np.inf), *inner, values.max()])


def _cohens_d(now: Floats, before: Floats) -> float:
    apart = abs(now.mean() - before.mean())
    freedom = len(now) + len(before) - 2
    pooled = (now.var() * len(now) + before.var() * len(before)) / freedom if freedom else 0.0
    return float(apart / np.sqrt(pooled)) if pooled else float("inf") if apart else 0.0


def _js_div(one: Floats, two: Floats) -> float:
    return float(vectors.jensenshannon(one, two, 2) ** 2)


def _kl_div(one: Floats, two: Floats) -> float:
    return float(entropy(one + SMOOTHING, two + SMOOTHING, base=2))
