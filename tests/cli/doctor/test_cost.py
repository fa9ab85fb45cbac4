"""`headgate doctor` says what a scan of each dataset is estimated to cost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headgate.values.errors import MisuseError
from tests.cli.doctor.configured import configure, run_doctor


def test_each_dataset_has_a_line_about_its_cost() -> None:
    configure()
    said = run_doctor().output
    line = re.search(r"orders: cost +a million rows take about ([\d.]+) CPU seconds, (\d+)% of them for '(\w+)'", said)
    assert line is not None, said
    assert 0.01 < float(line[1]) < 10
    assert line[3] in ("id", "price")


def test_a_dataset_without_a_batch_has_none() -> None:
    configure()
    Path("lake/orders/day=2026-11-14/x.csv").unlink()
    assert ": cost" not in run_doctor().output


def test_a_batch_that_cannot_be_scanned_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise MisuseError("two columns have one name.", hint="Rename one.")

    configure()
    monkeypatch.setattr("headgate.engine.explain_cost.explain_cost", refuse)
    assert re.search(r"warning +orders: cost +two columns have one name\.\n +-> Rename one\.", run_doctor().output)
