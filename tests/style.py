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
    """Whether a name begins with a participle."""
    words = split_name(name)
    return bool(words) and _is_participle(words[0])


def _is_participle(word: str) -> bool:
    return word in _IRREGULAR or (word.endswith("ed") and len(word) > 3 and word not in NOT_PARTICIPLES)


def names_behind(source: str, method: str) -> dict[str, set[str]]:
    """The names from other modules that a method and what it calls in its own class and file use, by module."""
    tree = ast.parse(source)
    home = {
        alias.asname or alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("headgate")
        for alias in node.names
    }
    owner, name = method.split(".")
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == owner).body
    functions = {node.name: node for node in (*tree.body, *body) if isinstance(node, ast.FunctionDef)}
    waiting, seen, behind = [name], set(), defaultdict(set)
    while waiting:
        seen.add(word := waiting.pop())
        for node in ast.walk(functions[word]):
            if isinstance(node, ast.Name) and node.id in home:
                behind[home[node.id]].add(node.id)
            called = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            if called in functions and called not in seen:
                waiting.append(called)
    return dict(behind)


FIGURES = ("participles", "one word", "double classes", "circles")
OTHERS = {  # printed by `make style FOLDERS=...` for these releases, and for this package before decision 0029
    "headgate before 0029": (0.171, 0.761, 27, 6),
    "httpx 0.28.1": (0.006, 0.476, 0, 2),
    "narwhals 2.28.0": (0.004, 0.446, 12, 1),
    "pyiceberg 0.12.0": (0.008, 0.243, 4, 3),
}
JUDGE = "gate/gate.py", "Gate.judge"


def main(folders: Sequence[str]) -> None:
    """Print the figures of these packages; without any, ours beside those of others, and the names behind them."""
    print(f"{'':24}{''.join(f'{word:>16}' for word in FIGURES)}")
    styles = {Path(folder).name: measure_style(Path(folder)) for folder in folders or [str(SOURCE)]}
    for name, style in styles.items():
        total = len(style.functions)
        shares = len(style.participles) / total, len(style.one_word) / total
        _print_row(name, (*shares, len(style.double_classes), len(style.circles)))
    if not folders:
        for name, figures in OTHERS.items():
            _print_row(name, figures)
        _print_names(styles[SOURCE.name])


def _print_row(name: str, figures: tuple[float, float, int, int]) -> None:
    participles, one_word, double, circles = figures
    print(f"{name:24}{participles:16.1%}{one_word:16.1%}{double:16}{circles:16}")


def _print_names(style: Style) -> None:
    counts = Counter(style.participles).most_common()
    print("\nparticiples:", ", ".join(f"{name} {count}" if count > 1 else name for name, count in counts))
    for name, homes in style.double_classes.items():
        print(f"two classes {name}: {', '.join(homes)}")
    for circle in style.circles:
        print(f"circle: {', '.join(circle)}")
    file, method = JUDGE
    behind = names_behind((SOURCE / file).read_text(encoding="utf-8"), method)
    names = sum(map(len, behind.values()))
    print(f"{method}: {names} imported names from {len(behind)} modules (before 0029: 35 from 17)")


if __name__ == "__main__":
    main(sys.argv[1:])
