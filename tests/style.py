"""`make style`: how the names of this code read, beside those of other code bases. A mirror: an exact word stays."""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.imports import SOURCE, dotted_name, find_circles, import_graph, modules

# Participles that do not end in -ed. Words that are verbs as well (cut, put, read, set, split) are not among them.
IRREGULAR = """
    begun born bought bound broken brought built caught chosen done drawn driven fallen felt found given gone grown
    heard held hidden kept known laid led left lent lost made meant met paid said seen sent shown sold spent spoken
    stood struck taken taught thought told understood won worn written
"""
NOT_PARTICIPLES = frozenset({"bed", "embed", "exceed", "feed", "need", "proceed", "red", "seed", "shed", "speed"})


_IRREGULAR = frozenset(IRREGULAR.split())


class Style(NamedTuple):
    """What is counted in one code base."""

    files: int
    functions: tuple[str, ...]
    classes: dict[str, list[str]]
    circles: list[tuple[str, ...]]

    @property
    def participles(self) -> list[str]:
        return [name for name in self.functions if is_participle(name)]

    @property
    def one_word(self) -> list[str]:
        return [name for name in self.functions if len(split_name(name)) == 1]

    @property
    def double_classes(self) -> dict[str, list[str]]:
        return {name: homes for name, homes in sorted(self.classes.items()) if len(homes) > 1}


def measure_style(package: Path) -> Style:
    """Count the names of a package. Dunder methods are Python's names, so they are left out."""
    found = modules(package)
    functions = tuple(name for module in found for name in function_names(module.tree))
    classes: dict[str, list[str]] = defaultdict(list)
    for module in found:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(dotted_name(module, package.name))
    return Style(len(found), functions, classes, find_circles(import_graph(found, package.name)))


def function_names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__"):
            yield node.name


def split_name(name: str) -> list[str]:
    return [word for word in name.split("_") if word]


def is_participle(name: str) -> bool:
    """Whether a name begins with a participle.

    >>> is_participle("told"), is_participle("_measured_before"), is_participle("measure_effects")
    (True, True, False)
    """
    words = split_name(name)
    return bool(words) and _is_participle(words[0])


def _is_participle(word: str) -> bool:
    return word in _IRREGULAR or (word.endswith("ed") and len(word) > 3 and word not in NOT_PARTICIPLES)


def main(folders: Sequence[str]) -> None:
    """Print the figures of these packages, or of ours with the names behind them."""
    for folder in [Path(each) for each in folders] or [SOURCE]:
        style = measure_style(folder)
        total = len(style.functions)
        print(f"{folder.name}: {style.files} files, {total:,} functions and methods")
        print(f"  functions named by a participle         {len(style.participles) / total:7.1%}")
        print(f"  functions whose name is one word        {len(style.one_word) / total:7.1%}")
        print(f"  class names that stand for two classes  {len(style.double_classes):7}")
        print(f"  circles of files                        {len(style.circles):7}")
        if not folders:
            _print_names(style)


def _print_names(style: Style) -> None:
    counts = Counter(style.participles).most_common()
    print("\nparticiples:", ", ".join(f"{name} {count}" if count > 1 else name for name, count in counts))
    for name, homes in style.double_classes.items():
        print(f"two classes {name}: {', '.join(homes)}")
    for circle in style.circles:
        print(f"circle: {', '.join(circle)}")


if __name__ == "__main__":
    main(sys.argv[1:])
