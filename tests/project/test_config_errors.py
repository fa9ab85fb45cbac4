"""Every mistake in `headgate.yml` is told with its file, its line, its key, what is wrong and what to write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from headgate.project.config import Config
from headgate.project.project import Project
from headgate.values.errors import ConfigError, HeadgateError, MisuseError
from tests.project.files import PLAIN, written
from tests.project.mistakes import EVERY, Case


def told(folder: Path, text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        Project.open(written(folder, text))
    return caught.value


@pytest.mark.parametrize("case", EVERY.values(), ids=list(EVERY))
def test_a_mistake_names_its_line_its_key_and_what_to_write(case: Case, tmp_path: Path) -> None:
    error = told(tmp_path, case.text)
    (mistake,) = error.mistakes
    assert mistake.where == f"{tmp_path / 'headgate.yml'}:{case.line}"
    assert mistake.key == case.key
    assert case.wrong in mistake.message
    assert case.write in mistake.hint
    assert str(error) == str(mistake)
    assert str(error).startswith(f"{mistake.where}: {f'{case.key}: ' if case.key else ''}")


@pytest.mark.parametrize("case", EVERY.values(), ids=list(EVERY))
def test_words_of_libraries_are_not_passed_on(case: Case, tmp_path: Path) -> None:
    words = str(told(tmp_path, case.text)).lower()
    assert not [word for word in ("pydantic", "validation", "input_value", "errors.") if word in words]


def test_all_mistakes_are_told_at_once_in_the_order_of_lines(tmp_path: Path) -> None:
    text = f"{PLAIN}    runs: many\n    checks:\n      - is_complet: a\n      - has_meen: b\nvalues: open\nzzz: 1\n"
    error = told(tmp_path, text)
    assert [mistake.where.rpartition(":")[2] for mistake in error.mistakes] == ["5", "7", "8", "9", "10"]
    assert len(str(error).splitlines()) == 5


def test_a_misspelled_key_is_not_also_missing(tmp_path: Path) -> None:
    error = told(tmp_path, PLAIN.replace("store:", "stor:"))
    assert [mistake.message for mistake in error.mistakes] == ["the key 'stor' is not known;"]


def test_a_file_that_is_not_there_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere.yml: there is no such file. Write one with headgate init"):
        Project.open(tmp_path / "nowhere.yml")


def test_a_folder_is_no_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"this is a folder. Name the file: headgate.yml"):
        Project.open(tmp_path)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_says_so(tmp_path: Path) -> None:
    file = written(tmp_path)
    file.chmod(0)
    with pytest.raises(ConfigError, match="it cannot be read"):
        Project.open(file)


def test_bytes_that_are_no_text_name_their_line(tmp_path: Path) -> None:
    file = tmp_path / "headgate.yml"
    file.write_bytes(b"store: x\nreports: \xff\n")
    with pytest.raises(ConfigError, match=r"headgate.yml:2: this is not UTF-8. Save the file as UTF-8"):
        Project.open(file)


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    file = tmp_path / "headgate.yml"
    file.write_bytes(b"\xef\xbb\xbf" + PLAIN.encode())
    assert Project.open(file).names == ("orders",)


def test_an_unknown_dataset_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no dataset 'order'; there are orders\. Did you mean 'orders'"):
        Project.open(written(tmp_path)).dataset("order")


def test_a_configuration_error_is_misuse(tmp_path: Path) -> None:
    error = told(tmp_path, "")
    assert isinstance(error, MisuseError)
    assert isinstance(error, HeadgateError)
    assert error.hint.startswith("Write store:")


def test_a_configuration_cannot_be_changed(tmp_path: Path) -> None:
    config = Project.open(written(tmp_path)).config
    with pytest.raises(ValueError, match="frozen"):
        config.values = "plain"


def test_a_configuration_may_be_made_in_python() -> None:
    rules = [{"is_complete": ["a", "b"]}, {"metric": "mean(price)", "at_least": 5}]
    config = Config.model_validate(
        {"store": "memory:", "datasets": {"orders": {"source": {"path": "x"}, "checks": rules}}}
    )
    assert [rule.name for rule in config.datasets["orders"].checks.rules] == ["is_complete", "metric"]
