"""The source as modules and their imports, read without running it: lazy imports and those for types count."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).resolve().parents[1] / "src" / "headgate"
FACE = {"__init__", "__main__"}  # modules of the package root


class Module(NamedTuple):
    """One source file: where it is inside the package (`("engine", "plan")`) and what it says."""

    path: Path
    parts: tuple[str, ...]
    tree: ast.Module

    @property
    def room(self) -> str:
        return self.parts[0]

    @property
    def package(self) -> tuple[str, ...]:
        return self.parts if self.path.name == "__init__.py" else self.parts[:-1]


class Found(NamedTuple):
    """A dotted name that a line imports."""

    line: int
    target: tuple[str, ...]


def modules(package: Path) -> list[Module]:
    found = []
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package).with_suffix("").parts
        parts = inside[:-1] if inside[-1] == "__init__" and len(inside) > 1 else inside
        found.append(Module(path, parts, ast.parse(path.read_bytes(), filename=str(path))))
    return found


def imports(module: Module, package: str = "headgate") -> Iterator[Found]:
    """Every imported name, relative ones made absolute; `import_module("x")` counts."""
    for node in ast.walk(module.tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield Found(node.lineno, tuple(alias.name.split(".")))
            case ast.ImportFrom(module=source, names=names, level=level):
                start = absolute(module, level, package) + tuple(source.split(".") if source else ())
                for alias in names:
                    yield Found(node.lineno, start if alias.name == "*" else (*start, alias.name))
            case ast.Call(func=func, args=[ast.Constant(value=str(name)), *_]) if called(func) in {
                "import_module",
                "__import__",
            }:
                dots = len(name) - len(name.lstrip("."))
                yield Found(node.lineno, absolute(module, dots, package) + tuple(name.lstrip(".").split(".")))


def absolute(module: Module, level: int, package: str = "headgate") -> tuple[str, ...]:
    """What the leading dots of a relative import stand for."""
    if level == 0:
        return ()
    inside = () if module.parts[0] in FACE else module.package
    return (package, *inside[: len(inside) - (level - 1)])


def called(func: ast.expr) -> str:
    """The last name of a call: `import_module` for `importlib.import_module`."""
    match func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def import_graph(found: Sequence[Module], package: str = "headgate") -> dict[str, set[str]]:
    """Which files each file imports, by dotted name."""
    names = {dotted_name(module, package): module for module in found}
    graph: dict[str, set[str]] = {name: set() for name in names}
    for name, module in names.items():
        for _, target in imports(module, package):
            reached = next((known for cut in (0, 1) if (known := ".".join(target[: len(target) - cut])) in names), None)
            if reached is not None and reached != name:
                graph[name].add(reached)
    return graph


def dotted_name(module: Module, package: str = "headgate") -> str:
    inside = module.parts if module.parts != ("__init__",) else ()
    return ".".join((package, *inside))


def find_circles(graph: Mapping[str, set[str]]) -> list[tuple[str, ...]]:
    """Groups of files that import each other, directly or through others (Tarjan 1972)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    circles: list[tuple[str, ...]] = []

    def visit(name: str) -> None:
        order[name] = lowest[name] = len(order)
        stack.append(name)
        for target in sorted(graph[name]):
            if target not in order:
                visit(target)
                lowest[name] = min(lowest[name], lowest[target])
            elif target in stack:
                lowest[name] = min(lowest[name], order[target])
        if lowest[name] == order[name]:
            at = stack.index(name)
            group = tuple(sorted(stack[at:]))
            del stack[at:]
            if len(group) > 1:
                circles.append(group)

    for name in sorted(graph):
        if name not in order:
            visit(name)
    return circles
