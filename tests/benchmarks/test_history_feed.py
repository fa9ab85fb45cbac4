"""Windows and table cases of a small made-up feed, from its files to the scores of a method."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from benchmarks.history import cases, series, table_cases, table_protocol
from benchmarks.history.baselines.normal import Normal
from benchmarks.history.cases import BROKEN, LENGTH, windows
from benchmarks.history.feeds import Feed

DAYS = [f"day-{at:03}" for at in range(LENGTH + 3)]
FAULTY = DAYS[5]


@pytest.fixture
def feed(tmp_path, monkeypatch):
    (tmp_path / "files").mkdir()
    rng = np.random.default_rng(0)
    for day in DAYS:
        rows = [f"{at},{rng.normal(50, 5):.3f},{'north' if rng.random() < 0.5 else 'south'}," for at in range(40)]
        text = "\n".join(["id,price,shop,note", *rows]) + "\n"
        (tmp_path / "files" / f"{day}.csv.gz").write_bytes(gzip.compress(text.encode()))
    for module in (cases, series, table_cases):
        monkeypatch.setattr(module, "CACHE", tmp_path / "cache")
    for module in (cases, table_cases, table_protocol):
        monkeypatch.setattr(module, "is_incident", lambda title, partition: partition == FAULTY)
    return Feed("made", "up", tmp_path / "files")


def test_windows_have_60_clean_runs_and_the_31st_broken(feed):
    found = {window.column: window for window in windows(feed)}
    assert found.keys() == {"id", "price", "shop"}  # nothing can go wrong in a column without values
    price = found["price"]
    assert FAULTY not in price.partitions
    assert price.clean.shape == (LENGTH, len(price.names))
    assert price.injected.shape == (len(price.issues), len(price.names))
    mean, emd = price.names.index("mean"), price.names.index("emd")
    assert np.isnan(price.clean[0, emd])
    assert np.isfinite(price.clean[1:, emd]).all()
    tenfold = price.injected[price.issues.index("unit_change(factor=10.0)")]
    assert tenfold[mean] == pytest.approx(10 * price.clean[BROKEN, mean])


def test_windows_are_the_same_when_they_are_read_again(feed):
    for one, other in zip(windows(feed), windows(feed), strict=True):
        assert one.partitions == other.partitions
        np.testing.assert_array_equal(one.injected, other.injected)


def test_table_cases_differ_from_the_clean_batch_only_in_their_column(feed):
    batches = series.analysed(feed)
    found = list(table_cases.table_cases(feed, batches))
    assert {case.at for case in found} <= set(range(table_cases.EARLIEST, len(DAYS)))
    for case in found:
        clean = batches[case.at].analysis
        other = {key for key in clean.states if case.column not in key.columns}
        assert case.analysis.schema.labels == clean.schema.labels
        if case.column != table_cases.ALL:
            assert all(case.analysis.states[key] is clean.states[key] for key in other)
        else:
            assert case.analysis.value("size()") != clean.value("size()")


def test_a_table_with_a_tenfold_price_is_stranger_than_the_clean_one(feed):
    seen = 0
    for spot in table_protocol.spots(feed):
        clean, broken = table_protocol.spot_scores(Normal(), spot)
        assert (broken.shape, len(spot.touched)) == ((len(spot.issues),), len(spot.issues))
        for issue, touched, score in zip(spot.issues, spot.touched, broken, strict=True):
            if issue.startswith("unit_change") and "price" in touched:
                seen += 1
                assert score > 3 * clean
    assert seen
