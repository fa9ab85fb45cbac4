from __future__ import annotations

from importlib.metadata import metadata

import pytest

from release.spdx import ALLOWED, NOTED, READ_BY_HAND, is_allowed, list_licences, read_licence
from tests.release.conftest import Install

MIT = "Classifier: License :: OSI Approved :: MIT License"
BSD = "Classifier: License :: OSI Approved :: BSD License"


@pytest.mark.parametrize(
    ("fields", "licence"),
    [
        (["License-Expression: MIT and apache-2.0"], "MIT AND Apache-2.0"),
        (["License: isc"], "ISC"),
        (["License-Expression: ISC", "License: MIT", MIT], "ISC"),
        (["License: see the file", MIT], "MIT"),
        ([MIT, BSD], "unknown"),  # both, or a choice
        ([BSD], "unknown"),  # which one?
        (["License: Copyright (c) somebody"], "unknown"),
        ([], "unknown"),
    ],
)
def test_a_licence_is_read_from_the_metadata(install: Install, fields: list[str], licence: str) -> None:
    install("hg_package", *fields)
    assert read_licence(metadata("hg_package")) == licence


def test_what_a_package_declares_goes_before_what_was_read_by_hand(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(READ_BY_HAND, "hg-package", "BSD-3-Clause")
    monkeypatch.setitem(READ_BY_HAND, "hg-other", "BSD-3-Clause")
    install("hg_package", "License-Expression: GPL-3.0-only")
    install("hg_other", BSD)
    assert read_licence(metadata("hg_package")) == "GPL-3.0-only"
    assert read_licence(metadata("hg_other")) == "BSD-3-Clause"


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("MIT AND BSD-3-Clause", True),
        ("GPL-3.0-only", False),
        ("AGPL-3.0-or-later", False),
        ("LGPL-3.0-only", False),
        ("MIT AND GPL-2.0-only", False),
        ("GPL-2.0-only OR MIT", True),
        ("GPL-2.0-only OR MIT AND AGPL-3.0-only", False),
        ("GPL-2.0-only AND MIT OR ISC", True),
        ("MIT AND (ISC OR Zlib)", True),
        ("MIT AND (ISC OR GPL-2.0-only)", False),
        ("GPL-3.0-or-later WITH GCC-exception-3.1", False),
        ("unknown", False),
        ("", False),
    ],
)
def test_only_expressions_that_allowed_licences_meet_are_allowed(expression: str, allowed: bool) -> None:
    assert is_allowed(expression) is allowed


def test_an_exception_belongs_to_its_licence() -> None:
    assert list_licences("MIT AND (ISC OR Apache-2.0 WITH LLVM-exception)") == [
        "MIT",
        "ISC",
        "Apache-2.0 WITH LLVM-exception",
    ]


def test_no_list_holds_a_licence_that_would_reach_over_to_headgate() -> None:
    assert [name for name in {*ALLOWED, *NOTED} if name.startswith(("GPL", "AGPL", "SSPL"))] == []
    assert ALLOWED.isdisjoint(NOTED)
