"""What a person is told when something is wrong: few words, what to do, the right code, and no secret."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.cli.errors import describe_error, exit_code_of, redact_secrets, secrets_of
from headgate.cli.exit_codes import MEANINGS
from headgate.store.sql.store import SqlStore
from headgate.values.errors import EngineError, MisuseError, StoreUnavailable, UnknownRun
from tests.cli.lake import BROKEN, CONFIG, called, document

SOURCE = Path(__file__).resolve().parents[2] / "src"
CANARY = "c4n4ry-pa55word"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("run", "--config", "nowhere.yml"), 2, "nowhere.yml"),
        (("run", "ordres"), 2, "Did you mean 'orders'?"),
        (("run", "--set", "datasets"), 2, "--set datasets.orders.false_alarms=0.02"),
        (("run", "--set", "datasets.orders.false_alarm=1"), 2, "false_alarms"),
        (("profile", "lake/nothing.csv"), 2, "there is no file lake/nothing.csv"),
        (("profile", "headgate.yml"), 2, "--format"),
        (("profile", "headgate.yml", "--format", "xls"), 2, "parquet, csv, json, orc"),
        (("profile", "headgate.yml", "--format", "parquet"), 3, "could not be read as parquet"),
        (("profile", "orders"), 2, "--partition 2026-01-10"),
        (("profile", "orders", "--partition", "2031-01-01"), 3, "There are 2026-01-10"),
        (("check", "lake/orders", "--checks", "nowhere.yml"), 2, "headgate suggest"),
        (("check", "lake/orders"), 2, "--checks"),
        (("explain", "orders", BROKEN, "--revision", "7"), 2, "revision 7"),
        (("index", "infer", "lake/orders", "--column", "cod"), 2, "Did you mean 'code'?"),
        (("index", "stats", "nowhere.hgi"), 2, "headgate index build"),
    ],
)
def test_an_error_is_told_in_a_line_with_what_to_do(judged: Path, words: tuple[str, ...], code: int, says: str) -> None:
    result = called(*words)
    assert result.exit_code == code, result.stderr
    assert result.stderr.startswith("error: ")
    assert says in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) <= 3
    assert result.stdout == ""


def test_every_mistake_of_a_configuration_is_told_with_its_line(judged: Path) -> None:
    Path("headgate.yml").write_text(CONFIG.replace("owner:", "ower:").replace("file:history", "[1, 2]"))
    result = called("run")
    assert result.exit_code == 2
    assert "headgate.yml:1" in result.stderr
    assert "headgate.yml:6" in result.stderr
    assert "owner" in result.stderr


@pytest.mark.parametrize(
    ("trouble", "code"),
    [
        (MisuseError("x"), 2),
        (UnknownRun("orders", "x"), 2),
        (EngineError("x"), 3),
        (StoreUnavailable("x"), 3),
        (RuntimeError("x"), 3),
        (KeyboardInterrupt(), 130),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, BaseException) else None,
)
def test_the_code_tells_whose_turn_it_is(trouble: BaseException, code: int) -> None:
    assert exit_code_of(trouble) == code
    assert code in MEANINGS


def test_hints_are_of_the_shell_and_not_of_python() -> None:
    assert describe_error(MisuseError("never read.", hint="Publish it with gate.release.")).endswith(
        "with headgate release."
    )


def test_a_damaged_history_is_told_with_what_to_do(judged: Path) -> None:
    next(Path("history").rglob("log/*.hg")).write_bytes(b"not what was written")
    result = called("history", "orders")
    assert result.exit_code == 3
    assert "restore it from a copy" in result.stderr
    assert document("history", "orders")["error"]["hint"].startswith("It is damaged, or another file")


def test_a_document_that_cannot_be_written_is_told_once(lake: Path) -> None:
    result = called("history", "orders", "--output-json", "nowhere/x.json")
    assert result.exit_code == 2
    assert result.stderr.count("error:") == 1


def test_a_file_that_may_not_be_written_is_nothing_unexpected() -> None:
    said = describe_error(PermissionError(13, "Permission denied", "pages/index.html"))
    assert said.startswith("error: pages/index.html: Permission denied.")
    assert "unexpected" not in said


def raising(monkeypatch: pytest.MonkeyPatch, trouble: BaseException) -> None:
    def broken(*_: object, **__: object) -> None:
        raise trouble

    monkeypatch.setattr("headgate.learn.rules.profile.profile", broken)


def test_what_nobody_foresaw_is_one_line_that_says_how_to_see_more(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raising(monkeypatch, RuntimeError("the moon\nis full"))
    result = called("profile", "lake/orders")
    assert result.exit_code == 3
    assert result.stderr == "error: RuntimeError: the moon (unexpected; -vv shows the traceback)\n"
    seen = called("profile", "lake/orders", "-vv")
    assert seen.exit_code == 3
    assert "Traceback (most recent call last)" in seen.stderr
    assert "is full" in seen.stderr


def test_an_interrupted_command_ends_with_130(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raising(monkeypatch, KeyboardInterrupt())
    result = called("profile", "lake/orders")
    assert (result.exit_code, result.stderr) == (130, "interrupted\n")


def test_a_run_that_is_interrupted_leaves_what_it_judged(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from headgate.gate.gate import Gate

    judge, seen = Gate.judge, []

    def impatient(self: Gate, *args: object, **given: object) -> object:
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(args)
        return judge(self, *args, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(Gate, "judge", impatient)
    assert called("run").exit_code == 130
    monkeypatch.undo()
    os.chdir(lake)
    assert len(called("history", "orders").stdout.splitlines()) == 2 + 2 + 2  # head, runs, budget and calendar


# --- secrets


@pytest.mark.parametrize("words", [("run", "-vv"), ("run", "--output-json", "-"), ("history", "orders", "-v")])
@pytest.mark.parametrize("plain", [True, False], ids=["in the file", "by reference"])
def test_the_password_of_a_store_is_nowhere(
    lake: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], plain: bool
) -> None:
    monkeypatch.setattr(SqlStore, "patience_to_open", 0.0)
    address = f"postgresql+psycopg://ann:{CANARY}@/dq?host=/nowhere/at/all"
    monkeypatch.setenv("HEADGATE_STORE", address)
    Path("headgate.yml").write_text(CONFIG.replace("file:history", address if plain else "${env:HEADGATE_STORE}"))
    result = called(*words)
    assert result.exit_code == 3
    assert CANARY not in result.stdout + result.stderr


def test_values_of_variables_are_taken_out_of_every_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK", f"https://hooks.example/{CANARY}")
    monkeypatch.setenv("SHORT", "ab")
    (tmp_path / "c.yml").write_text(
        "alerts: [{slack: '${env:HOOK}'}, {slack: '${env:SHORT}'}, '${env:NOT_SET_AT_ALL}']"
    )
    secrets = secrets_of(str(tmp_path / "c.yml"))
    assert secrets == (f"https://hooks.example/{CANARY}",)
    assert (
        redact_secrets(f"cannot post to https://hooks.example/{CANARY}: cable cut", secrets)
        == "cannot post to ***: cable cut"
    )
    assert secrets_of(str(tmp_path / "nowhere.yml")) == ()
    assert secrets_of(str(tmp_path)) == ()


# --- pipes


def piped(lake: Path, words: str) -> subprocess.CompletedProcess[str]:
    script = f'"{sys.executable}" -m headgate {words}; echo "code ${{PIPESTATUS[0]}}" >&2'
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=lake, env=environment, check=True)


def test_a_reader_that_goes_away_is_no_trouble_and_the_run_goes_on(lake: Path) -> None:
    found = piped(lake, "run | head -1")
    assert found.stdout.startswith("✓ orders")
    assert found.stderr == "code 1\n"
    assert "10 batches" in called("run").stdout, "all were judged though nobody listened"


def test_help_into_a_closed_pipe_is_quiet(lake: Path) -> None:
    assert "Traceback" not in piped(lake, "--help | true").stderr
    assert "Traceback" not in piped(lake, "--json-schema | true").stderr
