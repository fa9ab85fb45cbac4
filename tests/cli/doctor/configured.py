"""A configuration in the current folder, and `headgate doctor` run on it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from headgate.cli.app import app
from headgate.cli.doctor import machine, project
from headgate.cli.doctor.machine import Finding

CANARY = "c4n4ry-s3cret"


def run_doctor(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["doctor", *words])
    assert result.exit_code == code, result.output
    return result


def configure(store: str = "file:history", more: str = "", dataset: str = "") -> None:
    Path("lake/orders/day=2026-11-14").mkdir(parents=True, exist_ok=True)
    Path("lake/orders/day=2026-11-14/x.csv").write_text("id,price\n1,2.5\n", encoding="utf-8")
    source = '{format: csv, path: "lake/orders/day={partition}"}'
    text = f"store: {store}\n{more}\ndatasets:\n  orders:\n    source: {source}\n{dataset}\n"
    Path("headgate.yml").write_text(text, encoding="utf-8")


def files() -> list[str]:
    return sorted(map(str, Path().rglob("*")))


def without(monkeypatch: pytest.MonkeyPatch, *absent: str) -> None:
    """As if these packages were not installed."""
    real = machine.find_version
    for module in (machine, project):
        monkeypatch.setattr(module, "find_version", lambda name: None if name in absent else real(name))


def levels(lines: list[Finding]) -> list[str]:
    return [line.level for line in lines]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
