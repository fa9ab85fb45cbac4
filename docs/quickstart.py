"""Types the commands of docs/quickstart.md and puts what they say into it; `--check` fails where it says otherwise.

`python -m docs.quickstart [--check]`. Times and folders differ from machine to machine and are not compared.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from headgate.cli.init import demo

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "quickstart.md"
BLOCK = re.compile(r"^```(?P<kind>console|yaml)\n(?P<inside>.*?)^```$", re.DOTALL | re.MULTILINE)
FOLDER = "/home/ann/demo"
LEFT_OUT = "..."
MACHINE = re.compile(r"^ok +(?:headgate|Python|pyspark|Java|disk) .*\n", re.MULTILINE)
CODES = {"headgate run": 1}
"""How a command ends, if not with 0."""


def some_of_the_run(lines: list[str]) -> list[str]:
    """The first days, one day that was held, and the end."""
    held = next(at for at, line in enumerate(lines) if "2013-02-03 failed" in line)
    end = next(at for at, line in enumerate(lines) if re.match(r"\d+ batches", line))
    blank = next((at for at in range(held, end) if not lines[at].strip()), end)
    return [*lines[:3], LEFT_OUT, *lines[held:blank], LEFT_OUT, *lines[end:]]


SHORTER: dict[str, Callable[[list[str]], list[str]]] = {"headgate run": some_of_the_run}


def said(command: str, folder: Path) -> str:
    """What a command prints, as the page shows it."""
    words = {name: value for name, value in os.environ.items() if not name.startswith("HEADGATE")}
    words |= {"PYTHONPATH": str(ROOT / "src"), "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "COLUMNS": "120"}
    typed = [sys.executable, "-m", "headgate", *shlex.split(command)[1:]]
    done = subprocess.run(
        typed, cwd=folder, env=words, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode != CODES.get(command, 0):
        raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    lines = done.stdout.replace(str(folder), FOLDER).splitlines()
    return "\n".join(line.rstrip() for line in SHORTER.get(command, list)(lines))


def block(kind: str, inside: str, folder: Path) -> str:
    """A fenced block anew: commands followed by what they say; the configuration of the demo."""
    if kind == "yaml":
        return f"```yaml\n{demo.CONFIG.read_text(encoding='utf-8')}```"
    commands = [line.removeprefix("$ ") for line in inside.splitlines() if line.startswith("$ ")]
    told = [f"$ {command}\n{said(command, folder)}" for command in commands]
    return "```console\n" + "\n".join(told) + "\n```"


def page(text: str) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        return BLOCK.sub(lambda found: block(found["kind"], found["inside"], folder), text)


def compared(text: str) -> str:
    """The page without what the machine decides.

    >>> compared("judged in 0.15 s, then   12.3 s")
    'judged in # s, then # s'
    """
    return re.sub(r" +[\d.,]+ (s|ms|GB)\b", r" # \1", MACHINE.sub("", text))


def main(arguments: list[str]) -> int:
    text = PAGE.read_text(encoding="utf-8")
    made = page(text)
    if "--check" not in arguments:
        PAGE.write_text(made, encoding="utf-8")
    elif compared(made) != compared(text):
        import difflib

        sys.stderr.writelines(
            difflib.unified_diff(compared(text).splitlines(True), compared(made).splitlines(True), "page", "said")
        )
        print("docs/quickstart.md is not what the commands say; run `python -m docs.quickstart`.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
