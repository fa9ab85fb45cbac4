"""Reads `headgate.yml`. Raises nothing: the text may hold secrets, which the locals of a traceback would show."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from headgate.project.config import Config
from headgate.project.config_errors import example_hint, mistakes_of
from headgate.project.tree import KeyPath, Tree
from headgate.values.errors import Mistake

_MAX_BYTES = 4_000_000  # a larger file is not a configuration


class ConfigReading:
    """The configuration, or its mistakes; and the place of each key."""

    def __init__(self, config: Config | None, mistakes: list[Mistake], places: Mapping[KeyPath, str]) -> None:
        self.config = config
        self.mistakes = mistakes
        self._places = places

    def find_place(self, *path: str | int) -> str:
        """The line of a key, or of the nearest key around it."""
        while path and path not in self._places:
            path = path[:-1]
        return self._places.get(path, "headgate.yml")


def read_config(file: Path, settings: Mapping[str, str]) -> ConfigReading:
    """Read a configuration from a file, with settings that replace values of the file."""
    text = _read_text(file)
    if isinstance(text, Mistake):
        return ConfigReading(None, [text], {})
    tree = Tree(str(file), text, settings, example_hint)
    if not tree.data and tree.mistakes:
        return ConfigReading(None, tree.mistakes, tree.places)
    try:
        config = Config.model_validate(tree.data)
    except ValidationError as error:
        return ConfigReading(None, sort_by_line([*tree.mistakes, *mistakes_of(error, tree)]), tree.places)
    return ConfigReading(None if tree.mistakes else config, sort_by_line(tree.mistakes), tree.places)


def sort_by_line(mistakes: list[Mistake]) -> list[Mistake]:
    """The mistakes in the order of lines; those of settings, which have no line, come last."""

    def line_number(mistake: Mistake) -> tuple[bool, int]:
        number = mistake.where.rpartition(":")[2]
        return not number.isdecimal(), int(number) if number.isdecimal() else 0

    return sorted(mistakes, key=line_number)


def _read_text(file: Path) -> str | Mistake:
    where = str(file)
    try:
        if file.is_dir():
            return Mistake(where, "", "this is a folder.", "Name the file: headgate.yml.")
        size = file.stat().st_size
        if size > _MAX_BYTES:
            return Mistake(f"{where}:1", "", f"the file has {size:,} bytes; {_MAX_BYTES:,} are the most.", "Split it.")
        content = file.read_bytes()
    except FileNotFoundError:
        return Mistake(where, "", "there is no such file.", "Write one with headgate init, or name another.")
    except OSError as error:
        return Mistake(where, "", f"it cannot be read: {error.strerror}.", "May it be read?")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return Mistake(f"{where}:{line}", "", "this is not UTF-8.", "Save the file as UTF-8.")
