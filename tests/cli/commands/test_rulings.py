"""`headgate accept`, `reject`, `release` and `discard`: what is recorded, and by whom."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import Result

from headgate.cli.context import CommandContext
from headgate.cli.output import schema_text
from headgate.gate.gate import Gate
from headgate.values import login
from headgate.values.errors import CorruptBytes
from tests.cli.lake import BROKEN, CONFIG, NEW, called, document
from tests.gate.orders import dearer, named, orders, replaced


@pytest.mark.parametrize(
    ("act", "decision", "action"),
    [
        ("accept", "accepted", "publish"),
        ("reject", "rejected", "hold"),
        ("release", "released", "publish"),
        ("discard", "discarded", "hold"),
    ],
)
def test_a_ruling_is_recorded(judged: Path, act: str, decision: str, action: str) -> None:
    result = called(act, "orders", BROKEN, "--note", "because", "--who", "ann")
    assert result.exit_code == 0
    assert f"orders {BROKEN} was {decision} by ann (because)." in result.stdout.splitlines()
    verdict = document("explain", "orders", BROKEN)["verdict"]
    assert (verdict["decision"], verdict["action"]) == (decision, action)


def test_who_is_the_login_unless_it_is_given(judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "bea")
    assert document("reject", "orders", BROKEN)["ruling"]["who"] == "bea"


def test_a_machine_without_logins_has_an_unknown_person(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("uid not found")

    monkeypatch.setattr(login.getpass, "getuser", nobody)
    assert login.find_login_name() == "unknown"


# --- a range


GOOD_DAYS = 20
SHIFTED = range(GOOD_DAYS, GOOD_DAYS + 3)
LEVEL = [named(day) for day in SHIFTED]


def write_orders(folder: Path, name: str, table: pa.Table) -> None:
    place = folder / "lake" / "orders" / f"day={name}"
    place.mkdir(parents=True)
    pq.write_table(table, place / "part-0.parquet")


@pytest.fixture(scope="module")
def month_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of good days, judged, and three days that wait: their prices are at another level."""
    folder = tmp_path_factory.mktemp("month")
    (folder / "headgate.yml").write_text(CONFIG)
    for day in range(GOOD_DAYS):
        write_orders(folder, named(day), orders(day))
    with contextlib.chdir(folder):
        assert called("run", "--quiet").exit_code == 0
    for day in SHIFTED:
        write_orders(folder, named(day), dearer(orders(day), 100.0))
    return folder


@pytest.fixture
def month(month_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(month_once, tmp_path / "month")
    monkeypatch.chdir(tmp_path / "month")
    return tmp_path / "month"


@pytest.fixture(scope="module")
def shifted_once(month_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shifted") / "month"
    shutil.copytree(month_once, folder)
    with contextlib.chdir(folder):
        assert called("run", "--quiet").exit_code == 1
    return folder


@pytest.fixture
def shifted(shifted_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same lake when those three days are held."""
    shutil.copytree(shifted_once, tmp_path / "shifted")
    monkeypatch.chdir(tmp_path / "shifted")
    return tmp_path / "shifted"


def decisions() -> list[str]:
    return [each["decision"] for each in document("history", "orders", "--last", "3")["runs"]]


def test_the_third_day_at_a_new_level_says_so_and_names_one_command(shifted: Path) -> None:
    told = called("explain", "orders", LEVEL[2]).stdout
    assert "third day at the new level" in told
    command = f'headgate accept orders {LEVEL[0]}..{LEVEL[2]} --note "why it is right"'
    assert command in " ".join(told.split())
    listed = " ".join(called("history", "orders").stdout.split())
    assert f"3 batches are held for the same reason: {LEVEL[0]} to {LEVEL[2]}." in listed
    assert f"if that is the new normal: {command}" in listed


@pytest.mark.parametrize(
    ("act", "decision"),
    [("accept", "accepted"), ("reject", "rejected"), ("release", "released"), ("discard", "discarded")],
)
def test_a_range_is_decided_batch_by_batch_with_a_total(shifted: Path, act: str, decision: str) -> None:
    result = called(act, "orders", f"{LEVEL[0]}..{LEVEL[2]}", "--note", "new tariff", "--who", "ann")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[-4:-1] == [f"orders {day} was {decision} by ann (new tariff)." for day in LEVEL]
    assert lines[-1].startswith(f"3 batches {decision}. They ")
    assert decisions() == [decision] * 3


def test_a_range_is_a_list_of_rulings_in_json(shifted: Path) -> None:
    found = document("reject", "orders", f"{LEVEL[0]}..{LEVEL[1]}", "--who", "ann")
    assert [each["partition"] for each in found["rulings"]] == LEVEL[:2]
    assert "ruling" not in found
    assert decisions() == ["rejected", "rejected", "held"]


def test_a_run_of_several_batches_names_those_with_one_cause_together(month: Path) -> None:
    told = called("run").stdout
    assert f"  held, 3 batches for the same reason: headgate explain orders {LEVEL[2]}\n" in told
    assert f"headgate explain orders {LEVEL[0]}\n" not in told


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2030-01-01..2030-02-01", "no batch of orders from 2030-01-01 to 2030-02-01 is held."),
        (f"{LEVEL[2]}..{LEVEL[0]}", f"{LEVEL[2]} comes after {LEVEL[0]}."),
        (f"{LEVEL[0]}..", "is neither a partition of orders nor a range of them."),
        (f"..{LEVEL[0]}", "is neither a partition of orders nor a range of them."),
        (f"{LEVEL[0]}...{LEVEL[2]}", "is neither a partition of orders nor a range of them."),
    ],
)
def test_a_range_with_nothing_to_decide_is_an_error(shifted: Path, text: str, message: str) -> None:
    result = called("accept", "orders", text)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert decisions() == ["held"] * 3


def test_a_range_takes_no_revision(shifted: Path) -> None:
    result = called("accept", "orders", f"{LEVEL[0]}..{LEVEL[2]}", "--revision", "1")
    assert result.exit_code == 2
    assert "a revision is of one batch, not of a range" in result.stderr
    assert decisions() == ["held"] * 3


def test_a_partition_of_exactly_this_name_is_meant_by_it(shifted: Path) -> None:
    name = f"{LEVEL[0]}..{LEVEL[2]}"
    write_orders(shifted, name, dearer(orders(GOOD_DAYS + 3), 100.0))
    waiting = called("accept", "orders", name)
    assert waiting.exit_code == 2
    assert "It waits" in waiting.stderr
    called("run", "--quiet")
    assert document("reject", "orders", name)["ruling"]["partition"] == name
    assert {each["decision"] for each in document("history", "orders")["runs"] if each["partition"] in LEVEL} == {
        "held"
    }
    assert len(document("accept", "orders", f"{name}..{LEVEL[2]}")["rulings"]) == 2


# --- what accepting does, and the question


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Call the command line as at a terminal, with what is typed."""
    monkeypatch.setattr(CommandContext, "has_terminal_input", True)
    return lambda typed, *words: called(*words, input=typed)


def test_accept_shows_the_ranges_before_it_records(shifted: Path) -> None:
    lines = called("accept", "orders", LEVEL[0], "--who", "ann").stdout.splitlines()
    assert lines[0].split("  ")[0] == "of the next batch"
    [mean] = [line for line in lines if line.startswith("price: mean ")]
    assert "about 2,193" in mean
    assert lines.index(mean) < lines.index(f"orders {LEVEL[0]} was accepted by ann.")


@pytest.mark.parametrize("act", ["reject", "release", "discard"])
def test_other_rulings_show_no_ranges_and_ask_nothing(shifted: Path, answer: Callable[..., Result], act: str) -> None:
    result = answer("n\n", act, "orders", LEVEL[0])
    assert result.exit_code == 0
    assert "of the next batch" not in result.stdout
    assert called(act, "orders", LEVEL[1], "--yes").exit_code == 2


@pytest.mark.parametrize(
    ("typed", "decision"),
    [("y\n", "accepted"), ("YES\n", "accepted"), ("n\n", "held"), ("\n", "held"), ("maybe\n", "held"), ("", "held")],
)
def test_a_person_at_a_terminal_is_asked(
    shifted: Path, answer: Callable[..., Result], typed: str, decision: str
) -> None:
    result = answer(typed, "accept", "orders", LEVEL[0])
    assert "of the next batch" in result.stdout
    assert "Accept it? [y/N] " in result.stderr
    assert decisions()[0] == decision
    assert result.exit_code == (0 if decision == "accepted" else 1)
    assert ("Nothing was accepted: no decision is recorded." in result.stderr) == (decision == "held")


def test_a_no_to_a_range_leaves_all_of_it_held(shifted: Path, answer: Callable[..., Result]) -> None:
    result = answer("n\n", "accept", "orders", f"{LEVEL[0]}..{LEVEL[2]}")
    assert "Accept them? [y/N] " in result.stderr
    assert result.exit_code == 1
    assert decisions() == ["held"] * 3


@pytest.mark.parametrize("option", ["--yes", "-y"])
def test_yes_asks_nothing(shifted: Path, answer: Callable[..., Result], option: str) -> None:
    result = answer("n\n", "accept", "orders", LEVEL[0], option)
    assert (result.exit_code, result.stderr) == (0, "")
    assert decisions()[0] == "accepted"


def test_without_a_terminal_nothing_is_asked(shifted: Path) -> None:
    result = called("accept", "orders", LEVEL[0], input="n\n")
    assert (result.exit_code, result.stderr) == (0, "")
    assert decisions()[0] == "accepted"


def test_quiet_prints_no_ranges_and_still_asks(shifted: Path, answer: Callable[..., Result]) -> None:
    result = answer("n\n", "accept", "orders", LEVEL[0], "--quiet")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "Accept it?" in result.stderr


def test_a_reader_of_json_gets_the_ranges_and_is_not_asked(shifted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CommandContext, "has_terminal_input", True)
    found = document("accept", "orders", f"{LEVEL[0]}..{LEVEL[2]}")
    [mean] = [each for each in found["preview"] if each["metric"] == "mean(price)"]
    assert len(mean["accepted_values"]) == 3
    assert mean["before"] != mean["after"]


def test_a_no_is_a_document_without_rulings(shifted: Path, answer: Callable[..., Result]) -> None:
    assert answer("n\n", "accept", "orders", LEVEL[0], "--output-json", "no.json").exit_code == 1
    found = json.loads(Path("no.json").read_text())
    assert (found["exit_code"], found["rulings"]) == (1, [])
    assert found["preview"]
    jsonschema.validate(found, json.loads(schema_text()))


def test_what_failed_only_a_check_leaves_the_ranges(judged: Path) -> None:
    folder = judged / "lake" / "orders" / f"day={NEW}"
    folder.mkdir()
    table = orders(10)
    pq.write_table(replaced(table, "id", [None, *table["id"].to_pylist()[1:]]), folder / "part-0.parquet")
    assert called("run", "--quiet", "--set", "datasets.orders.learn=[patterns]").exit_code == 1
    lines = called("accept", "orders", NEW).stdout.splitlines()
    assert lines[0] == "No learned range was left. The ranges of the next batch stay as they are."


def test_an_unreadable_run_keeps_nobody_from_accepting(shifted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise CorruptBytes("part 3 is cut short.")

    monkeypatch.setattr(Gate, "preview_accept", fail)
    result = called("accept", "orders", LEVEL[0])
    assert result.exit_code == 0
    assert "What it does to the next ranges cannot be told: part 3 is cut short." in result.stderr
    assert "preview" not in document("accept", "orders", LEVEL[1])


def test_accept_says_how_to_undo_what_it_taught(shifted: Path) -> None:
    told = called("accept", "orders", f"{LEVEL[0]}..{LEVEL[2]}").stdout
    command = f"headgate reject orders {LEVEL[0]} --revision 1"
    assert told.endswith(f"To undo what one of them taught: {command}\n")
    assert called(*command.split()[1:]).exit_code == 0
    assert decisions() == ["rejected", "accepted", "accepted"]
