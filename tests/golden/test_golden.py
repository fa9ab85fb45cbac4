"""Bytes that were stored once are read for ever, and stored names never disappear."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from headgate.engine.analysis import Analysis
from headgate.metrics.base.registry import from_key
from headgate.values.codec import decode
from headgate.values.expectation import Expectation
from headgate.values.outcome import Outcome
from headgate.values.schema import Kind
from headgate.values.state import state_types, tag_of
from tests.golden.examples import EXPECTATIONS, REFERENCES, columns, own, plain, stored_names
from tests.golden.write import ANALYSIS, EXPECTED, NAMES, STATES
from tests.laws.cases import Case, assert_same

WRITE = "run `python -m tests.golden.write` and commit what it adds"
RENAMED = {  # forms that older versions stored, and what they are read as
    "frequencies": "frequent_labels",
    "quantiles": "quantile_bins",
    "text_numbers": "text_number_bins",
}
SAMPLED = ("quantiles-large", "text_numbers-large")  # a random sample of the data, which is not made again
EVERY = sorted(path.stem for path in STATES.glob("*.json"))
GOLDEN = [name for name in EVERY if name.partition("-")[0] not in REFERENCES]


def golden(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((STATES / f"{name}.json").read_text(encoding="utf-8"))
    return found


def assert_close(found: Any, expected: Any) -> None:
    """Equal, but for the last digits of numbers."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for name in expected:
            assert_close(found[name], expected[name])
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-12)
    else:
        assert found == expected


@pytest.mark.parametrize("name", GOLDEN)
def test_a_state_that_was_stored_still_loads_and_measures_as_it_did(name: str) -> None:
    kept = golden(name)
    state = decode(bytes.fromhex(kept["bytes"]), kept["key"])
    tag = name.partition("-")[0]
    assert tag_of(type(state)) == RENAMED.get(tag, tag)
    assert_close({key: plain(from_key(key).measure(state)) for key in kept["outcomes"]}, kept["outcomes"])


@pytest.mark.parametrize("name", [each for each in GOLDEN if each not in SAMPLED])
def test_the_same_data_fold_to_the_state_that_was_stored(name: str) -> None:
    kept = golden(name)
    state, metric = decode(bytes.fromhex(kept["bytes"])), from_key(next(iter(kept["outcomes"])))
    assert str(metric.state_key) == kept["key"]
    kinds = tuple(map(Kind, kept["kinds"]))
    folded = Case(metric, kinds).fold(columns(kinds, name.partition("-")[2])).finish()
    assert_same(folded if type(folded) is type(state) else folded.shrink(), state)


@pytest.mark.parametrize("tag", REFERENCES)
def test_a_reference_that_was_stored_still_loads(tag: str) -> None:
    kept = golden(f"{tag}-small")
    assert decode(bytes.fromhex(kept["bytes"]), kept["key"]) == REFERENCES[tag]


def test_every_state_type_has_a_golden_file() -> None:
    assert {f"{tag}-small" for tag in own(state_types())} <= set(EVERY), WRITE


def test_an_analysis_that_was_stored_still_loads_and_measures_as_it_did() -> None:
    kept = json.loads(ANALYSIS.read_text(encoding="utf-8"))
    assert_close(Analysis.from_bytes(bytes.fromhex(kept["bytes"])).to_dict(), kept["outcomes"])


def test_expectations_that_were_stored_still_load() -> None:
    kept = msgspec.json.decode(EXPECTED.read_bytes(), type=list[Expectation])
    assert kept == EXPECTATIONS


@pytest.mark.parametrize("kind", stored_names())
def test_stored_names_never_disappear(kind: str) -> None:
    kept = set(json.loads(NAMES.read_text(encoding="utf-8"))[kind])
    assert kept - set(stored_names()[kind]) == set(), (
        "a stored name never changes; see docs/decisions/0005-stored-names.md"
    )


@pytest.mark.parametrize("kind", stored_names())
def test_every_stored_name_is_committed(kind: str) -> None:
    kept = set(json.loads(NAMES.read_text(encoding="utf-8"))[kind])
    assert set(stored_names()[kind]) - kept == set(), WRITE


@pytest.mark.parametrize("outcome", [{"type": "measured", "value": 1.5}, {"type": "undefined", "why": "x"}])
def test_an_outcome_as_plain_data_reads_back(outcome: dict[str, Any]) -> None:
    assert plain(msgspec.convert(outcome, type=Outcome)) == outcome
