"""Queries an index of patterns: the rule or tag for a column, and statistics of the lake."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import numpy as np

from headgate.display.blocks import Fact, Facts, Note
from headgate.display.page import Page, Paged
from headgate.learn.patterns import index_file
from headgate.learn.patterns.entries import Rows, mean_impurity
from headgate.learn.patterns.hashing import Keys
from headgate.learn.patterns.index_file import PatternFile
from headgate.learn.patterns.infer import infer
from headgate.learn.patterns.pattern import LANGUAGE, Pattern
from headgate.learn.patterns.rule import PatternRule
from headgate.learn.patterns.settings import InferenceSettings
from headgate.values.errors import MisuseError

_PUBLIC = "public.hgi"
_DECADES = (1, 10, 100, 1_000, 10_000, 100_000)


class PatternEvidence(msgspec.Struct, frozen=True):
    """The evidence for one pattern in an index. `fpr` is the mean impurity of the `columns` that have it.

    In `led` columns all of the first values had the pattern; in `broken` of these, more than 40% of the later values
    did not.
    """

    columns: int
    fpr: float
    led: int
    broken: int


class Stats(Paged, msgspec.Struct, frozen=True):
    """Statistics of an index: the number of patterns by token count, and by the least number of columns."""

    patterns: int
    columns: int
    bytes: int
    open: int
    by_tokens: dict[int, int]
    by_columns: dict[int, int]
    about: dict[str, Any]

    def __str__(self) -> str:
        lines = [f"by tokens   {self._describe_tokens()}", f"by columns  {self._describe_columns()}"]
        return "\n".join([self._describe_size(), *lines, self._describe_open()])

    def __repr__(self) -> str:
        return str(self)

    def page(self) -> Page:
        facts = Facts((Fact("By tokens", self._describe_tokens()), Fact("By columns", self._describe_columns())))
        return Page(self._describe_size(), blocks=(facts, Note(self._describe_open())))

    def _describe_size(self) -> str:
        return f"{self.patterns:,} patterns of {self.columns:,} columns, {self.bytes / 1e6:,.1f} MB"

    def _describe_tokens(self) -> str:
        return ", ".join(f"{size}: {count:,}" for size, count in self.by_tokens.items())

    def _describe_columns(self) -> str:
        return ", ".join(f"{least:,}+: {count:,}" for least, count in self.by_columns.items())

    def _describe_open(self) -> str:
        return f"{self.open:,} patterns without constant letters or digits"


class PatternIndex:
    """An index of patterns, opened with `PatternIndex.open(path)`.

    `PatternIndex.public()` opens the index that comes with the package. Opening reads the header and the checksums, a
    thousandth of the file. Entries are read from disk when they are looked up.
    """

    def __init__(self, opened: PatternFile) -> None:
        language = opened.about.get("language", LANGUAGE)
        if language != LANGUAGE:
            raise MisuseError(
                f"{opened.path} speaks of patterns in form {language}; this version knows form {LANGUAGE}.",
                hint="Build the index again.",
            )
        self._file = opened

    @classmethod
    def open(cls, path: str | Path) -> Self:
        return cls(PatternFile.open(path))

    @classmethod
    def public(cls) -> Self:
        """The index of open data that comes with the package: patterns and counts of 77,383 columns, no values."""
        with as_file(files("headgate.learn.patterns") / _PUBLIC) as path:
            return cls.open(path)

    @staticmethod
    def merge(paths: str | Path | Iterable[str | Path], target: str | Path, name: str = "") -> PatternIndex:
        """The sum of several indexes, as if their columns had been indexed together. They must not share columns."""
        paths = [paths] if isinstance(paths, str | Path) else list(paths)
        if not paths:
            raise MisuseError("nothing can be merged of no index.", hint="Give the paths of one or more.")
        abouts = []
        for path in paths:
            with PatternIndex.open(path) as index:
                abouts.append(index.about)
        index_file.merge_indexes(paths, target, _merge_about(abouts, name))
        return PatternIndex.open(target)

    @property
    def about(self) -> dict[str, Any]:
        return self._file.about

    @property
    def columns(self) -> int:
        """How many columns were indexed."""
        return int(self._file.about.get("columns", 0))

    def __len__(self) -> int:
        return len(self._file)

    def infer(
        self,
        values: Iterable[Any],
        *,
        method: str = "headgate",
        limit: float | None = None,
        coverage: int | None = None,
        tolerance: float | None = None,
        significance: float | None = None,
    ) -> PatternRule | None:
        """The rule that the next values of this column should follow; None if no pattern is within the limits.

        Args:
            values: The values of the column; nulls are ignored.
            method: "headgate", or a method of the paper: "fmdv", "fmdv-v", "fmdv-h" or "fmdv-vh".
            limit: The paper's r. For "headgate" the largest expected false positive rate of the rule (default 0.185);
                for the paper's methods the largest mean impurity (default 0.1).
            coverage: The paper's m: the fewest columns of the lake that have the pattern. Default 5.
            tolerance: The paper's theta: the largest share of these values that need not follow the rule. Default 0.1.
            significance: The significance level of the test of the next batch. Default 0.01.
        """
        tau = self._file.about.get("tau")
        given = {"limit": limit, "coverage": coverage, "tolerance": tolerance, "significance": significance, "tau": tau}
        return infer(values, self._file, self.columns, InferenceSettings.of(method, **given))

    def tag(self, values: Iterable[Any], *, missed: float = 0.05, coverage: int | None = None) -> PatternRule | None:
        """The most restrictive pattern of this column's domain: the one that the fewest columns of the lake have.

        On average, at most a share `missed` of the values of those columns do not follow it.
        """
        return self.infer(values, method="tag", limit=missed, coverage=coverage)

    def look_up(self, pattern: Pattern) -> PatternEvidence:
        """The evidence for a pattern in this index."""
        rows = self._file.find_entries(np.array([pattern.key], dtype=np.uint64))
        columns, led, failed = (int(rows[name][0]) for name in ("columns", "led", "failed"))
        return PatternEvidence(columns, float(mean_impurity(rows)[0]) if columns else 0.0, led, failed)

    def find_entries(self, keys: Keys) -> Rows:
        """The entries of these keys, with rows of zeros for keys that are missing."""
        return self._file.find_entries(keys)

    def stats(self) -> Stats:
        """Statistics of the index. Reads the whole file once, a piece at a time."""
        tokens, columns = np.zeros(256, dtype=np.int64), np.zeros(len(_DECADES), dtype=np.int64)
        open_patterns = 0
        for chunk in self._file.read_chunks():
            tokens += np.bincount(chunk.rows["tokens"], minlength=256)
            columns += [int((chunk.rows["columns"] >= least).sum()) for least in _DECADES]
            open_patterns += int(chunk.rows["open"].sum())
        return Stats(
            patterns=len(self),
            columns=self.columns,
            bytes=self._file.path.stat().st_size,
            open=open_patterns,
            by_tokens={size: int(tokens[size]) for size in np.flatnonzero(tokens).tolist()},
            by_columns={least: int(count) for least, count in zip(_DECADES, columns, strict=True) if count},
            about=self.about,
        )

    def verify(self) -> None:
        """Check every byte of the file; a look-up checks only what it reads."""
        self._file.verify()

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"PatternIndex({str(self._file.path)!r}, {len(self):,} patterns of {self.columns:,} columns)"


def _merge_about(abouts: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    """The description of a sum of indexes. Patterns below an index's floor are missing, so the largest floor counts."""
    if len({about.get("tau") for about in abouts}) > 1:
        raise MisuseError("indexes with different tau do not add up.", hint="Build them with the same tau.")
    about = {**abouts[0], "columns": sum(int(each.get("columns", 0)) for each in abouts)}
    about["floor"] = max(int(each.get("floor", 1)) for each in abouts)
    about["name"] = name or " + ".join(str(each["name"]) for each in abouts if each.get("name"))
    return about
