"""Tests lie where their modules lie: `tests/<room>/test_<module>.py`, or the module's docstring names its test."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.imports import SOURCE, Module, modules

TESTS = Path(__file__).parent
ROOMS = {"cli", "evaluate", "explain", "gate", "learn"}
NAMED = re.compile(r"`(tests/[\w/]+\.py)`")


def find_tests(module: Module, tests: Path = TESTS) -> list[Path]:
    """The test file of a module's own name, or those that its docstring names."""
    own = tests.joinpath(*module.parts[:-1], f"test_{module.parts[-1]}.py")
    if own.exists():
        return [own]
    return [tests.parent / name for name in NAMED.findall(ast.get_docstring(module.tree) or "")]


MODULES = [module for module in modules(SOURCE) if module.room in ROOMS and module.path.name != "__init__.py"]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: ".".join(module.parts))
def test_a_module_has_its_test(module: Module) -> None:
    found = find_tests(module)
    own = f"tests/{'/'.join(module.parts[:-1])}/test_{module.parts[-1]}.py"
    assert found, f"write {own}, or name the test in the docstring"
    assert [path for path in found if not path.exists()] == []


def test_a_module_without_a_test_is_seen(tmp_path: Path) -> None:
    module = Module(tmp_path / "a.py", ("gate", "a"), ast.parse('"""Does a. `tests/gate/test_b.py` covers it."""'))
    assert find_tests(module, tmp_path / "tests") == [tmp_path / "tests/gate/test_b.py"]
    bare = Module(tmp_path / "a.py", ("gate", "a"), ast.parse('"""Does a."""'))
    assert find_tests(bare, tmp_path / "tests") == []
