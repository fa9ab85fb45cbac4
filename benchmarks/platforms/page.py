# ruff: noqa: E501
"""The page about platforms, written from the results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "platforms-benchmark.md"


def write_page(found: dict[str, Any]) -> None:
    PAGE.write_text("\n".join([*_describe(found), ""]), encoding="utf-8")


def _describe(found: dict[str, Any]) -> Iterator[str]:
    yield "# Platforms"
    yield ""
    yield "Written by `make platforms LANES=--write`; do not edit. For each platform: an environment with the packages that its notes list (`benchmarks/platforms/lanes/`), `pip install headgate` on top of it, and the default metrics of 12 columns of all types on its version of Spark, through a classic and a Connect session, held against the engine without Spark. These are the platforms' packages, not the platforms: [what was not tried](guides/platforms.md)."
    yield ""
    yield "| platform | Python | Spark | packages that were there | replaced | brought | classic | Connect |"
    yield "|---|---|---|---|---|---|---|---|"
    for each in found.values():
        pins = [pin for pin in each["pins"] if not pin.startswith("pyspark")]
        replaced = ", ".join(f"{name} {change}" for name, change in each["replaced"].items()) or "nothing"
        row = (
            each["title"],
            _python(each),
            each["versions"]["pyspark"],
            ", ".join(pin.replace("==", " ") for pin in pins),
            replaced,
            ", ".join(each["added"]),
            _session(each.get("classic")),
            _session(each.get("connect")),
        )
        yield f"| {' | '.join(row)} |"
    yield ""
    yield "Seconds are those of the whole run, with the start of Spark, on two shared cores. Where the Python of a platform could not be had, 3.11 was taken, as the table says."


def _python(found: dict[str, Any]) -> str:
    return (
        found["python"]
        if found["python"].startswith(found["wanted_python"])
        else f"{found['python']} (has {found['wanted_python']})"
    )


def _session(found: dict[str, Any] | None) -> str:
    if found is None or "missing" in found:
        return "not run" if found is None else f"not run: {found['missing']}"
    if "error" in found and "metrics" not in found:
        return found["error"].replace("|", "\\|")
    equal = "all equal" if not found["wrong"] else f"{found['wrong']} wrong"
    return f"{found['metrics']} metrics, {equal}, {found['jobs']} job{'s' if found['jobs'] != 1 else ''}, {found['seconds']:.0f} s"
