"""Joins the causes that one fault explains, and gives them its sentence as their title.

Tested by `tests/explain/test_causes.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from headgate.explain.cause import Cause, rank_cause
from headgate.explain.wording import CauseKind
from headgate.values.diagnosis import Diagnosis


def name_faults(causes: Sequence[Cause], diagnoses: Sequence[Diagnosis]) -> list[Cause]:
    """The causes, those that a fault explains joined to one with the sentence of the fault.

    What was found before is kept as the evidence.
    """
    left, named = list(causes), []
    for diagnosis in diagnoses:
        explained = [cause for cause in left if _explains(diagnosis, cause)]
        if explained:
            left = [cause for cause in left if cause not in explained]
            named.append(_join_explained(sorted(explained, key=rank_cause), diagnosis))
    if named:
        left = [cause for cause in left if cause.kind is not CauseKind.WHOLE]  # the batch is unlike others for this
    return [*named, *left]


def _explains(diagnosis: Diagnosis, cause: Cause) -> bool:
    if cause.kind is CauseKind.UNREAD:
        return False
    if cause.is_declared and not (cause.columns and set(cause.columns) <= set(diagnosis.columns)):
        return False
    return any(str(each.expectation.metric) in diagnosis.explains for each in cause.judgements)


def _join_explained(causes: Sequence[Cause], diagnosis: Diagnosis) -> Cause:
    """One cause, the strongest, with the judgements of all; the titles of before come first among what was found."""
    first = causes[0]
    titles = [each.title for each in causes if each.title != diagnosis.sentence]
    others = [sentence for each in causes for sentence in each.found if not any(sentence in title for title in titles)]
    found = dict.fromkeys([*titles, *others])
    columns = dict.fromkeys([*diagnosis.columns, *(column for each in causes for column in each.columns)])
    return msgspec.structs.replace(
        first,
        title=diagnosis.sentence,
        columns=tuple(columns),
        judgements=tuple(judgement for each in causes for judgement in each.judgements),
        found=tuple(found),
        diagnosis=diagnosis,
    )
