"""Halves of surrogate pairs, which no encoding can store, in names and values.

They ended in a UnicodeEncodeError of the file store, of every store for a check that names one, and of pyarrow for a
pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import headgate as hg
from headgate.store.port import HistoryStore
from tests.store.backends import BACKENDS

BROKEN = "a\ud800b"
ORDERS = pa.table({"price": [1, 2, 3], "code": ["x", "y", "z"]})


@pytest.fixture(params=["files", "memory", "postgresql", "sqlite"])
def store(request: pytest.FixtureRequest) -> Iterator[HistoryStore]:
    with BACKENDS[request.param](request) as opener:
        opened = opener()
        yield opened
        opened.close()


def works_or_is_refused(action: Callable[[], Any]) -> None:
    with suppress(hg.HeadgateError):
        action()


@pytest.mark.parametrize(
    "judge",
    [
        lambda store: hg.Gate(BROKEN, store=store).judge(ORDERS, partition="1"),
        lambda store: hg.Gate("orders", store=store).judge(ORDERS, partition=BROKEN),
        lambda store: hg.Gate("orders", store=store).judge(ORDERS, partition="1", fingerprint=BROKEN),
        lambda store: store.revisions(BROKEN),
        lambda store: store.last("orders", 5, before=BROKEN),
    ],
    ids=["dataset", "partition", "fingerprint", "look up a dataset", "look up a partition"],
)
def test_a_broken_name_is_kept_or_refused(store: HistoryStore, judge: Callable[[HistoryStore], Any]) -> None:
    works_or_is_refused(lambda: judge(store))


@pytest.mark.parametrize("named", [{"note": BROKEN, "who": "me"}, {"note": "ok", "who": BROKEN}], ids=["note", "who"])
def test_a_broken_note_is_kept_or_refused(store: HistoryStore, named: dict[str, str]) -> None:
    gate = hg.Gate("orders", store=store, checks=[hg.Check("orders").has_mean("price", at_least=9)])
    gate.judge(ORDERS, partition="1")
    works_or_is_refused(lambda: gate.accept("1", **named))


@pytest.mark.parametrize(
    "make",
    [
        lambda: hg.Check("orders").is_complete(BROKEN),
        lambda: hg.Check(BROKEN).is_complete("price"),
        lambda: hg.Check("orders").is_contained_in("code", [BROKEN]),
        lambda: hg.Check("orders").has_pattern("code", BROKEN),
        lambda: hg.Check("orders").satisfies(f"code = '{BROKEN}'"),
        lambda: hg.Check("orders").is_complete("code", where=f"code = '{BROKEN}'"),
        lambda: hg.Check("orders").is_complete("price", by=[BROKEN]),
        lambda: hg.Check.from_yaml('checks:\n  - is_complete: "a\\ud800"'),
    ],
    ids=["column", "check", "value", "pattern", "predicate", "where", "by", "YAML"],
)
def test_a_check_with_a_broken_text_is_judged_or_refused(store: HistoryStore, make: Callable[[], hg.Check]) -> None:
    works_or_is_refused(lambda: hg.Gate("orders", store=store, checks=[make()]).judge(ORDERS, partition="1"))
    works_or_is_refused(lambda: str(hg.verify(ORDERS, make())))
    works_or_is_refused(lambda: hg.Check.from_yaml(make().to_yaml()))


def test_broken_names_and_values_of_pandas_are_measured() -> None:
    for frame in (pd.DataFrame({BROKEN: [1, 2]}), pd.DataFrame({"code": [BROKEN, "y"]})):
        analysis = hg.analyze(frame)
        works_or_is_refused(analysis.to_bytes)
        works_or_is_refused(lambda frame=frame: hg.suggest(frame).to_yaml())  # type: ignore[misc]


def test_a_broken_address_or_secret_of_a_store_is_refused(tmp_path: Path) -> None:
    for url, secret in (
        (f"file:{tmp_path}/{BROKEN}", None),
        ("memory:", BROKEN),
        (f"sqlite:///{tmp_path}/{BROKEN}", None),
    ):
        with pytest.raises(hg.HeadgateError, match="surrogate"):
            hg.open_store(url, secret=secret)


def test_a_metric_of_a_broken_name_is_refused_when_it_is_stored() -> None:
    works_or_is_refused(lambda: hg.analyze(ORDERS, [hg.Mean(BROKEN)]).to_bytes())
    works_or_is_refused(lambda: hg.analyze(ORDERS, [hg.Mean("price", where=f"code = '{BROKEN}'")]).to_bytes())
