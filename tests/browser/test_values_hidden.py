"""S4: with values hidden, no value of the data is in a store, a page, a log or on the terminal; nor is it in sight."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headgate.project.dataset import Dataset
from headgate.store.open import open_store
from tests.browser.visit import Visitor
from tests.cli.lake import called
from tests.gate.orders import named, orders, replaced
from tests.gate.test_values_stay import CANARY, kept

DAYS = 4
STORES = {"files": "file:history", "sqlite": "sqlite:///history.db"}
CONFIG = """\
store: {store}
reports: pages
datasets:
  orders:
    source: {{format: parquet, path: "lake/day={{partition}}"}}
    learn: [history, patterns]
    checks:
      - is_complete: id
      - is_contained_in: country
        values: [DE]
      - has_pattern: code
        pattern: "^[a-z]+$"
"""


def _day(day: int) -> pa.Table:
    """Canaries are the least, the largest, the only and the most frequent values, and half of those of a column."""
    table, last = orders(day), day == DAYS - 1
    rows = range(len(table))
    table = replaced(table, "country", [f"{CANARY}{'new' if last else ''}{at % 5}" for at in rows])
    table = replaced(table, "code", [CANARY for _ in rows])
    texts = [CANARY.lower() if at % 2 else f"{CANARY}-{at}" for at in rows]
    return table.append_column("note", pa.array(texts)).append_column(
        "key", pa.array([f"{CANARY}:{at}" for at in rows])
    )


class Words(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(f"{record.getMessage()} {record.args} {record.exc_info}")


@pytest.fixture
def logged() -> Iterator[list[str]]:
    words, root = Words(), logging.getLogger()
    level = root.level
    root.addHandler(words)
    root.setLevel(logging.DEBUG)
    yield words.found
    root.removeHandler(words)
    root.setLevel(level)


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for day in range(DAYS):
        place = tmp_path / "lake" / f"day={named(day)}"
        place.mkdir(parents=True)
        pq.write_table(_day(day), place / "part.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _told(*words: str) -> str:
    found = called(*words)
    return f"{found.stdout}\n{found.stderr}\n{found.exception!r}"


def _terminal(*run: str) -> str:
    """What people are told about the batches, in all ways."""
    last = named(DAYS - 1)
    commands: list[tuple[str, ...]] = [
        run,
        ("explain", "orders", last),
        ("explain", "orders", last, "--output-json", "-"),
        ("accept", "orders", named(0), "--note", "so it is"),
        ("history", "orders"),
        ("history", "orders", "--output-json", "-"),
        ("report", "-vv"),
        ("report", "orders", last),
    ]
    return "\n".join(_told(*each) for each in commands)


def _files(folder: Path) -> dict[str, bytes]:
    found = [each for each in folder.rglob("*") if each.is_file() and "lake" not in each.relative_to(folder).parts]
    return {str(each.relative_to(folder)): each.read_bytes() for each in found}


def _holding(files: dict[str, bytes]) -> list[str]:
    return [name for name, text in files.items() if CANARY.lower().encode() in text.lower()]


@pytest.mark.parametrize("kind", STORES)
def test_no_value_is_in_a_file_a_log_or_on_the_terminal(kind: str, lake: Path, logged: list[str]) -> None:
    (lake / "headgate.yml").write_text(CONFIG.format(store=STORES[kind]))
    terminal = _terminal("run", "-vv")
    assert "failed and was held" in terminal
    assert CANARY.lower() not in terminal.lower()
    assert CANARY.lower() not in "\n".join(logged).lower()
    files = _files(lake)
    assert f"pages/orders/{named(DAYS - 1)}.html" in files
    assert _holding(files) == []
    address = f"file://{lake}/history" if kind == "files" else f"sqlite:///{lake}/history.db"
    store = open_store(address)
    assert len(store.revisions("orders")) == DAYS
    assert CANARY.lower().encode() not in kept(store, lake / "pages").lower()
    store.close()


def test_the_search_finds_values_where_they_are_kept_plain(lake: Path) -> None:
    (lake / "headgate.yml").write_text(f"values: plain\n{CONFIG.format(store='file:history')}")
    called("run")
    called("accept", "orders", named(0))
    called("report", "orders", named(DAYS - 1), "--output", "page.html")
    found = _holding(_files(lake))
    assert "page.html" in found
    assert any(each.startswith("history") for each in found)


def test_rows_are_shown_in_a_page_only_if_the_user_says_so(lake: Path, visitor: Visitor) -> None:
    page = lake / "pages" / "orders" / f"{named(DAYS - 1)}.html"
    for shown in (False, True):
        said = f"    keys: [key]\n    show_values: {str(shown).lower()}\n"
        (lake / "headgate.yml").write_text(CONFIG.format(store=f"file:history-{shown}") + said)
        called("run")
        visit = visitor.open(page)
        visit.open_all()
        assert (CANARY in visit.ask("() => document.documentElement.innerText")) == shown
        assert (CANARY in visit.page.content()) == shown


@pytest.fixture
def unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a library says when it cannot read a value holds the value."""

    def broken(self: Dataset, partition: str) -> pa.RecordBatchReader:
        def batches() -> Iterator[pa.RecordBatch]:
            yield orders(0).to_batches()[0]
            raise ValueError(f"could not convert '{CANARY}' to int64 in {partition}")

        return pa.RecordBatchReader.from_batches(orders(0).schema, batches())

    monkeypatch.setattr(Dataset, "read", broken)


@pytest.mark.usefixtures("unreadable")
@pytest.mark.parametrize("kind", STORES)
def test_the_words_of_an_error_are_nowhere(kind: str, lake: Path, logged: list[str]) -> None:
    (lake / "headgate.yml").write_text(CONFIG.format(store=STORES[kind]))
    terminal = _terminal("run")
    assert "could not be judged" in terminal
    assert "ValueError" in terminal
    assert CANARY not in terminal
    assert CANARY not in "\n".join(logged)
    assert _holding(_files(lake)) == []


@pytest.mark.usefixtures("unreadable")
@pytest.mark.parametrize("more", ["-v", "-vv"])
def test_the_words_of_an_error_are_not_on_the_terminal_of_one_who_asks_for_more(more: str, lake: Path) -> None:
    (lake / "headgate.yml").write_text(CONFIG.format(store="file:history"))
    assert CANARY not in _told("run", more)
