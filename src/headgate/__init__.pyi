# The public names with their types. Written by `make docs` from `__init__.py`; do not edit.

from headgate.analyzers.approx_count_distinct import ApproxCountDistinct as ApproxCountDistinct
from headgate.analyzers.approx_quantile import ApproxQuantile as ApproxQuantile
from headgate.analyzers.char_len import CharLen as CharLen
from headgate.analyzers.column_count import ColumnCount as ColumnCount
from headgate.analyzers.column_type import ColumnType as ColumnType
from headgate.analyzers.completeness import Completeness as Completeness
from headgate.analyzers.compliance import Compliance as Compliance
from headgate.analyzers.containment import Containment as Containment
from headgate.analyzers.correlation import Correlation as Correlation
from headgate.analyzers.count_distinct import CountDistinct as CountDistinct
from headgate.analyzers.data_type import DataType as DataType
from headgate.analyzers.digit_len import DigitLen as DigitLen
from headgate.analyzers.dist_val_count import DistValCount as DistValCount
from headgate.analyzers.distinctness import Distinctness as Distinctness
from headgate.analyzers.entropy import Entropy as Entropy
from headgate.analyzers.finiteness import Finiteness as Finiteness
from headgate.analyzers.has_column import HasColumn as HasColumn
from headgate.analyzers.histogram import Histogram as Histogram
from headgate.analyzers.index_of_peculiarity import IndexOfPeculiarity as IndexOfPeculiarity
from headgate.analyzers.kurtosis import Kurtosis as Kurtosis
from headgate.analyzers.max import Max as Max
from headgate.analyzers.max_length import MaxLength as MaxLength
from headgate.analyzers.mean import Mean as Mean
from headgate.analyzers.median import Median as Median
from headgate.analyzers.min import Min as Min
from headgate.analyzers.min_length import MinLength as MinLength
from headgate.analyzers.most_frequent_ratio import MostFrequentRatio as MostFrequentRatio
from headgate.analyzers.mutual_information import MutualInformation as MutualInformation
from headgate.analyzers.pattern_distribution import PatternDistribution as PatternDistribution
from headgate.analyzers.pattern_match import PatternMatch as PatternMatch
from headgate.analyzers.predictability import Predictability as Predictability
from headgate.analyzers.punc_len import PuncLen as PuncLen
from headgate.analyzers.range import Range as Range
from headgate.analyzers.ratio_of_sums import RatioOfSums as RatioOfSums
from headgate.analyzers.size import Size as Size
from headgate.analyzers.skewness import Skewness as Skewness
from headgate.analyzers.stddev import StdDev as StdDev
from headgate.analyzers.str_len import StrLen as StrLen
from headgate.analyzers.sum import Sum as Sum
from headgate.analyzers.text_max import TextMax as TextMax
from headgate.analyzers.text_mean import TextMean as TextMean
from headgate.analyzers.text_min import TextMin as TextMin
from headgate.analyzers.type_consistency import TypeConsistency as TypeConsistency
from headgate.analyzers.type_ratio import TypeRatio as TypeRatio
from headgate.analyzers.unique_ratio import UniqueRatio as UniqueRatio
from headgate.analyzers.unique_value_ratio import UniqueValueRatio as UniqueValueRatio
from headgate.analyzers.uniqueness import Uniqueness as Uniqueness
from headgate.analyzers.value_distribution import ValueDistribution as ValueDistribution
from headgate.analyzers.value_sample import ValueSample as ValueSample
from headgate.analyzers.variance import Variance as Variance
from headgate.checks.check import Check as Check
from headgate.engine.analysis import Analysis as Analysis
from headgate.engine.analyze import analyze as analyze
from headgate.engine.parts import Parts as Parts
from headgate.engine.progress import Progress as Progress
from headgate.gate.batch_verdict import BatchVerdict as BatchVerdict
from headgate.gate.folders import Folders as Folders
from headgate.gate.gate import Gate as Gate
from headgate.gate.verification import Verification as Verification
from headgate.gate.verify import verify as verify
from headgate.inject.inject import inject_issue as inject_issue
from headgate.inject.issue import issues as issues
from headgate.learn.anomaly.absolute_change import AbsoluteChange as AbsoluteChange
from headgate.learn.anomaly.batch_normal import BatchNormal as BatchNormal
from headgate.learn.anomaly.holt_winters import HoltWinters as HoltWinters
from headgate.learn.anomaly.online_normal import OnlineNormal as OnlineNormal
from headgate.learn.anomaly.relative_change import RelativeChange as RelativeChange
from headgate.learn.anomaly.threshold import Threshold as Threshold
from headgate.learn.history.learn import learn_program as learn_program
from headgate.learn.history.program import Program as Program
from headgate.learn.novelty.model import Novelty as Novelty
from headgate.learn.past import Past as Past
from headgate.learn.patterns.build import build_index as build_index
from headgate.learn.patterns.carriers import carriers as carriers
from headgate.learn.patterns.index import PatternIndex as PatternIndex
from headgate.learn.patterns.propose import propose_pattern as propose_pattern
from headgate.learn.rules.profile import Profile as Profile
from headgate.learn.rules.profile import profile as profile
from headgate.learn.rules.suggest import suggest as suggest
from headgate.learn.rules.suggestions import Suggestions as Suggestions
from headgate.project.project import Project as Project
from headgate.report.html import Report as Report
from headgate.store.open import open_store as open_store
from headgate.store.port import HistoryStore as HistoryStore
from headgate.values.errors import HeadgateError as HeadgateError
from headgate.values.expectation import Status as Status
from headgate.values.key import MetricKey as MetricKey
from headgate.values.outcome import Distribution as Distribution
from headgate.values.outcome import Failed as Failed
from headgate.values.outcome import Measured as Measured
from headgate.values.outcome import Undefined as Undefined
from headgate.values.predicate import Between as Between
from headgate.values.predicate import OneOf as OneOf
from headgate.values.run import Decision as Decision
from headgate.values.run import Run as Run
from headgate.values.version import __version__ as __version__

__all__ = [
    "AbsoluteChange",
    "Analysis",
    "ApproxCountDistinct",
    "ApproxQuantile",
    "BatchNormal",
    "BatchVerdict",
    "Between",
    "CharLen",
    "Check",
    "ColumnCount",
    "ColumnType",
    "Completeness",
    "Compliance",
    "Containment",
    "Correlation",
    "CountDistinct",
    "DataType",
    "Decision",
    "DigitLen",
    "DistValCount",
    "Distinctness",
    "Distribution",
    "Entropy",
    "Failed",
    "Finiteness",
    "Folders",
    "Gate",
    "HasColumn",
    "HeadgateError",
    "Histogram",
    "HistoryStore",
    "HoltWinters",
    "IndexOfPeculiarity",
    "Kurtosis",
    "Max",
    "MaxLength",
    "Mean",
    "Measured",
    "Median",
    "MetricKey",
    "Min",
    "MinLength",
    "MostFrequentRatio",
    "MutualInformation",
    "Novelty",
    "OneOf",
    "OnlineNormal",
    "Parts",
    "Past",
    "PatternDistribution",
    "PatternIndex",
    "PatternMatch",
    "Predictability",
    "Profile",
    "Program",
    "Progress",
    "Project",
    "PuncLen",
    "Range",
    "RatioOfSums",
    "RelativeChange",
    "Report",
    "Run",
    "Size",
    "Skewness",
    "Status",
    "StdDev",
    "StrLen",
    "Suggestions",
    "Sum",
    "TextMax",
    "TextMean",
    "TextMin",
    "Threshold",
    "TypeConsistency",
    "TypeRatio",
    "Undefined",
    "UniqueRatio",
    "UniqueValueRatio",
    "Uniqueness",
    "ValueDistribution",
    "ValueSample",
    "Variance",
    "Verification",
    "analyze",
    "build_index",
    "carriers",
    "inject_issue",
    "issues",
    "learn_program",
    "open_store",
    "profile",
    "propose_pattern",
    "suggest",
    "verify",
]
