"""What type checkers say to users of the installed package: nothing of a good program, and every mistake."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import headgate
from tests.typing.checkers import CHECKERS, Errors
from tests.typing.completions import complete

pytestmark = pytest.mark.typing

HERE = Path(__file__).parent
MISTAKES = {
    matched[1]: number
    for number, line in enumerate((HERE / "mistakes.py").read_text(encoding="utf-8").splitlines(), 1)
    if (matched := re.search(r"# mistake: (.+)$", line))
}


@pytest.fixture(scope="session")
def errors(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Errors]:
    """What a checker finds in a file of this folder, copied to where nothing of the checkout is seen."""

    @cache
    def find(checker: str, name: str) -> Errors:
        folder = tmp_path_factory.mktemp(f"{checker}_{Path(name).stem}")
        return CHECKERS[checker](Path(shutil.copy(HERE / name, folder)), installed)

    return find


each_checker = pytest.mark.parametrize("checker", CHECKERS)


@each_checker
def test_a_good_program_passes(checker: str, errors: Callable[[str, str], Errors]) -> None:
    assert errors(checker, "good.py") == {}


@each_checker
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_found(checker: str, mistake: str, errors: Callable[[str, str], Errors]) -> None:
    assert MISTAKES[mistake] in errors(checker, "mistakes.py")


@each_checker
def test_nothing_but_the_mistakes_is_found(checker: str, errors: Callable[[str, str], Errors]) -> None:
    assert set(errors(checker, "mistakes.py")) == set(MISTAKES.values())


def test_an_editor_completes_every_public_name(installed: Path, tmp_path: Path) -> None:
    assert set(headgate.__all__) <= set(complete("hg.", installed, tmp_path))


def test_an_editor_completes_the_constraints_of_a_check(installed: Path, tmp_path: Path) -> None:
    found = complete('hg.Check("orders").', installed, tmp_path)
    assert {"is_complete", "is_unique", "has_mean", "to_yaml"} <= set(found)
