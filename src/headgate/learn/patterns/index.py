"""An index of patterns, open for questions: what rule fits a column, what tag, and what the lake is made of."""

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
    """What an index says of one pattern. `fpr` is the mean impurity of the `columns` that have it.

    `led` are columns whose first values all had it; in `broken` of them more than 40% of the later values had not.
    """

    columns: int
    fpr: float
    led: int
    broken: int


class Stats(Paged, msgspec.Struct, frozen=True):
    """What an index is made of: how many patterns have so many tokens, and how many are in at least so many columns."""

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
    """Opened with `PatternIndex.open(path)`, or `PatternIndex.public()` for the one that comes with the package.

    Opening reads a header and a thousandth of the file, its checksums; entries are looked up where they are.
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
            with PatternIndex.open(path) as one:
                abouts.append(one.about)
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
        """The rule that the next values of this column should follow; None if nothing that the lake knows is safe.

        `limit` is r of the paper: for the method "headgate" the largest expected rate of false alarms of the rule, for
        "fmdv", "fmdv-v", "fmdv-h" and "fmdv-vh" the largest mean impurity. `coverage` is m, the columns that
        must speak for it, `tolerance` is theta, the share of these values that need not follow it.
        """
        tau = self._file.about.get("tau")
        given = {"limit": limit, "coverage": coverage, "tolerance": tolerance, "significance": significance, "tau": tau}
        return infer(values, self._file, self.columns, InferenceSettings.of(method, **given))

    def tag(self, values: Iterable[Any], *, missed: float = 0.05, coverage: int | None = None) -> PatternRule | None:
        """The most restrictive pattern of this column's domain: of the lake's columns the fewest have it.

        At most a share `missed` of the values of those columns is expected to be without it.
        """
        return self.infer(values, method="tag", limit=missed, coverage=coverage)

    def look_up(self, pattern: Pattern) -> PatternEvidence:
        """What the lake says of a pattern."""
        rows = self._file.find_entries(np.array([pattern.key], dtype=np.uint64))
        columns, led, failed = (int(rows[name][0]) for name in ("columns", "led", "failed"))
        return PatternEvidence(columns, float(mean_impurity(rows)[0]) if columns else 0.0, led, failed)

    def find_entries(self, keys: Keys) -> Rows:
        """The entries of these keys, rows of zeros for those that are not there."""
        return self._file.find_entries(keys)

    def stats(self) -> Stats:
        """Reads the whole index once, a piece at a time."""
        tokens, columns = np.zeros(256, dtype=np.int64), np.zeros(len(_DECADES), dtype=np.int64)
        free = 0
        for chunk in self._file.read_chunks():
            tokens += np.bincount(chunk.rows["tokens"], minlength=256)
            columns += [int((chunk.rows["columns"] >= least).sum()) for least in _DECADES]
            free += int(chunk.rows["open"].sum())
        return Stats(
            patterns=len(self),
            columns=self.columns,
            bytes=self._file.path.stat().st_size,
            open=free,
            by_tokens={size: int(tokens[size]) for size in np.flatnonzero(tokens).tolist()},
            by_columns={least: int(count) for least, count in zip(_DECADES, columns, strict=True) if count},
            about=self.about,
        )

    def verify(self) -> None:
        """Check every byte, which a look-up does only for what it reads."""
        self._file.verify()

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, trouble: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"PatternIndex({str(self._file.path)!r}, {len(self):,} patterns of {self.columns:,} columns)"


def _merge_about(abouts: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    """What the sum can say of itself. Patterns below a floor are missing, so the sum has the largest floor."""
    if len({about.get("tau") for about in abouts}) > 1:
        raise MisuseError("indexes with different tau do not add up.", hint="Build them with the same tau.")
    about = {**abouts[0], "columns": sum(int(each.get("columns", 0)) for each in abouts)}
    about["floor"] = max(int(each.get("floor", 1)) for each in abouts)
    about["name"] = name or " + ".join(str(each["name"]) for each in abouts if each.get("name"))
    return about
