"""Writes the stubs that editors and type checkers read: the public names of the package, and the methods of a check."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import headgate
from headgate.checks.constraint import constraints
from headgate.metrics.base.registry import metrics

ROOT = Path(__file__).resolve().parents[1]

PACKAGE_HEAD = """# The public names with their types. Written by `make docs` from `__init__.py`; do not edit.
"""


def package_stub() -> str:
    """Every public name, imported from where it lives. Metrics that another package registers are not among them."""
    own = [kind for kind in metrics().values() if kind.__module__.startswith("headgate.")]
    homes = {**headgate._HOME, **{kind.__name__: kind.__module__ for kind in own}}
    version = {"__version__": "headgate.values.version"}
    lines = [
        f"from {home} import {name} as {name}"
        for name, home in sorted({**homes, **version}.items(), key=lambda item: item[::-1])
    ]
    listed = "\n".join(f'    "{name}",' for name in sorted(homes))
    return format_stub("\n".join([PACKAGE_HEAD, *lines, "", "__all__ = [", listed, "]", ""]))


CHECK_HEAD = '"""The methods of a check. Written by `make docs` from the constraints; do not edit."""\n'
CHECK_IMPORTS = """
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Protocol, Self, TypedDict, Unpack

from headgate.checks.thresholds import Number
from headgate.metrics.base.sql import Value
from headgate.values.key import MetricKey
from headgate.values.predicate import Predicate

class Keyed(Protocol):
    @property
    def key(self) -> MetricKey: ...

class Scope(TypedDict, total=False):
    where: str | None
    by: str | Sequence[str]
    level: str

class Expected(Scope, total=False):
    between: tuple[Number, Number] | list[Number]
    at_least: Number
    at_most: Number
    equals: Number
    one_of: Sequence[Number]
    warn: Predicate | Mapping[str, Any] | Callable[[Any], object]
    error: Predicate | Mapping[str, Any] | Callable[[Any], object]

class ExpectedOfMany(Expected, total=False):
    holds: Callable[[Any], object]

class Methods:
"""
# what a constraint takes, where that is more than what it stores
KEY = "str | MetricKey | Keyed"
TAKEN = {
    ("has_no_anomalies", "metric"): KEY,
    ("has_no_anomalies", "detector"): KEY,
    ("is_fresh", "within"): "str | timedelta",
    ("metric", "key"): KEY,
}


def check_stub() -> str:
    """The methods of `hg.Check`, one for every constraint."""
    methods = []
    for name, each in constraints().items():
        given = ["self", *(_parameter(name, parameter) for parameter in each.parameters)]
        kinds = [parameter.kind for parameter in each.parameters]
        words = "Scope" if each.fixed else "Expected"
        if not each.fixed and inspect.Parameter.VAR_POSITIONAL in kinds:
            words = "ExpectedOfMany"
        elif not each.fixed:
            at = next((place for place, kind in enumerate(kinds) if kind is inspect.Parameter.KEYWORD_ONLY), len(kinds))
            given.insert(at + 1, "holds: Callable[[Any], object] | None = None")
            if at < len(kinds):
                given.insert(at + 2, "*")
        head = f"    def {name}({', '.join(given)}, **modifiers: Unpack[{words}]) -> Self:"
        methods.append(f'{head}\n        """{each.says}"""\n')
    return format_stub(CHECK_HEAD + CHECK_IMPORTS + "\n".join(methods))


def _parameter(name: str, parameter: inspect.Parameter) -> str:
    given = parameter.annotation
    text = TAKEN.get((name, parameter.name)) or (
        given if isinstance(given, str) else getattr(given, "__name__", str(given))
    )
    star = "*" if parameter.kind is inspect.Parameter.VAR_POSITIONAL else ""
    default = "" if parameter.default is inspect.Parameter.empty else f" = {parameter.default!r}"
    return f"{star}{parameter.name}: {text}{default}"


def format_stub(source: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "stub.pyi", "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True, cwd=ROOT).stdout
