"""Every command on a terminal, in a project whose names and notes are written to take the terminal over.

Before, the progress bar printed the names of datasets and partitions as they are: a name could clear the screen, hide a
link, or turn the line around. So did YAML and JSON on a terminal, and a name with a line break could forge a line.
"""

from __future__ import annotations

import os
import pty
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from headgate.cli.app import app
from headgate.cli.context import CommandContext
from headgate.engine.progress import Progress
from headgate.values.key import MetricKey

HOSTILE = (
    "n\x1b[77m\x1b]8;;evil:x\x07link\x1b]8;;\x07\x9b2J\x9d0;t\x9c\u202egpj\u2066\x7f\r\n"
    "FORGED [red]m[/red][link=evil]k[/link]"
)
RAW = ("\x1b[77m", "\x1b]8", "\x1b]0", "\x07", "\x9b", "\x9c", "\x9d", "\u202e", "\u2066", "\x7f")
DATASET, COLUMN, NOTE = f"d{HOSTILE}", f"c{HOSTILE}", f"note {HOSTILE}"
DAYS = [f"2026-11-{day:02}{HOSTILE.replace('/', '')}" for day in (10, 11, 12)]  # a folder's name has no slash
LAST = DAYS[-1]
COLUMN_METRIC = str(MetricKey("completeness", (COLUMN,)))
_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # what rich prints itself

COMMANDS: dict[str, list[str]] = {
    "profile": ["profile", DATASET, "--partition", LAST],
    "profile of a file": ["profile", f"lake/day={LAST}/part.parquet"],
    "profile of no file": ["profile", HOSTILE],
    "suggest": ["suggest", DATASET, "--partition", LAST],
    "suggest --python": ["suggest", DATASET, "--partition", LAST, "--python"],
    "suggest --why": ["suggest", DATASET, "--partition", LAST, "--why"],
    "check": ["check", DATASET, "--partition", LAST],
    "check -v": ["check", DATASET, "--partition", LAST, "-v"],
    "run": ["run", "-v"],
    "run of one": ["run", DATASET, "--partition", LAST],
    "explain": ["explain", DATASET, LAST],
    "explain -v": ["explain", DATASET, LAST, "-v"],
    "explain no run": ["explain", DATASET, HOSTILE],
    "rows": ["rows", DATASET, LAST],
    "rows without a column": ["rows", DATASET, LAST, "--column", HOSTILE],
    "rows with a traceback": ["rows", DATASET, LAST, "--column", HOSTILE, "-vv"],
    "reject": ["reject", DATASET, LAST, "--note", NOTE, "--who", HOSTILE],
    "explain what was rejected": ["explain", DATASET, LAST],
    "history": ["history", DATASET],
    "history of a metric": ["history", DATASET, "--metric", COLUMN_METRIC],
    "history of size": ["history", DATASET, "--metric", "size()"],
    "backtest": ["backtest", DATASET],
    "report": ["report", "--output", "pages"],
    "doctor": ["doctor"],
    "index infer": ["index", "infer", f"lake/day={LAST}/part.parquet"],
    "JSON": ["explain", DATASET, LAST, "--output-json", "-"],
    "JSON into no folder": ["explain", DATASET, LAST, "--output-json", f"no{HOSTILE}/x.json"],
    "accept": ["accept", DATASET, LAST, "--note", NOTE, "--who", HOSTILE],
    "release": ["release", DATASET, LAST, "--note", NOTE],
    "discard": ["discard", DATASET, LAST, "--note", NOTE],
    "another dataset": ["run", HOSTILE],
    "another setting": ["run", "--set", HOSTILE],
    "another configuration": ["run", "--config", HOSTILE],
    "init": ["init", "--config", "other.yml"],
}


class Terminal:
    """A pseudo-terminal that stands for standard output and standard error."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def call(self, *words: str) -> str:
        """What the command prints."""
        with self.open() as printed, suppress(SystemExit):
            app(list(words), prog_name="headgate")
        return b"".join(printed).decode("utf-8")

    @contextmanager
    def open(self) -> Iterator[list[bytes]]:
        master, slave = pty.openpty()
        printed: list[bytes] = []

        def read() -> None:
            with suppress(OSError):
                while data := os.read(master, 65_536):
                    printed.append(data)

        reader = threading.Thread(target=read)
        reader.start()
        with os.fdopen(slave, "w", encoding="utf-8", errors="replace") as stream, self._monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", stream)
            patch.setattr(sys, "stderr", stream)
            yield printed
        reader.join()
        os.close(master)


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "HEADGATE_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    for day in DAYS:
        folder = Path("lake") / f"day={day}"
        folder.mkdir(parents=True)
        broken: list[Any] = [None, HOSTILE] if day == LAST else ["a", "b"]
        pq.write_table(pa.table({COLUMN: ["x", *broken] * 20, "id": list(range(60))}), folder / "part.parquet")
    settings = {
        "source": {"format": "parquet", "path": "lake/day={partition}"},
        "owner": HOSTILE,
        "checks": [{"is_complete": COLUMN}, {"is_contained_in": COLUMN, "values": ["x", "a", "b", HOSTILE[:40]]}],
    }
    Path("headgate.yml").write_text(
        yaml.safe_dump({"store": "sqlite:///history.db", "datasets": {DATASET: settings}}), encoding="utf-8"
    )
    return Terminal(monkeypatch)


def find_raw(printed: str) -> list[str]:
    """The hostile sequences that reached the terminal, and lines that a name began."""
    lines = _STYLE.sub("", printed).replace("\r", "\n").split("\n")
    return [raw for raw in RAW if raw in printed] + [line for line in lines if line.startswith("FORGED")]


def test_no_command_prints_what_a_name_says_to_the_terminal(terminal: Terminal) -> None:
    terminal.call("run", "--quiet")
    found, silent = {}, []
    for title, words in COMMANDS.items():
        printed = terminal.call(*words)
        if raw := find_raw(printed):
            found[title] = raw
        if not printed.strip() or "(unexpected" in printed:
            silent.append((title, printed))
    assert found == {}
    assert silent == []


@pytest.mark.parametrize("title", [HOSTILE, "[red]m[/red]", "[link=evil]k[/link]"])
def test_the_progress_bar_shows_a_name_as_it_is_written(terminal: Terminal, title: str) -> None:
    with (
        terminal.open() as printed,
        CommandContext("run").show_progress(title, title) as report,
    ):
        assert report is not None
        report(Progress(1, 2, stage=title))
    text = b"".join(printed).decode()
    assert find_raw(text) == []
    assert title is HOSTILE or title in text
