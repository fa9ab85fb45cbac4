"""The page of licences: `make licences` writes docs/licences.md from what is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from release.dependencies import CORE, Dependency, read_requirements, resolve_dependencies
from release.spdx import ALLOWED, NOTED, is_allowed, list_licences

ROOT = Path(__file__).resolve().parents[1]
PAGE = "docs/licences.md"

HEAD = """# Licences of dependencies

Every package that `pip install headgate` or one of its extras installs, with its licence. Headgate itself is under the
[Apache License 2.0](license.md).

`make licences` writes this page from the metadata of the installed packages; do not edit it. `make release-check` says
if it is out of date, and fails if a licence is not allowed. It describes Python 3.11 on Linux; other platforms can need
fewer or more packages.
"""

TERMS = """## What is allowed

The core depends only on packages under these licences:
{allowed}.
An extra may also depend on packages under {noted}. A test fails for any other licence, among them every GPL and AGPL.

A built package can hold libraries of other projects: numpy and scipy hold the runtime library of a compiler, pyspark
holds jars. Their licences are in the licence files of that package, not in this table.
"""


def resolve_all(pyproject: Path) -> dict[str, list[Dependency]]:
    """The dependencies of the core and of each extra."""
    return {part: resolve_dependencies(needs) for part, needs in read_requirements(pyproject).items()}


def find_refused(resolved: Mapping[str, Sequence[Dependency]]) -> list[str]:
    """One sentence for each dependency whose licence is not allowed where it is needed."""
    return [
        f"{dependency.name} {dependency.version}, needed by {part}, is under {dependency.licence}. "
        "Do without it; or, if its licence file names an allowed licence, add it to release/spdx.py."
        for part, dependencies in resolved.items()
        for dependency in dependencies
        if not is_allowed(dependency.licence, ALLOWED if part == CORE else ALLOWED | NOTED.keys())
    ]


def make_page(resolved: Mapping[str, Sequence[Dependency]]) -> str:
    licences = {package.name: package.licence for packages in resolved.values() for package in packages}
    needed_by = {name: [part for part in resolved if name in _names(resolved[part])] for name in licences}
    lines = ["| package | licence | needed by |", "|---|---|---|"]
    for name, licence in sorted(licences.items()):
        parts = [CORE] if CORE in needed_by[name] else needed_by[name]
        lines.append(f"| {name} | {licence} | {', '.join(parts)} |")
    return "\n".join([HEAD, *lines, "", _describe_terms(), *_describe_noted(licences)])


def _names(dependencies: Sequence[Dependency]) -> set[str]:
    return {dependency.name for dependency in dependencies}


def _describe_terms() -> str:
    return TERMS.format(allowed=", ".join(sorted(ALLOWED)), noted=" or ".join(NOTED))


def _describe_noted(licences: Mapping[str, str]) -> list[str]:
    lines = ["## Licences with conditions", "", "| licence | packages | condition |", "|---|---|---|"]
    for noted, condition in NOTED.items():
        names = sorted(name for name, licence in licences.items() if noted in list_licences(licence))
        lines.append(f"| {noted} | {', '.join(names)} | {condition} |")
    return [*lines, "", "Headgate contains none of these packages; pip installs them, unchanged, beside it.", ""]


if __name__ == "__main__":
    (ROOT / PAGE).write_text(make_page(resolve_all(ROOT / "pyproject.toml")), encoding="utf-8")
