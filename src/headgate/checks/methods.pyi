"""The methods of a check. Written by `make docs` from the constraints; do not edit."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Protocol, Self, TypedDict, Unpack

from headgate.checks.thresholds import Number
from headgate.metrics.base.sql import Value
from headgate.values.key import MetricKey
from headgate.values.predicate import Predicate

class Keyed(Protocol):
    @property
    def key(self) -> MetricKey: ...

class Scope(TypedDict, total=False):
    where: str | None
    by: str | Sequence[str]
    level: str

class Expected(Scope, total=False):
    between: tuple[Number, Number] | list[Number]
    at_least: Number
    at_most: Number
    equals: Number
    one_of: Sequence[Number]
    warn: Predicate | Mapping[str, Any] | Callable[[Any], object]
    error: Predicate | Mapping[str, Any] | Callable[[Any], object]

class ExpectedOfMany(Expected, total=False):
    holds: Callable[[Any], object]

class Methods:
    def are_any_complete(self, *columns: str, **modifiers: Unpack[ExpectedOfMany]) -> Self:
        """The share of rows that have a value in at least one of the columns."""

    def are_complete(self, *columns: str, **modifiers: Unpack[ExpectedOfMany]) -> Self:
        """The share of rows that have a value in all of the columns."""

    def has_approx_count_distinct(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """An estimate of |{v}| by HyperLogLog (Deequ 2018, Table 2): relative standard error 1.6%, exact to 384 values."""

    def has_approx_quantile(
        self, column: str, q: float = 0.5, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """The least v with rank(v) >= q |{v}|, exact for up to 1,024 different numbers (Deequ 2018, Table 2)."""

    def has_char_len(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """|letters| / |values| (AVH, Table 2), letters of any script (Unicode category L)."""

    def has_checksum(self, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]) -> Self:
        """(sum over rows of hash(row)) mod 2^53: equal for equal rows in any order, and practically only for those."""

    def has_column(
        self, column: str, type: str = "", holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """There is such a column; with a type, it has that type: a kind (integer, string, ...) or the engine's own word."""

    def has_column_count(self, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]) -> Self:
        """|columns| (Deequ's ColumnCount). Of a batch without rows too."""

    def has_column_type(
        self, column: str, type: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """1 if the batch has the column and it has this type, else 0. Undefined for a column that holds only nulls."""

    def has_completeness(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """|{v : v is present}| / |rows| (Deequ 2018, Table 2; AVH's complete_ratio). NaN is present; "" is present."""

    def has_compliance(
        self, predicate: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """|{row : predicate(row)}| / |rows| (Deequ 2018, Table 2). A predicate that is null for a row is not met by it."""

    def has_consistent_type(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """The largest share of texts that look like one type."""

    def has_containment(self, *columns: str, table: str, of: str = "", **modifiers: Unpack[ExpectedOfMany]) -> Self:
        """|{row : its values stand together in a row of the other table}| / |{row : one of its values is present}|."""

    def has_correlation(
        self, left: str, right: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """cov(x, y) / (sd(x) sd(y)) over rows where both are finite (Deequ 2018, Table 2); undefined if one is constant."""

    def has_count_distinct(self, *columns: str, **modifiers: Unpack[ExpectedOfMany]) -> Self:
        """|{v}| (Deequ 2018, Table 2), exact, over one column or several together; `approx_count_distinct` costs less."""

    def has_credit_card_number(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """The share of values with the digits of a payment card of the large issuers; the check digit is not computed."""

    def has_data_type(
        self, column: str, type: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """The share of texts that look like a type: integral, fractional, boolean, date, timestamp or string."""

    def has_digit_len(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """|digits| / |values| (AVH, Table 2), decimal digits of any script (Unicode category Nd)."""

    def has_dist_val_count(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """|{v}| (AVH, Table 2): exact up to 384 values, beyond them the estimate of `approx_count_distinct`, rounded."""

    def has_distinctness(self, *columns: str, **modifiers: Unpack[ExpectedOfMany]) -> Self:
        """|{v}| / |rows| (Deequ 2018, section 3.2), exact, over one column or several together."""

    def has_email(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """The share of values that are e-mail addresses."""

    def has_entropy(self, *columns: str, **modifiers: Unpack[ExpectedOfMany]) -> Self:
        """-sum of p(v) ln p(v), in nats (Deequ 2018, section 3.2), exact, over one column or several together."""

    def has_finiteness(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """|{v : v is neither NaN nor infinite}| / |{v : v is present}|: the rest is NaN or infinite."""

    def has_histogram(
        self, column: str, bins: int = 10, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """Counts in `bins` equal parts of min..max (Deequ 2018, Table 2), exact for up to 1,024 different numbers."""

    def has_histogram_values(
        self,
        column: str,
        value: Value | None = None,
        holds: Callable[[Any], object] | None = None,
        **modifiers: Unpack[Expected],
    ) -> Self:
        """The share of one value among those present; without a value, the whole distribution, for a function to judge."""

    def has_index_of_peculiarity(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """sqrt(mean of I(xyz)^2) over all triples, I(xyz) = (log n(xy) + log n(yz)) / 2 - log n(xyz) (Redyuk 2021, Eq. 1)."""

    def has_ip_address(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """The share of values that are IP addresses, of version 4 or 6."""

    def has_kurtosis(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """m4 / m2^2 - 3 with m_k = sum of (v - mean)^k / |{v}|: 0 for a normal; undefined where all values are equal."""

    def has_max(self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]) -> Self:
        """max of v (Deequ 2018, Table 2). Dates and timestamps in seconds since 1970; integers beyond 2^53 are rounded."""

    def has_max_length(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """max of |v| in characters, in bytes for binary."""

    def has_mean(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """sum of v / |{v}| (Deequ 2018, Table 2). NaN and infinities are not counted in."""

    def has_median(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """The least v with rank(v) >= |{v}| / 2 (AVH, Table 1), exact for up to 1,024 different numbers."""

    def has_min(self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]) -> Self:
        """min of v (Deequ 2018, Table 2). Dates and timestamps in seconds since 1970; integers beyond 2^53 are rounded."""

    def has_min_length(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """min of |v| in characters, in bytes for binary; 0 where the empty string occurs."""

    def has_most_frequent_ratio(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """max over v of |rows with v| / |values| (Redyuk et al. 2021): exact to 512 values, beyond them within 1/130."""

    def has_mutual_information(
        self, left: str, right: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """H(left) + H(right) - H(left, right), in nats, over the rows where both are present (Deequ 2018, section 3.2)."""

    def has_no_anomalies(
        self, metric: str | MetricKey | Keyed, detector: str | MetricKey | Keyed, **modifiers: Unpack[Scope]
    ) -> Self:
        """The metric is what a detector expects of it, given its values in the past runs of the dataset."""

    def has_no_duplicate_rows(
        self,
        holds: Callable[[Any], object] | None = None,
        *,
        columns: tuple[str, ...] = (),
        **modifiers: Unpack[Expected],
    ) -> Self:
        """No two rows are alike in all columns, or in those named; a row of nothing but nulls is left out."""

    def has_pattern(
        self, column: str, pattern: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """The share of values in which a regular expression (of RE2) is found; `^...$` for the whole value."""

    def has_pattern_distribution(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """pattern -> |values of that pattern| (AVH's pattern profile), `9-9-9` for a date: exact to 128 patterns."""

    def has_pattern_match(
        self, column: str, pattern: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """|{v : pattern is found in v}| / |{v : v is present}| in RE2 syntax; `^...$` for the whole value."""

    def has_predictability(
        self,
        column: str,
        inputs: Sequence[str],
        score: str = "f1",
        holds: Callable[[Any], object] | None = None,
        **modifiers: Unpack[Expected],
    ) -> Self:
        """How well the column can be told from others by naive Bayes, scored on rows held out: f1, precision or recall."""

    def has_punc_len(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """|punctuation| / |values| (AVH, Table 2), punctuation and symbols (Unicode categories P and S)."""

    def has_range(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """max - min (AVH, Table 1). In seconds for dates and timestamps. Infinite if one of them is."""

    def has_ratio_of_sums(
        self, left: str, right: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """sum of left / sum of right (Deequ's RatioOfSums), each over its own finite values."""

    def has_row_count_match(
        self, table: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """As many rows as another table; a threshold is of the ratio of the two: between=(0.99, 1.01)."""

    def has_size(self, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]) -> Self:
        """|rows| (Deequ 2018, Table 2; AVH's row_count). Of an empty batch it is 0, not undefined."""

    def has_skewness(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """m3 / m2^1.5 with m_k = sum of (v - mean)^k / |{v}|; undefined where all values are equal."""

    def has_social_security_number(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """The share of values that are social security numbers of the United States, with dashes."""

    def has_stddev(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """sqrt(sum of (v - mean)^2 / |{v}|), of the population (Deequ 2018, Table 2)."""

    def has_str_len(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """The mean of |v| in characters (AVH, Table 2), in bytes for binary; the empty string counts with 0."""

    def has_sum(self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]) -> Self:
        """sum of v; 0 over no values. Exact for integers while it stays under 2^53."""

    def has_text_max(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """max of the numbers written in the values: those that look integral or fractional to `data_type`."""

    def has_text_mean(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """sum of x / |{x}| over the numbers x written in the values: those that look integral or fractional to `data_type`."""

    def has_text_min(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """min of the numbers written in the values: those that look integral or fractional to `data_type`."""

    def has_type_consistency(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """max over types of |values that look like it| / |values| (Deequ 2018, Table 1: hasTypeConsistency)."""

    def has_type_ratio(
        self,
        column: str,
        type: str = "integral",
        holds: Callable[[Any], object] | None = None,
        **modifiers: Unpack[Expected],
    ) -> Self:
        """|values that look like `type`| / |values|; null is no value, the empty string is one, and a string."""

    def has_unique_ratio(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """|{v}| / |values| (AVH, Tables 1 and 2), at most 1, by HyperLogLog: `distinctness` within 1.6%, in one scan."""

    def has_unique_value_ratio(self, *columns: str, **modifiers: Unpack[ExpectedOfMany]) -> Self:
        """|{v : v occurs once}| / |{v}| (Deequ 2018, section 3.2; ICDE 2019, Table I), exact."""

    def has_uniqueness(self, *columns: str, **modifiers: Unpack[ExpectedOfMany]) -> Self:
        """|{v : v occurs once}| / |rows| (Deequ's Uniqueness), exact, over one column or several together."""

    def has_url(self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]) -> Self:
        """The share of values that are URLs of http, https or ftp."""

    def has_uuid(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """The share of values that are UUIDs."""

    def has_value_distribution(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """v -> |rows with v| (AVH's value distribution, Deequ's Histogram): exact to 512 values."""

    def has_value_sample(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """|kept|, of at most 200 different values: those with the smallest hashes, whatever the order of the rows."""

    def has_variance(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """sum of (v - mean)^2 / |{v}|: of the population, as Deequ's standard deviation is."""

    def is_approx_unique(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """Hardly a value occurs twice, as far as a sketch of a few kilobytes can tell: no shuffle, an error of about 2%."""

    def is_complete(self, *columns: str, **modifiers: Unpack[ExpectedOfMany]) -> Self:
        """No value is missing; of several columns, each for itself."""

    def is_contained_in(
        self,
        column: str,
        values: Sequence[Value],
        holds: Callable[[Any], object] | None = None,
        **modifiers: Unpack[Expected],
    ) -> Self:
        """The share of values that are among these."""

    def is_contained_in_table(
        self, *columns: str, table: str, of: str = "", **modifiers: Unpack[ExpectedOfMany]
    ) -> Self:
        """The share of values that another table has: a foreign key. `of` is its column, if that has another name."""

    def is_fresh(self, column: str, within: str | timedelta, **modifiers: Unpack[Scope]) -> Self:
        """The latest date or timestamp is no older than `within`: a timedelta, or text such as 90m, 24h or 2d."""

    def is_greater_than(
        self, left: str, right: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """The share of rows in which `left` is greater than `right`, of those that have both."""

    def is_greater_than_or_equal_to(
        self, left: str, right: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """The share of rows in which `left` is at least `right`, of those that have both."""

    def is_in_range(
        self,
        column: str,
        low: Value | None = None,
        high: Value | None = None,
        holds: Callable[[Any], object] | None = None,
        **modifiers: Unpack[Expected],
    ) -> Self:
        """The share of values from `low` to `high`, both included; of numbers, dates or timestamps."""

    def is_less_than(
        self, left: str, right: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """The share of rows in which `left` is less than `right`, of those that have both."""

    def is_less_than_or_equal_to(
        self, left: str, right: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """The share of rows in which `left` is at most `right`, of those that have both."""

    def is_non_negative(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """The share of values that are not below zero."""

    def is_positive(
        self, column: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """The share of values above zero."""

    def is_primary_key(self, *columns: str, **modifiers: Unpack[ExpectedOfMany]) -> Self:
        """Every column has a value in every row, and no combination of them occurs twice."""

    def is_unique(self, *columns: str, **modifiers: Unpack[ExpectedOfMany]) -> Self:
        """No value, or combination of values of several columns, occurs twice; exact. Nulls are left out."""

    def matches_table(self, *columns: str, table: str, **modifiers: Unpack[ExpectedOfMany]) -> Self:
        """The same rows as another table, in these columns or in all: as many, and each of them is there."""

    def metric(
        self, key: str | MetricKey | Keyed, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """Any metric by its key: metric("mean(price)", at_least=5)."""

    def satisfies(
        self, predicate: str, holds: Callable[[Any], object] | None = None, **modifiers: Unpack[Expected]
    ) -> Self:
        """The share of rows that meet a SQL predicate; one that is null for a row is not met by it."""

    def satisfies_if(
        self,
        condition: str,
        predicate: str,
        holds: Callable[[Any], object] | None = None,
        **modifiers: Unpack[Expected],
    ) -> Self:
        """Of the rows that meet the condition, the share that also meet the predicate."""
