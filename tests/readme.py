"""Runs the Python blocks of README.md in order, as one program: `python -m tests.readme [file]`.

A block that starts with `>>>` is run as a doctest. A block fenced as ```` ```python no-run ```` is left out.
"""

from __future__ import annotations

import doctest
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<info>[^`]*)$")


class Block(NamedTuple):
    """The text of one fenced Python block and the line of the file where the text begins."""

    line: int
    text: str


def python_blocks(markdown: str) -> list[Block]:
    """The Python blocks to run.

    >>> python_blocks("intro\\n```python\\nx = 1\\n```\\n```bash\\nls\\n```\\n```python no-run\\nx = 2\\n```\\n")
    [Block(line=3, text='x = 1\\n')]
    """
    blocks: list[Block] = []
    opening: re.Match[str] | None = None
    began = 0
    lines: list[str] = []
    for number, line in enumerate(markdown.splitlines(), start=1):
        fence = FENCE.match(line)
        if opening is None:
            if fence:
                opening, began, lines = fence, number + 1, []
        elif fence and not fence["info"].strip() and len(fence["ticks"]) >= len(opening["ticks"]):
            if is_run(opening["info"]):
                blocks.append(Block(began, "".join(f"{text}\n" for text in lines)))
            opening = None
        else:
            lines.append(line.removeprefix(opening["indent"]))
    if opening is not None:
        raise SyntaxError(f"the block that starts before line {began} is never closed")
    return blocks


def is_run(info: str) -> bool:
    language, *options = info.split() or [""]
    return language.lower() in {"python", "py"} and "no-run" not in options


def run(block: Block, name: str, names: dict[str, Any]) -> None:
    """Runs one block in the shared names; line numbers in tracebacks are those of the file."""
    if block.text.lstrip().startswith(">>>"):
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        test = doctest.DocTestParser().get_doctest(block.text, names, f"line {block.line}", name, block.line - 1)
        if doctest.DocTestRunner(optionflags=flags).run(test, clear_globs=False).failed:
            raise SystemExit(1)
        names.update(test.globs)
    else:
        code = compile("\n" * (block.line - 1) + block.text, name, "exec")
        exec(code, names)


def main(arguments: list[str]) -> int:
    path = Path(arguments[0]).resolve() if arguments else ROOT / "README.md"
    blocks = python_blocks(path.read_text(encoding="utf-8"))
    if not blocks:
        print(f"{path.name} has no Python block to run", file=sys.stderr)
        return 1
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    names: dict[str, Any] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)  # what the quickstart writes does not land in the checkout
        try:
            for block in blocks:
                print(f"-- {path.name}, line {block.line}", flush=True)
                run(block, str(path), names)
        finally:
            os.chdir(ROOT)
    print(f"{path.name}: {len(blocks)} blocks ran")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
