"""Runs the Python blocks of a page in order, as one program: `python -m tests.readme [page ...]`; all pages if none.

A block that starts with `>>>` is run as a doctest. A block fenced as ```` ```python no-run (why) ```` is left out.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<info>[^`]*)$")
PLACES = ("README.md", "docs/**/*.md", "examples/**/*.md")
LONGEST = 1_200  # seconds that a page may take, also on a busy machine


class Block(NamedTuple):
    """The text of one fenced Python block and the line of the file where the text begins."""

    line: int
    text: str


def python_blocks(markdown: str) -> list[Block]:
    """The Python blocks to run.

    >>> python_blocks("intro\\n```python\\nx = 1\\n```\\n```bash\\nls\\n```\\n```python no-run (slow)\\nx = 2\\n```\\n")
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


def pages() -> list[Path]:
    """Every page that has a block to run."""
    found = (page for place in PLACES for page in sorted(ROOT.glob(place)))
    return [page for page in found if python_blocks(page.read_text(encoding="utf-8"))]


def run_page(path: Path) -> int:
    blocks = python_blocks(path.read_text(encoding="utf-8"))
    if not blocks:
        print(f"{path.name} has no Python block to run", file=sys.stderr)
        return 1
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    names: dict[str, Any] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)  # what a page writes does not land in the checkout
        try:
            for block in blocks:
                print(f"-- {path.name}, line {block.line}", flush=True)
                run(block, str(path), names)
        finally:
            os.chdir(ROOT)
    print(f"{path.name}: {len(blocks)} blocks ran")
    return 0


def run_apart(page: Path) -> bool:
    """A page in a process of its own, so that no page leans on another; what it printed is shown if it broke."""
    began = time.monotonic()
    command = [sys.executable, "-m", "tests.readme", str(page)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LONGEST, check=False)
        broke, said = done.returncode != 0, done.stdout + done.stderr
    except subprocess.TimeoutExpired as late:
        broke, said = True, f"{late}"
    word = "FAILED" if broke else "ran"
    print(f"{page.relative_to(ROOT)} {word} in {time.monotonic() - began:.1f} s\n{said if broke else ''}", end="")
    return not broke


def run_all(found: Sequence[Path]) -> int:
    began = time.monotonic()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        ran = list(pool.map(run_apart, found))
    print(f"{sum(ran)} of {len(ran)} pages ran, in {time.monotonic() - began:.0f} s")
    return int(not all(ran))


def main(arguments: list[str]) -> int:
    if len(arguments) == 1:
        return run_page(Path(arguments[0]).resolve())
    return run_all([Path(each).resolve() for each in arguments] or pages())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
