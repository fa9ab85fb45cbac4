from __future__ import annotations

from pathlib import Path

import pytest

from release import ReleaseError
from release.dependencies import read_requirements, resolve_dependencies
from tests.release.conftest import Install

ROOT = Path(__file__).resolve().parents[2]


def test_what_a_requirement_needs_is_found_too(install: Install) -> None:
    install("hg_outer", "Requires-Dist: HG.Inner>=1", "License-Expression: MIT")
    install("hg_inner", "License-Expression: ISC")
    inner, outer = resolve_dependencies(["hg-outer>=0.5"])
    assert (outer.name, outer.version, outer.licence, outer.requires) == ("hg-outer", "1.0", "MIT", ("hg-inner",))
    assert (inner.name, inner.licence, inner.requires) == ("hg-inner", "ISC", ())


def test_an_extra_of_a_requirement_brings_its_own_packages(install: Install) -> None:
    install("hg_outer", "Provides-Extra: fast", "Requires-Dist: hg-inner; extra == 'fast'")
    install("hg_inner")
    assert [each.name for each in resolve_dependencies(["hg-outer"])] == ["hg-outer"]
    assert [each.name for each in resolve_dependencies(["hg-outer[fast]"])] == ["hg-inner", "hg-outer"]


def test_an_extra_that_another_package_asks_for_counts_too(install: Install) -> None:
    install("hg_first", "Requires-Dist: hg-outer")
    install("hg_second", "Requires-Dist: hg-outer[fast]")
    install("hg_outer", "Provides-Extra: fast", "Requires-Dist: hg-inner; extra == 'fast'")
    install("hg_inner")
    names = [each.name for each in resolve_dependencies(["hg-second", "hg-first"])]
    assert names == ["hg-first", "hg-inner", "hg-outer", "hg-second"]


def test_packages_that_need_each_other_are_found_once(install: Install) -> None:
    install("hg_one", "Requires-Dist: hg-two", "Provides-Extra: all", "Requires-Dist: hg-one[all]; extra == 'all'")
    install("hg_two", "Requires-Dist: hg-one")
    found = {each.name: each.requires for each in resolve_dependencies(["hg-one[all]"])}
    assert found == {"hg-one": ("hg-two",), "hg-two": ("hg-one",)}


def test_what_another_platform_needs_is_left_out(install: Install) -> None:
    install("hg_outer", "Requires-Dist: hg-absent; python_version < '3'")
    assert [each.name for each in resolve_dependencies(["hg-outer", "hg-absent; python_version < '3'"])] == ["hg-outer"]


def test_a_package_that_is_not_installed_is_an_error_that_says_what_to_do(install: Install) -> None:
    install("hg_outer", "Requires-Dist: hg-absent")
    with pytest.raises(ReleaseError, match=r"hg-absent is not installed.*make setup"):
        resolve_dependencies(["hg-outer"])


def test_the_parts_for_users_are_the_core_and_extras_that_are_no_tools() -> None:
    parts = read_requirements(ROOT / "pyproject.toml")
    assert "numpy>=1.23.5" in parts["core"]
    assert {"cli", "spark", "connect", "postgresql", "alerts"} <= parts.keys()
    assert {"dev", "docs", "bench"}.isdisjoint(parts)
