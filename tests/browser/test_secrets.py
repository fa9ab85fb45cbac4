"""S5: a secret of the store's address or of a receiver is in nothing that the command line prints, logs or writes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.lake import write_day

CANARY = "hunter2xcanary"
DSN = f"postgresql+psycopg://me:{CANARY}@127.0.0.1:9/dq?connect_timeout=1&sslpassword={CANARY}"
HOOK = f"http://127.0.0.1:9/services/{CANARY}"
CONFIG = """\
store: {store}
reports: pages
datasets:
  orders:
    source: {{format: parquet, path: "lake/orders/day={{partition}}"}}
    checks: [{{is_complete: id}}, {{metric: size(), at_most: 1}}]
alerts:
  - webhook: {hook}
    on: every_hold
"""
PLAIN, REFERENCE = f"'{DSN}'", "${env:HEADGATE_TEST_DSN}"
CALLS = [
    (("run", "-vv"), REFERENCE, 3),
    (("run", "-vv"), PLAIN, 3),
    (("report", "orders", "--output-json", "-", "-vv"), REFERENCE, 3),
    (("doctor", "-vv"), REFERENCE, 3),
    (("doctor", "--output-json", "-"), PLAIN, 3),
    (("run", "--set", f"stor={DSN}", "-vv"), REFERENCE, 2),
    (("run", "--set", f"store={DSN}", "--output-json", "-"), "file:history", 3),
]


# Every library's log comes to the terminal; what is not there is not waited for.
_START = """
import logging
from headgate.cli.app import main
from headgate.integrations.alerts import post
from headgate.store.sql.store import SqlStore
logging.basicConfig(level=logging.DEBUG)
SqlStore.patience_to_open = 0.1
post.sleep = lambda seconds: None
main()
"""


def _called(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command line as a process of its own."""
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "200", **environment}
    command = [sys.executable, "-c", _START, *words]
    return subprocess.run(command, cwd=folder, env=known, capture_output=True, text=True, timeout=120, check=False)


def _written(folder: Path) -> list[str]:
    found = [each for each in folder.rglob("*") if each.is_file() and each.name != "headgate.yml"]
    return [str(each) for each in found if CANARY.encode() in each.read_bytes()]


@pytest.mark.parametrize(("words", "store", "code"), CALLS)
def test_a_store_that_is_not_there_tells_no_password(
    words: tuple[str, ...], store: str, code: int, tmp_path: Path
) -> None:
    write_day(tmp_path, 0)
    (tmp_path / "headgate.yml").write_text(CONFIG.format(store=store, hook="${env:HEADGATE_TEST_HOOK}"))
    done = _called(tmp_path, *words, HEADGATE_TEST_DSN=DSN, HEADGATE_TEST_HOOK=HOOK)
    assert done.returncode == code, done.stderr
    assert CANARY not in done.stdout + done.stderr
    assert _written(tmp_path) == []


def test_a_receiver_that_is_not_there_tells_no_secret(tmp_path: Path) -> None:
    write_day(tmp_path, 0)
    (tmp_path / "headgate.yml").write_text(CONFIG.format(store="file:history", hook="${env:HEADGATE_TEST_HOOK}"))
    done = _called(tmp_path, "run", "-vv", HEADGATE_TEST_HOOK=HOOK)
    assert "was held" in done.stdout
    assert done.returncode in (1, 4)
    assert CANARY not in done.stdout + done.stderr
    assert (tmp_path / "pages" / "index.html").exists()
    assert _written(tmp_path) == []


def test_the_search_would_find_a_secret(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text(DSN)
    assert _written(tmp_path) == [str(tmp_path / "log.txt")]
