"""A run split into the parts that stores keep separately (numbers, details, states), and restored from them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

import msgspec

from headgate.metrics.base.hashing import hash_label
from headgate.metrics.base.registry import from_key, metrics
from headgate.values.account import Account
from headgate.values.codec import Head, decode, encode, pack, seal, unpack, unseal
from headgate.values.errors import CorruptBytes
from headgate.values.expectation import Judgement, Segment, Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Distribution, Failed, Measured, Outcome, Undefined
from headgate.values.run import Revision, Run
from headgate.values.schema import Schema
from headgate.values.state import State
from headgate.values.verdict import Verdict

_TAG = "run_details"
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")


class Record(msgspec.Struct, frozen=True):
    """A run as stored: numbers by the text of their metric keys, details and states in envelopes."""

    numbers: dict[str, float]
    details: bytes
    states: dict[str, bytes]


class _Details(msgspec.Struct, frozen=True):
    schema: Schema
    verdict: Verdict
    missing: dict[str, Undefined | Failed]  # metrics without a value, with the reason
    distributions: list[str]  # metrics whose value is a distribution; it is measured again from the states
    account: Account | None = None


def make_record(run: Run, secret: bytes | None) -> Record:
    """The record of a run; with a secret, it contains no text value of the data."""
    states, verdict = run.states, run.verdict
    numbers: dict[str, float] = {}
    distributions: list[str] = []
    missing: dict[str, Undefined | Failed] = {}
    for key, outcome in run.outcomes.items():
        if not isinstance(outcome, Measured):
            missing[str(key)] = outcome
        elif isinstance(outcome.value, Distribution):
            distributions.append(str(key))
        else:
            numbers[str(key)] = float(outcome.value)
    if secret is not None:
        states = {key: state.hide_values(secret) for key, state in states.items()}
        names = _public_names(run)
        missing = {key: type(each)(_mask_quotes(each.why, names)) for key, each in missing.items()}
        verdict = Verdict(tuple(_hide_values(each, secret, names) for each in verdict.judgements))
    details = pack(_Details(run.schema, verdict, missing, distributions, run.account))
    return Record(
        numbers,
        seal(details, Head(_TAG, run.key)),
        {str(key): encode(state, str(key)) for key, state in states.items()},
    )


def restore_run(revision: Revision, record: Record, whole: bool = True) -> Run:
    """The run in a record; without `whole`, it lacks the states and the distributions measured from them."""
    head, body = unseal(record.details)
    if (head.tag, head.key) != (_TAG, revision.key):
        raise CorruptBytes(f"these are not the details of {revision.dataset} {revision.partition}.")
    try:
        details = unpack(body, _Details)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise CorruptBytes(f"the bytes do not hold the details of a run: {error}.") from None
    states = open_states(record.states) if whole else {}
    outcomes: dict[str, Outcome] = {key: Measured(value) for key, value in record.numbers.items()}
    outcomes |= details.missing
    outcomes |= {key: _measure_distribution(key, states) for key in details.distributions if whole}
    return Run(
        dataset=revision.dataset,
        partition=revision.partition,
        fingerprint=revision.fingerprint,
        suite=revision.suite,
        schema=details.schema,
        outcomes={MetricKey.parse(key): outcomes[key] for key in sorted(outcomes)},
        states=states,
        verdict=details.verdict,
        account=details.account,
        basis=revision.basis,
        at=revision.at,
        attempt=revision.attempt,
        source=revision.source,
        awaits_decision=revision.awaits_decision,
    )


def open_states(sealed: Mapping[str, bytes]) -> dict[MetricKey, State]:
    """States out of their envelopes; each envelope is checked to belong to its key."""
    metrics()  # importing all metrics registers their state types, which decoding needs
    return {MetricKey.parse(key): decode(data, key) for key, data in sealed.items()}


def key_texts(keys: Iterable[MetricKey | str] | None) -> list[str] | None:
    """Keys as the texts under which they are stored, without repeats."""
    if keys is None:
        return None
    return list(dict.fromkeys(str(MetricKey.parse(key) if isinstance(key, str) else key) for key in keys))


def _measure_distribution(key: str, states: Mapping[MetricKey, State]) -> Outcome:
    metric = from_key(key)
    return metric.measure(states.get(metric.state_key, metric.state()))


def _public_names(run: Run) -> frozenset[str]:
    """The names of the columns in the batch and in its metrics, which are not secret."""
    names = {column for key in run.outcomes for column in key.columns}
    names |= {column for each in run.verdict.judgements for column in each.expectation.metric.columns}
    return frozenset(names | set(run.schema.labels))


def hide_segment(segment: Segment, secret: bytes) -> Segment:
    """The segment as a store that hides values records it: each value is replaced by a hash under `secret`."""
    return tuple((name, None if value is None else hash_label(value, secret)) for name, value in segment)


def _hide_values(judgement: Judgement, secret: bytes, names: Collection[str]) -> Judgement:
    """The judgement without values of the data.

    Segments are hashed. The reason of an error or a skip may quote the data; that of a pass or a fail has only numbers.
    """
    if judgement.segment:
        judgement = msgspec.structs.replace(judgement, segment=hide_segment(judgement.segment, secret))
    if judgement.status in (Status.PASS, Status.FAIL):
        return judgement
    return msgspec.structs.replace(judgement, reason=_mask_quotes(judgement.reason, names))


def _mask_quotes(why: str, names: Collection[str]) -> str:
    """The text with quoted parts masked, since they may be values; names of columns stay.

    >>> _mask_quotes("the column 'prise' holds 'Ada'", {"prise"})
    "the column 'prise' holds '…'"
    """
    return _QUOTED.sub(lambda found: found[0] if found[0][1:-1] in names else "'…'", why)
