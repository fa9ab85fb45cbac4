from __future__ import annotations

from pathlib import Path

import pytest

from release.dependencies import Dependency
from release.licences import find_refused, make_page, resolve_all

ROOT = Path(__file__).resolve().parents[2]


def test_every_dependency_has_a_licence_that_is_allowed() -> None:
    resolved = resolve_all(ROOT / "pyproject.toml")
    assert {"core", "spark", "postgresql"} <= resolved.keys()
    assert find_refused(resolved) == []


@pytest.mark.parametrize(
    ("part", "licence", "refused"),
    [
        ("core", "MIT", False),
        ("core", "GPL-3.0-only", True),
        ("core", "LGPL-3.0-only", True),
        ("sql", "LGPL-3.0-only", False),
        ("sql", "AGPL-3.0-only", True),
        ("sql", "unknown", True),
    ],
)
def test_a_licence_that_is_not_allowed_is_refused(part: str, licence: str, refused: bool) -> None:
    faults = find_refused({part: [Dependency("lib", "1.0", licence, ())]})
    assert len(faults) == refused
    assert all(f"lib 1.0, needed by {part}, is under {licence}" in fault for fault in faults)


def test_the_page_says_who_needs_a_package_and_names_no_version() -> None:
    shared, driver = Dependency("shared", "1.2.3", "MIT", ()), Dependency("driver", "4.5.6", "LGPL-3.0-only", ())
    page = make_page({"core": [shared], "sql": [shared, driver], "postgresql": [driver]})
    assert "| shared | MIT | core |" in page
    assert "| driver | LGPL-3.0-only | sql, postgresql |" in page
    assert "| LGPL-3.0-only | driver |" in page
    assert "1.2.3" not in page
