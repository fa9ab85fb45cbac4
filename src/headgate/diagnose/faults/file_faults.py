"""What was read is no such table: an error page, a wrong delimiter, a header among the rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.diagnose.table_pair import TablePair
from headgate.values.schema import NUMERIC, Kind

_HTML = re.compile(r"<!doctype|<html|<head|<body|<title|</\w+>|<div|<\?xml", re.IGNORECASE)
_WORD, _SENTENCE = re.compile(r"[^\W\d_]+[.,:;!?]?"), 5  # words of a notice, at least
_FEWEST, _MOST_HEADERS = 2, 5.5
_DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}


@fault
class ErrorPage(KnownFault):
    """A page of HTML or a notice instead of data."""

    name: ClassVar = "error_page"

    def fit_table(self, table: TablePair) -> Iterator[Fit]:
        labels = [label for label in table.added if _HTML.search(label)]
        values = [text for label in table.added for text in table.profile(label).values if _HTML.search(text)]
        is_small = len(table.new_columns) <= max(2, 0.5 * len(table.old_columns))
        if labels or (values and is_small):
            yield Fit(self.name, "an HTML page came instead of data", 0.0)
        elif _holds_notice(table):
            yield Fit(self.name, "a sentence came instead of data", 0.0)


def _holds_notice(table: TablePair) -> bool:
    """Whether all that there is is one column whose name is a sentence."""
    names = list(table.new_columns)
    if len(names) != 1 or len(table.old_columns) < 2:
        return False
    is_header = sum(label in names[0] for label in table.old_columns) >= 0.5 * len(table.old_columns)
    return not is_header and len([word for word in names[0].split() if _WORD.fullmatch(word)]) >= _SENTENCE


@fault
class WrongDelimiter(KnownFault):
    """All values of a row in one column."""

    name: ClassVar = "wrong_delimiter"

    def fit_table(self, table: TablePair) -> Iterator[Fit]:
        if len(table.old_columns) < 2 or len(table.new_columns) > max(1, 0.5 * len(table.old_columns)):
            return
        for label in table.new_columns:
            for mark, name in _DELIMITERS.items():
                parts = [each.strip().strip('"') for each in label.split(mark)]
                known = sum(each in table.old_columns for each in parts)
                in_values = [text.count(mark) for text in table.profile(label).values] or [0]
                is_split = known >= 0.5 * len(table.old_columns)
                if is_split or min(in_values) >= max(1, len(table.old_columns) - 2):
                    yield Fit(
                        self.name, f"columns are separated by {name}, and were read as one", 0.0, (), {"by": name}
                    )
                    return


@fault
class HeaderInData(KnownFault):
    """A row that holds the names of the columns."""

    name: ClassVar = "header_in_data"

    def fit_table(self, table: TablePair) -> Iterator[Fit]:
        texts = [label for label, column in table.new_columns.items() if column.kind is Kind.STRING]
        hits = [label for label in texts if _holds_own_name(table, label)]
        retyped = [
            label for label in texts if label in table.old_columns and table.old_columns[label].kind is not Kind.STRING
        ]
        lettered = [label for label in retyped if _has_few_words(table, label)]
        if len(lettered) >= _FEWEST and len(lettered) == len(retyped):
            hits = list(dict.fromkeys((*hits, *lettered)))
        if hits and (len(hits) >= 2 or len(hits) >= 0.5 * len(texts)):
            columns = tuple(hits) if len(hits) <= 3 else ()
            what = "a row of the batch holds the names of the columns"
            yield Fit(self.name, what, 0.0 if retyped or len(hits) > 1 else 0.1, columns)


def _has_few_words(table: TablePair, label: str) -> bool:
    """Whether a few values of a column have letters, and all others are numbers, as usual; values are seldom listed."""
    now = table.profile(label)
    words = sum(share for pattern, share in now.patterns.items() if re.search("[AaXx]", pattern))
    return 0 < words * now.present < _MOST_HEADERS and table.old_columns[label].kind in NUMERIC


def _holds_own_name(table: TablePair, label: str) -> bool:
    """Whether the name of a column is one of its values, and was none before."""
    values = table.profile(label).values
    if label not in values or values[label] > 0.5:
        return False
    return label not in table.pairs or not table.pairs[label].knows_value(label)
