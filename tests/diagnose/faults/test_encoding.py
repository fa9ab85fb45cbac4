"""UTF-8 that was read in another encoding."""

from __future__ import annotations

import pytest

from tests.diagnose.history import BOTH, change, diagnose_one, list_names, make_day


@BOTH
def test_utf8_as_latin_1_is_named(hide: bool) -> None:
    found = diagnose_one(change(make_day(), "city", lambda value: value.encode().decode("latin-1")), hide)
    assert (found.fault, found.columns) == ("encoding", ("city",))
    assert found.parameters == {"encoding": "Latin-1"}
    assert found.sentence.startswith("city is UTF-8 that was read as Latin-1")
    assert found.share == pytest.approx(0.7, abs=0.06)  # the values with other characters than ASCII
    assert found.repairable


def test_characters_that_are_lost_are_named() -> None:
    found = diagnose_one(change(make_day(), "city", lambda value: value.encode("latin-1").decode("utf-8", "replace")))
    assert (found.fault, found.parameters) == ("encoding", {"encoding": "unknown"})


def test_umlauts_that_are_written_out_are_no_encoding() -> None:
    broken = change(make_day(), "city", lambda value: value.replace("ü", "ue").replace("ö", "oe"))
    assert list_names(broken) == ["category_renamed"]
