"""What users of the package install with it: its requirements and theirs, as this environment has them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from release import ReleaseError
from release.spdx import read_licence

CORE = "core"
# Extras for people who work on Headgate; users install none of them.
TOOLS = frozenset({"bench", "docs", "dev"})


@dataclass(frozen=True)
class Dependency:
    """A package that is installed, with the names of the packages that it needs here."""

    name: str
    version: str
    licence: str
    requires: tuple[str, ...]


def read_requirements(pyproject: Path) -> dict[str, list[str]]:
    """The requirements of the core and of each extra for users, by its name."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = {name: needs for name, needs in project["optional-dependencies"].items() if name not in TOOLS}
    return {CORE: project["dependencies"], **extras}


def resolve_dependencies(requirements: Iterable[str]) -> list[Dependency]:
    """All packages that the requirements bring, by name; an extra such as `psycopg[binary]` brings its own."""
    waiting = select_needed(requirements)
    requires: dict[str, set[str]] = {}
    seen = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        for extra in ("", *requirement.extras):
            if (name, extra) not in seen:
                seen.add((name, extra))
                needs = select_needed(find_installed(name).requires or [], extra)
                requires.setdefault(name, set()).update(canonicalize_name(need.name) for need in needs)
                waiting += needs
    return [make_dependency(name, needs - {name}) for name, needs in sorted(requires.items())]


def select_needed(requirements: Iterable[str], extra: str = "") -> list[Requirement]:
    """The requirements that hold for this Python and this platform."""
    parsed = map(Requirement, requirements)
    return [need for need in parsed if need.marker is None or need.marker.evaluate({"extra": extra})]


def find_installed(name: str) -> Distribution:
    try:
        return distribution(name)
    except PackageNotFoundError as error:
        raise ReleaseError(f"{name} is not installed, so its licence is not known. Run `make setup`.") from error


def make_dependency(name: str, needs: Iterable[str]) -> Dependency:
    package = find_installed(name)
    return Dependency(name, package.version, read_licence(package.metadata), tuple(sorted(needs)))
