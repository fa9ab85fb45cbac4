"""The levels are those of Auto-Validate-by-History, Appendix B."""

from __future__ import annotations

import pytest

from headgate.inject.issue import Issue, issues, standard
from headgate.values.schema import Kind

APPENDIX_B = {
    "schema_change": [{"share": 0.01}, {"share": 0.1}, {"share": 1.0}],
    "unit_change": [{"factor": 10}, {"factor": 100}, {"factor": 1000}],
    "casing_change": [{"share": 0.01}, {"share": 0.1}, {"share": 1.0}],
    "increased_nulls": [{"share": 0.01}, {"share": 0.5}, {"share": 1.0}],
    "volume_change": [{"factor": 2}, {"factor": 10}, {"factor": 0.5}, {"factor": 0.1}],
    "distribution_change": [
        {"share": 0.1, "end": "first"},
        {"share": 0.5, "end": "first"},
        {"share": 0.1, "end": "last"},
        {"share": 0.5, "end": "last"},
    ],
    "character_perturbation": [{"share": 0.01}, {"share": 0.1}, {"share": 1.0}],
    "character_insertion": [{"share": 0.1}, {"share": 0.5}],
    "character_deletion": [{"share": 0.1}, {"share": 0.5}],
    "whitespace_padding": [{"share": 0.1}, {"share": 0.5}, {"share": 1.0}],
}


def test_the_issues_and_their_levels_are_those_of_the_paper() -> None:
    assert {name: list(issues()[name].levels) for name in APPENDIX_B} == APPENDIX_B


def of_the_paper(kind: Kind) -> list[Issue]:
    return [issue for issue in standard(kind) if issue.name in APPENDIX_B]


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        (Kind.INTEGER, 24),
        (Kind.FLOAT, 24),
        (Kind.DECIMAL, 24),
        (Kind.STRING, 27),
        (Kind.BOOLEAN, 14),
        (Kind.DATE, 14),
        (Kind.TIMESTAMP, 14),
        (Kind.BINARY, 14),
        (Kind.OTHER, 7),
    ],
)
def test_each_kind_of_column_has_its_issues_of_the_paper(kind: Kind, count: int) -> None:
    found = of_the_paper(kind)
    assert len(found) == len(set(map(str, found))) == count


def test_the_stable_names_are_these() -> None:
    names = {str(issue) for kind in Kind for issue in of_the_paper(kind)}
    assert len(names) == 30
    assert {
        "increased_nulls(share=0.5)",
        "unit_change(factor=1000.0)",
        'distribution_change(share=0.1, end="last")',
        "volume_change(factor=0.1)",
    } <= names
