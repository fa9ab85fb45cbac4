"""All methods, in the order of tables."""

from __future__ import annotations

from benchmarks.history.baselines.chi_squared import ChiSquared
from benchmarks.history.baselines.deequ_rules import DeequRules
from benchmarks.history.baselines.deviation import Deviation
from benchmarks.history.baselines.isolation import Isolation
from benchmarks.history.baselines.kolmogorov import Kolmogorov
from benchmarks.history.baselines.local_outlier import LocalOutlier
from benchmarks.history.baselines.method import Method
from benchmarks.history.baselines.neighbours import Neighbours
from benchmarks.history.baselines.normal import Normal
from benchmarks.history.baselines.one_class import OneClass
from benchmarks.history.baselines.tfdv_rules import TfdvRules

METHODS: tuple[Method, ...] = (
    Deviation(),
    Normal(),
    Kolmogorov(),
    ChiSquared(),
    LocalOutlier(),
    Isolation(),
    OneClass(),
    Neighbours(),
    DeequRules(),
    TfdvRules(),
)
