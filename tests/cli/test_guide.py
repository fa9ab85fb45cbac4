"""The guide to the command line shows what is printed: `python -m tests.cli.test_guide` writes it again."""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from headgate.store.files import identity
from tests.cli.lake import CONFIG, called, write_lake
from tests.gate.orders import orders

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "command-line.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
_YAML = re.compile(r"```yaml\n(.*?)```", re.DOTALL)
_TIME = re.compile(r"(, in)? +\d+\.\d+ s\b")


def printed(line: str, folder: Path) -> str:
    """What a command of the guide prints, with times left out and paths made short."""
    words, _, target = line.removeprefix("$ headgate ").partition(" > ")
    result = called(*shlex.split(words))
    if target:
        Path(target).write_text(result.stdout)
        return ""
    return _TIME.sub("", result.stdout + result.stderr).replace(f"{folder}/", "")


def rewritten(text: str, folder: Path) -> str:
    """The guide with what its commands print now."""

    def again(found: re.Match[str]) -> str:
        lines = [line for line in found.group(1).splitlines() if line.startswith("$ ")]
        return "```console\n" + "".join(f"{line}\n{printed(line, folder)}" for line in lines) + "```"

    text = _YAML.sub(lambda _: f"```yaml\n{CONFIG}```", text, count=1)
    return BLOCK.sub(again, text)


def fix_secret(patch: pytest.MonkeyPatch) -> None:
    """Let every new store have the same secret: hidden values are hashed with it, and limits depend on the hashes."""
    patch.setattr(identity, "token_bytes", bytes)


def test_the_guide_shows_what_is_printed(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fix_secret(monkeypatch)
    pq.write_table(orders(0), "orders.parquet")
    text = GUIDE.read_text(encoding="utf-8")
    assert rewritten(text, lake) == text, "python -m tests.cli.test_guide writes it again"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        fix_secret(patch)
        os.chdir(write_lake(Path(folder).resolve()))
        pq.write_table(orders(0), "orders.parquet")
        GUIDE.write_text(rewritten(GUIDE.read_text(encoding="utf-8"), Path.cwd()), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
