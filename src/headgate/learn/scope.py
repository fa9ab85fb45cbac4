"""Which columns and metrics of a table the learners learn from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

import msgspec

from headgate.metrics.base.registry import metrics
from headgate.metrics.distances.registry import distances
from headgate.values.errors import MisuseError, did_you_mean
from headgate.values.key import MetricKey
from headgate.values.schema import Schema

_MAX_NAMES = 12  # names that a description lists


class LearningScope(msgspec.Struct, frozen=True):
    """The columns and metrics of a table that something is learned of.

    `columns` and `ignore` have labels of columns, in which `*` stands for any characters and `?` for one; `metrics` has
    names of metrics and distances. None stands for all. To the learners, a column outside of the scope is not there. It
    is measured and recorded all the same, so that it has a history once it is in the scope. Metrics of the table are
    not bound to columns. What is learned of the schema is not bound to metrics.
    """

    columns: tuple[str, ...] | None = None
    metrics: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, columns: Iterable[str] | None = None, metrics: Iterable[str] | None = None, ignore: Iterable[str] = ()
    ) -> LearningScope:
        """A scope of names that a person wrote. Raises `MisuseError` if no metric has one of the names."""
        chosen_metrics = None if metrics is None else _to_tuple(metrics)
        for name in chosen_metrics or ():
            require_metric_name(name)
        return cls(None if columns is None else _to_tuple(columns), chosen_metrics, _to_tuple(ignore))

    @property
    def has_all_columns(self) -> bool:
        return self.columns is None and not self.ignore

    def learns_column(self, label: str) -> bool:
        """Whether something is learned of a column.

        >>> scope = LearningScope(columns=("price", "qty_*"), ignore=("qty_debug",))
        >>> [scope.learns_column(label) for label in ("price", "qty_ordered", "qty_debug", "id")]
        [True, True, False, False]
        """
        return (self.columns is None or _matches(label, self.columns)) and not _matches(label, self.ignore)

    def learns_metric(self, key: MetricKey) -> bool:
        """Whether something is learned of a metric: it has one of the names, and all of its columns are learned from.

        >>> LearningScope(ignore=("etl_*",)).learns_metric(MetricKey.parse("mean(etl_id)"))
        False
        """
        named = self.metrics is None or key.name in self.metrics
        return named and all(map(self.learns_column, key.columns))

    def choose_columns(self, schema: Schema) -> Schema:
        """The schema as the learners see it."""
        if self.has_all_columns:
            return schema
        return Schema(tuple(column for column in schema.columns if self.learns_column(column.label)))

    def with_ignored(self, labels: Iterable[str]) -> LearningScope:
        """The scope without these columns too."""
        more = tuple(label for label in labels if label not in self.ignore)
        return msgspec.structs.replace(self, ignore=(*self.ignore, *more)) if more else self

    def describe(self) -> str:
        """What a person has set, in words; empty if nothing is.

        >>> LearningScope(columns=("price",), metrics=("mean", "size"), ignore=("etl_id",)).describe()
        'etl_id ignored; learned only of price; learned only from mean, size'
        """
        parts = [
            f"{_list_names(self.ignore)} ignored" if self.ignore else "",
            "" if self.columns is None else f"learned only of {_list_names(self.columns) or 'the table'}",
            "" if self.metrics is None else f"learned only from {_list_names(self.metrics) or 'the schema'}",
        ]
        return "; ".join(filter(None, parts))


WHOLE_TABLE = LearningScope()
"""The scope of a gate that leaves nothing out."""


def require_metric_name(name: str) -> None:
    """Raise `MisuseError` unless a metric or a distance has this name."""
    known = sorted({*metrics(), *distances()})
    if name not in known:
        raise MisuseError(f"no metric is named {name!r};", hint=did_you_mean(name, known))


def _to_tuple(names: Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _matches(label: str, patterns: Sequence[str]) -> bool:
    """Whether a label is one of the patterns, is written like one, or is a place inside such a column.

    A label may itself contain `*` or `[`; `[]` stands for itself.

    >>> [_matches(label, ["items[].no*", "address"]) for label in ("items[].notes", "items[].price", "address.city")]
    [True, False, True]
    """
    return any(
        label == pattern
        or fnmatchcase(label, pattern.replace("[]", "[[]]"))
        or label.startswith((f"{pattern}.", f"{pattern}["))
        for pattern in patterns
    )


def _list_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(names[:_MAX_NAMES]) + more
