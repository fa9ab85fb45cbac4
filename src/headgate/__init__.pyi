# The public names with their types. Written by `make docs` from `__init__.py`; do not edit.

from headgate.checks.check import Check as Check
from headgate.engine.analysis import Analysis as Analysis
from headgate.engine.analyze import analyze as analyze
from headgate.engine.cost_estimate import CostEstimate as CostEstimate
from headgate.engine.explain_cost import explain_cost as explain_cost
from headgate.engine.parts import Parts as Parts
from headgate.engine.progress import Progress as Progress
from headgate.evaluate.verification import Verification as Verification
from headgate.evaluate.verify import verify as verify
from headgate.gate.batch_verdict import BatchVerdict as BatchVerdict
from headgate.gate.calibration import calibrate as calibrate
from headgate.gate.gate import Gate as Gate
from headgate.gate.publish.folders import Folders as Folders
from headgate.gate.repair_trial import RepairTrial as RepairTrial
from headgate.inject.inject import inject_issue as inject_issue
from headgate.inject.issue import issues as issues
from headgate.integrations.delta import Delta as Delta
from headgate.integrations.iceberg import Iceberg as Iceberg
from headgate.integrations.pipelines.learned_expectation import expect_learned as expect_learned
from headgate.integrations.pipelines.learned_expectation import expect_learned_or_fail as expect_learned_or_fail
from headgate.integrations.pipelines.row_expectations import RowExpectations as RowExpectations
from headgate.integrations.pipelines.row_expectations import expect as expect
from headgate.integrations.pipelines.row_expectations import expect_or_drop as expect_or_drop
from headgate.integrations.pipelines.row_expectations import expect_or_fail as expect_or_fail
from headgate.integrations.results import ResultTables as ResultTables
from headgate.integrations.streaming.stream_gate import StreamGate as StreamGate
from headgate.integrations.table_store import open_table_store as open_table_store
from headgate.learn.anomaly.absolute_change import AbsoluteChange as AbsoluteChange
from headgate.learn.anomaly.batch_normal import BatchNormal as BatchNormal
from headgate.learn.anomaly.holt_winters import HoltWinters as HoltWinters
from headgate.learn.anomaly.online_normal import OnlineNormal as OnlineNormal
from headgate.learn.anomaly.relative_change import RelativeChange as RelativeChange
from headgate.learn.anomaly.threshold import Threshold as Threshold
from headgate.learn.evidence import Evidence as Evidence
from headgate.learn.history.learn import learn_program as learn_program
from headgate.learn.history.program import Program as Program
from headgate.learn.novelty.model import Novelty as Novelty
from headgate.learn.past import Past as Past
from headgate.learn.patterns.build import build_index as build_index
from headgate.learn.patterns.find_columns import find_columns as find_columns
from headgate.learn.patterns.index import PatternIndex as PatternIndex
from headgate.learn.patterns.propose import propose_pattern as propose_pattern
from headgate.learn.rules.profile import Profile as Profile
from headgate.learn.rules.profile import profile as profile
from headgate.learn.rules.suggest import suggest as suggest
from headgate.learn.rules.suggestions import Suggestions as Suggestions
from headgate.metrics.approx_count_distinct import ApproxCountDistinct as ApproxCountDistinct
from headgate.metrics.approx_quantile import ApproxQuantile as ApproxQuantile
from headgate.metrics.char_len import CharLen as CharLen
from headgate.metrics.checksum import Checksum as Checksum
from headgate.metrics.column_count import ColumnCount as ColumnCount
from headgate.metrics.column_type import ColumnType as ColumnType
from headgate.metrics.completeness import Completeness as Completeness
from headgate.metrics.compliance import Compliance as Compliance
from headgate.metrics.containment import Containment as Containment
from headgate.metrics.correlation import Correlation as Correlation
from headgate.metrics.count_distinct import CountDistinct as CountDistinct
from headgate.metrics.data_type import DataType as DataType
from headgate.metrics.digit_len import DigitLen as DigitLen
from headgate.metrics.dist_val_count import DistValCount as DistValCount
from headgate.metrics.distinctness import Distinctness as Distinctness
from headgate.metrics.entropy import Entropy as Entropy
from headgate.metrics.finiteness import Finiteness as Finiteness
from headgate.metrics.has_column import HasColumn as HasColumn
from headgate.metrics.histogram import Histogram as Histogram
from headgate.metrics.index_of_peculiarity import IndexOfPeculiarity as IndexOfPeculiarity
from headgate.metrics.kurtosis import Kurtosis as Kurtosis
from headgate.metrics.max import Max as Max
from headgate.metrics.max_length import MaxLength as MaxLength
from headgate.metrics.mean import Mean as Mean
from headgate.metrics.median import Median as Median
from headgate.metrics.min import Min as Min
from headgate.metrics.min_length import MinLength as MinLength
from headgate.metrics.most_frequent_ratio import MostFrequentRatio as MostFrequentRatio
from headgate.metrics.mutual_information import MutualInformation as MutualInformation
from headgate.metrics.pattern_distribution import PatternDistribution as PatternDistribution
from headgate.metrics.pattern_match import PatternMatch as PatternMatch
from headgate.metrics.predictability import Predictability as Predictability
from headgate.metrics.punc_len import PuncLen as PuncLen
from headgate.metrics.range import Range as Range
from headgate.metrics.ratio_of_sums import RatioOfSums as RatioOfSums
from headgate.metrics.size import Size as Size
from headgate.metrics.skewness import Skewness as Skewness
from headgate.metrics.stddev import StdDev as StdDev
from headgate.metrics.str_len import StrLen as StrLen
from headgate.metrics.sum import Sum as Sum
from headgate.metrics.text_max import TextMax as TextMax
from headgate.metrics.text_mean import TextMean as TextMean
from headgate.metrics.text_min import TextMin as TextMin
from headgate.metrics.type_consistency import TypeConsistency as TypeConsistency
from headgate.metrics.type_ratio import TypeRatio as TypeRatio
from headgate.metrics.unique_ratio import UniqueRatio as UniqueRatio
from headgate.metrics.unique_value_ratio import UniqueValueRatio as UniqueValueRatio
from headgate.metrics.uniqueness import Uniqueness as Uniqueness
from headgate.metrics.value_distribution import ValueDistribution as ValueDistribution
from headgate.metrics.value_sample import ValueSample as ValueSample
from headgate.metrics.variance import Variance as Variance
from headgate.project.project import Project as Project
from headgate.report.html import Report as Report
from headgate.store.open import open_store as open_store
from headgate.store.port import HistoryStore as HistoryStore
from headgate.values.diagnosis import Diagnosis as Diagnosis
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
    "Checksum",
    "ColumnCount",
    "ColumnType",
    "Completeness",
    "Compliance",
    "Containment",
    "Correlation",
    "CostEstimate",
    "CountDistinct",
    "DataType",
    "Decision",
    "Delta",
    "Diagnosis",
    "DigitLen",
    "DistValCount",
    "Distinctness",
    "Distribution",
    "Entropy",
    "Evidence",
    "Failed",
    "Finiteness",
    "Folders",
    "Gate",
    "HasColumn",
    "HeadgateError",
    "Histogram",
    "HistoryStore",
    "HoltWinters",
    "Iceberg",
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
    "RepairTrial",
    "Report",
    "ResultTables",
    "RowExpectations",
    "Run",
    "Size",
    "Skewness",
    "Status",
    "StdDev",
    "StrLen",
    "StreamGate",
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
    "calibrate",
    "expect",
    "expect_learned",
    "expect_learned_or_fail",
    "expect_or_drop",
    "expect_or_fail",
    "explain_cost",
    "find_columns",
    "inject_issue",
    "issues",
    "learn_program",
    "open_store",
    "open_table_store",
    "profile",
    "propose_pattern",
    "suggest",
    "verify",
]
