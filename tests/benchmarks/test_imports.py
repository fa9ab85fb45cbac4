"""Every module of benchmarks/ and training/ can be imported, so that none is found broken on the day it is needed."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


# Each script runs in an environment of its own, with the tool it is about.
SCRIPTS = (ROOT / "benchmarks" / "report" / "peers", ROOT / "benchmarks" / "peers" / "systems")


def module_names() -> list[str]:
    files = [file for folder in ("benchmarks", "training") for file in sorted((ROOT / folder).rglob("*.py"))]
    files = [file for file in files if file.parent not in SCRIPTS]
    return [".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for file in files]


@pytest.mark.parametrize("name", module_names())
def test_a_module_can_be_imported(name: str) -> None:
    importlib.import_module(name)
