"""Tells one input from another by a checksum of its rows, where the caller has no better name for it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from headgate.engine.analysis import Analysis
from headgate.metrics.checksum import RowChecksum
from headgate.metrics.states.distinct import Distinct
from headgate.metrics.states.frequencies import Frequencies
from headgate.metrics.states.moments import Moments
from headgate.values.expectation import Judgement
from headgate.values.state import Counts, State

_DIGITS = 9  # sums of floats differ in the last ones with the order in which parts are merged


def fingerprint_batch(batch: Analysis, judgements: Iterable[Judgement] = ()) -> str:
    """A hash of the columns, of the checksum of all rows, and of the judgements of checks, which may read other tables.

    It is the same however the rows are ordered and spread over tasks. If a column could not be read there is no
    checksum: then what was measured of the others is hashed.
    """
    whole = hashlib.sha256()
    for column in batch.schema.columns:
        if column.parent:  # the type of its column tells of it
            continue
        whole.update(_encode_text(f"{column.label}\0{column.kind}\0{column.type}\0"))
    checksums = [key for key, state in batch.states.items() if isinstance(state, RowChecksum)]
    for key in checksums or sorted(batch.states, key=str):
        for part in _stable_parts(batch.states[key]):
            whole.update(_encode_text(f"{key}\0") + part)
    for name in sorted(map(str, batch.failed)):
        whole.update(_encode_text(f"{name}\0failed\0"))
    for text in sorted(map(_format_judgement, judgements)):
        whole.update(_encode_text(text))
    return f"{'rows' if checksums else 'states'}:{whole.hexdigest()[:40]}"


def _stable_parts(state: State) -> Iterator[bytes]:
    """What of a state does not depend on the order of the rows, nor on how they were split."""
    match state:
        case Frequencies(total=total, lost=0):
            yield _encode_text(f"{total}") + state.hashes + state.counts
        case Frequencies(total=total):
            yield _encode_text(f"{total}")
        case Moments():
            yield _encode_text(_round_moments(state))
        case Distinct():
            yield state.sketch
        case Counts() | RowChecksum():
            yield _encode_text(str(state))


def _round_moments(state: Moments) -> str:
    """Count, ends, and the sum to so many digits of what was added up, as it may cancel."""
    if state.low is None or state.high is None:
        return f"{state.count}"
    size = max(abs(state.low), abs(state.high)) or 1.0
    return f"{state.count} {state.low!r} {state.high!r} {round(state.mean / size, _DIGITS)}"


def _format_judgement(each: Judgement) -> str:
    value = "" if each.value is None else f"{each.value:.{_DIGITS}g}"
    return f"{each.expectation}\0{each.segment}\0{each.status}\0{value}\0"


def _encode_text(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
