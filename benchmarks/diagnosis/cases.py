"""Held cases on disk: all that is needed to diagnose one again without judging it.

DIR/<dataset>.<feed>/rows.json                   every judged case, as in the results; written when the feed is done
DIR/<dataset>.<feed>/learned/<partition>.pickle  what was learned, shared by the cases of the partition
DIR/<dataset>.<feed>/originals/<partition>.arrow the good batch
DIR/<dataset>.<feed>/cases/<partition>.<case>.pickle  what was measured of the held batch, its verdict and its row
DIR/<dataset>.<feed>/cases/<partition>.good.pickle  the same of a good batch that was held by mistake
DIR/<dataset>.<feed>/broken/<partition>.<case>.arrow  the held batch, if it has a segment or can be repaired
"""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import feather

from benchmarks.history.feeds import Feed
from headgate.engine.analysis import Analysis
from headgate.gate.batch_judge import BatchJudge
from headgate.learn.learned import Learned
from headgate.values.account import Account
from headgate.values.key import MetricKey
from headgate.values.outcome import Outcome
from headgate.values.verdict import Verdict

Row = dict[str, Any]


class Evidence(NamedTuple):
    """What the gate had at hand when it wrote the account of a batch."""

    learned: Learned
    batch: Analysis
    outcomes: Mapping[MetricKey, Outcome]
    verdict: Verdict


class Case(NamedTuple):
    """A held case as it was kept. `broken` and `original` are None if they were not kept."""

    row: Row
    evidence: Evidence
    broken: pa.Table | None
    original: pa.Table | None


@contextmanager
def record_evidence() -> Iterator[list[Evidence]]:
    """A list that gets the evidence of the next batch that is judged while it is empty."""
    recorded: list[Evidence] = []
    write_account = BatchJudge._write_account

    def write_and_record(
        self: BatchJudge, batch: Analysis, outcomes: Mapping[MetricKey, Outcome], verdict: Verdict
    ) -> Account:
        if not recorded:
            recorded.append(Evidence(self.learned, batch, dict(outcomes), verdict))
        return write_account(self, batch, outcomes, verdict)

    BatchJudge._write_account = write_and_record  # type: ignore[method-assign]
    try:
        yield recorded
    finally:
        BatchJudge._write_account = write_account  # type: ignore[method-assign]


@contextmanager
def skip_text_rules() -> Iterator[None]:
    """Learn no rules about texts from what is judged here.

    What is rejected teaches nothing, so no other verdict changes; but most of the time of a judgement goes there.
    """
    learn = BatchJudge._learn_text_rules
    BatchJudge._learn_text_rules = lambda *_: ()  # type: ignore[method-assign]
    try:
        yield
    finally:
        BatchJudge._learn_text_rules = learn  # type: ignore[method-assign]


class CaseFolder:
    """The folder of one feed in a cache directory."""

    def __init__(self, directory: Path, feed: Feed) -> None:
        self.path = directory / f"{feed.folder}.{feed.name}"

    @property
    def rows_file(self) -> Path:
        return self.path / "rows.json"

    def read_rows(self) -> list[Row] | None:
        """The rows of a feed that is done; None if it is not."""
        if not self.rows_file.exists():
            return None
        rows: list[Row] = json.loads(self.rows_file.read_text(encoding="utf-8"))
        return rows

    def write_rows(self, rows: Sequence[Row]) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        self.rows_file.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n", encoding="utf-8")

    def write_case(self, row: Row, evidence: Evidence, broken: pa.Table | None, original: pa.Table) -> None:
        """Keep a case, the original batch, and what was learned if no case of this partition kept it before."""
        partition = make_file_name(row["partition"])
        file = self.path / "learned" / f"{partition}.pickle"
        if not file.exists():
            _write_pickle(file, evidence.learned)
            _write_table(self.path / "originals" / f"{partition}.arrow", original)
        name = f"{partition}.{make_file_name(row['case'] or 'good')}"
        about: Row = {"row": row, "learned": file.name, "batch": evidence.batch}
        about |= {"outcomes": evidence.outcomes, "verdict": evidence.verdict}
        _write_pickle(self.path / "cases" / f"{name}.pickle", about)
        if broken is not None:
            _write_table(self.path / "broken" / f"{name}.arrow", broken)


def list_cases(directory: Path, datasets: Sequence[str] = ()) -> list[Path]:
    """The files of all cases, those of one partition one after the other; of some datasets if they are given."""
    files = sorted(directory.glob("*/cases/*.pickle"))
    return [file for file in files if not datasets or file.parts[-3].partition(".")[0] in datasets]


def load_case(file: Path, with_tables: bool = True) -> Case:
    """A case of `list_cases`, with its tables unless it is said otherwise."""
    about = _read_pickle(file)
    learned = _load_learned(file.parents[1] / "learned" / about["learned"])
    evidence = Evidence(learned, about["batch"], about["outcomes"], about["verdict"])
    tables = (
        file.parents[1] / "broken" / f"{file.stem}.arrow",
        (file.parents[1] / "originals" / Path(about["learned"]).with_suffix(".arrow")),
    )
    broken, original = (_read_table(each) if with_tables else None for each in tables)
    return Case(about["row"], evidence, broken, original)


def make_file_name(text: str) -> str:
    """A name of a file for a partition or a case: no blanks, colons or dots.

    >>> make_file_name("2020-08-02T23:35"), make_file_name("all rows again")
    ('2020-08-02T23-35', 'all-rows-again')
    """
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text)


@lru_cache(maxsize=4)
def _load_learned(file: Path) -> Learned:
    learned: Learned = _read_pickle(file)
    return learned


def _write_pickle(file: Path, value: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))


def _read_pickle(file: Path) -> Any:
    return pickle.loads(file.read_bytes())


def _write_table(file: Path, table: pa.Table) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    feather.write_feather(table, file, compression="zstd")


def _read_table(file: Path) -> pa.Table | None:
    return feather.read_table(file) if file.exists() else None
