"""Test S5 for projects: a secret of the file, of a setting or of the environment is in no repr, error or traceback."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headgate.project.config import Config
from headgate.project.project import Project
from headgate.values.errors import ConfigError, HeadgateError, StoreUnavailable
from headgate.values.hidden import Hidden
from tests.project.files import PLAIN, written

CANARY = "hunterxcanary"
DSN = f"postgresql+psycopg://me:{CANARY}@127.0.0.1:9/dq?connect_timeout=1&sslpassword={CANARY}"


class Words(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(f"{record.name} {record.getMessage()} {record.args} {record.exc_info}")


@pytest.fixture(autouse=True)
def logged() -> Iterator[list[str]]:
    """Nothing of this may be in anything that any library logs."""
    words, root = Words(), logging.getLogger()
    before = root.level
    root.addHandler(words)
    root.setLevel(logging.DEBUG)
    yield words.found
    root.removeHandler(words)
    root.setLevel(before)
    assert CANARY not in "\n".join(words.found)


def everything_said(error: BaseException) -> str:
    """All words of an error, with the locals of every frame that it went through inside the package."""
    frames = traceback.TracebackException.from_exception(error, capture_locals=True)
    frames.stack = traceback.StackSummary.from_list([each for each in frames.stack if "tests" not in each.filename])
    said = [str(error), repr(error), repr(error.args), getattr(error, "hint", ""), "".join(frames.format())]
    at: BaseException | None = error
    while at := at.__cause__ or at.__context__:  # also what is not printed: debuggers show it
        said.append(f"{at!r} {at}")
        said += ["".join(traceback.TracebackException.from_exception(at, capture_locals=True).format())]
    return "\n".join(said)


def raised(call: Any) -> HeadgateError:
    with pytest.raises(HeadgateError) as caught:
        call()
    return caught.value


WRONG = {
    "a store in plain beside a mistake": PLAIN.replace("file:history", DSN) + "zzz: 1\n",
    "a store under a misspelled key": PLAIN.replace("store: file:history", f"stor: {DSN}"),
    "a store that is said twice": f"{PLAIN}store: {DSN}\n",
    "a store where datasets belong": f"store: x\ndatasets: {DSN}\n",
    "a store where a dataset belongs": f"store: x\ndatasets:\n  orders: {DSN}\n",
    "a store where a source belongs": f"store: x\ndatasets:\n  orders: {{source: '{DSN}'}}\n",
    "a store for a choice": f"{PLAIN}values: {DSN}\n",
    "a store for a number": f"{PLAIN}    runs: {DSN}\n",
    "a store for a list": f"{PLAIN}    learn: [{DSN}]\n",
    "a store as a key": f"{PLAIN}? {DSN}\n: x\n",
    "a store in a check": f"{PLAIN}    checks:\n      - is_uniqe: '{DSN}'\n",
    "a store without its key": f"store {DSN}\n",
    "a store in a list": f"- {DSN}\n",
    "a store before what is no YAML": f"store: {DSN}\ndatasets: [\n",
    "a store in what is no YAML": f'store: "{DSN}\n',
    "a list of stores": PLAIN.replace("file:history", f"[{DSN}]"),
    "a receiver beside a mistake": f"{PLAIN}alerts:\n  - slack: https://hooks.example.org/{CANARY}\n    on: x\n",
    "a header beside a mistake": f"{PLAIN}alerts:\n  - {{webhook: x, headers: {{A: [{CANARY}]}}}}\n",
    "a token of Connect beside a mistake": f"{PLAIN}spark: {{remote: 'sc://h/;token={CANARY}', master: x}}\n",
    "a setting of Spark beside a mistake": f"{PLAIN}spark: {{config: {{a: {CANARY}, b: []}}}}\n",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=list(WRONG))
def test_a_mistake_tells_no_secret(text: str, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    error = raised(lambda: Project.open(file))
    assert isinstance(error, ConfigError)
    assert CANARY not in everything_said(error)


def test_a_wrong_setting_tells_no_secret(tmp_path: Path) -> None:
    file = written(tmp_path)
    for name in ("stor", "values", "datasets.orders.runs", "store.x"):
        error = raised(lambda name=name: Project.open(file, settings={"store": DSN, name: DSN}))
        assert CANARY not in everything_said(error)


def test_a_project_shows_no_secret(tmp_path: Path) -> None:
    text = f"""{PLAIN.replace("file:history", DSN)}
spark: {{remote: "sc://h/;token={CANARY}", config: {{a: {CANARY}}}}}
secret: {CANARY}
alerts:
  - {{webhook: "https://h/{CANARY}", headers: {{A: {CANARY}}}}}
"""
    project = Project.open(written(tmp_path, text))
    config = project.config
    shown = [repr(project), str(project), repr(config), str(config), str(config.model_dump()), config.model_dump_json()]
    shown += [repr(vars(project)), repr(project.dataset("orders")), repr(vars(project.dataset("orders")))]
    assert CANARY not in "\n".join(shown)
    assert "store=***" in repr(config)


def test_a_reference_is_shown_as_it_is_and_read_only_when_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = PLAIN.replace("file:history", "${env:HEADGATE_TEST_STORE}")
    monkeypatch.delenv("HEADGATE_TEST_STORE", raising=False)
    project = Project.open(written(tmp_path, text))
    assert "store=${env:HEADGATE_TEST_STORE}" in repr(project.config)
    with pytest.raises(ConfigError, match=r"headgate.yml:1: store: the variable HEADGATE_TEST_STORE is not set"):
        _ = project.store
    monkeypatch.setenv("HEADGATE_TEST_STORE", "memory:")
    assert project.store.datasets() == ()


def by_reference(text: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HEADGATE_TEST_STORE", text)
    return "${env:HEADGATE_TEST_STORE}"


ADDRESSES = [
    DSN,
    f"mysql://me:{CANARY}@h/db",
    CANARY,
    f"{CANARY}://x",
    f"file://me:{CANARY}@h/db",
    f"s3://me:{CANARY}@bucket/db",
    f"postgresql+psycopg://me:{CANARY}@h:port/db",
    f"postgresql+asyncpg://me:{CANARY}@h/db",
    f"sqlite:////nowhere/{'x' * 5}?password={CANARY}",
]


@pytest.mark.parametrize("is_reference", [False, True])
@pytest.mark.parametrize("address", ADDRESSES)
def test_a_store_that_cannot_be_opened_tells_no_secret(
    address: str, is_reference: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from headgate.store.sql.store import SqlStore

    monkeypatch.setattr(SqlStore, "patience_to_open", 0.1)
    said = by_reference(address, monkeypatch) if is_reference else address
    project = Project.open(written(tmp_path, PLAIN.replace("file:history", f"'{said}'")))
    error = raised(lambda: project.store)
    assert isinstance(error, StoreUnavailable | ConfigError)
    assert CANARY not in everything_said(error)
    assert CANARY not in "".join(capfd.readouterr())


def test_an_address_of_a_receiver_that_cannot_be_used_tells_no_secret(tmp_path: Path) -> None:
    text = f"{PLAIN}alerts:\n  - slack: http://hooks.example.org/{CANARY}\n"
    error = raised(lambda: Project.open(written(tmp_path, text)).dataset("orders").gate)
    assert "headgate.yml:6: alerts" in str(error)
    assert CANARY not in everything_said(error)


def test_an_option_that_is_not_understood_tells_no_secret(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a\n1\n")
    source = f"{{path: x.csv, format: csv, options: {{pasword: {CANARY}}}}}"
    project = Project.open(written(tmp_path, f"store: 'memory:'\ndatasets: {{orders: {{source: {source}}}}}\n"))
    error = raised(lambda: project.dataset("orders").read("1"))
    assert "no option 'pasword'" in str(error)
    assert CANARY not in everything_said(error)


def test_two_texts_are_equal_if_their_words_are() -> None:
    assert Hidden("a") == Hidden("a")
    assert Hidden("a") != Hidden("b")
    assert len({Hidden("a"), Hidden("a"), Hidden("b")}) == 2


def test_a_configuration_made_in_python_hides_its_secrets_too() -> None:
    with pytest.raises(ValueError, match="runs") as caught:
        Config.model_validate(
            {"store": DSN, "datasets": {"a": {"source": {"path": "x"}, "runs": CANARY}}, "values": "hidden"}
        )
    assert CANARY not in str(caught.value)
