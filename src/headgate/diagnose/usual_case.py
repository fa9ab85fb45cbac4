"""The case in which the texts of a column were written, so that a change of case can be undone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from headgate.diagnose.column_profile import ColumnContents
from headgate.learn.past import Past
from headgate.values.diagnosis import Diagnosis

CASING = "casing"
CASES = {"lower": re.compile("[ax]+"), "upper": re.compile("[AX]+")}
"""The patterns of a word by case. Patterns do not tell title case from other capitals, as in iPhone."""
_LETTERS = re.compile("[AaXx]+")
_MOST_UNKNOWN = 0.02  # of the usual values, whose case is not known


def add_usual_case(diagnosis: Diagnosis, patterns: Mapping[str, float]) -> Diagnosis:
    """The diagnosis of a change of case with the case that was usual, if all usual values had one.

    Args:
        diagnosis: The diagnosis; one of another fault stays as it is.
        patterns: The shares of the patterns of the column in good runs.
    """
    case = find_usual_case(patterns) if diagnosis.fault == CASING and len(diagnosis.columns) == 1 else None
    return diagnosis if case is None else replace(diagnosis, parameters={**diagnosis.parameters, "was": case})


def add_usual_cases(diagnoses: Sequence[Diagnosis], past: Past | None) -> tuple[Diagnosis, ...]:
    """The diagnoses, those of a change of case with the case that was usual in the newest good run."""
    columns = {} if past is None else {column.label: column for column in past.schema.columns}
    states = {} if past is None else past.states
    return tuple(
        add_usual_case(each, ColumnContents.of(columns[each.columns[0]], states).patterns)
        if each.columns and each.columns[0] in columns
        else each
        for each in diagnoses
    )


def find_usual_case(patterns: Mapping[str, float]) -> str | None:
    """The one case of values with these patterns: lower or upper; None if there are several, or none is known.

    A pattern has A, a for letters, and X, x for letters with digits.

    >>> find_usual_case({"a a": 0.6, "a9": 0.4}), find_usual_case({"Aa": 0.5, "a": 0.5}), find_usual_case({"A": 0.4})
    ('lower', None, None)
    """
    words = [word for pattern in patterns for word in _LETTERS.findall(pattern)]
    if not words or sum(patterns.values()) < 1 - _MOST_UNKNOWN:
        return None
    return next((case for case, form in CASES.items() if all(map(form.fullmatch, words))), None)
