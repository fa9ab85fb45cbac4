"""Names what happened to a batch that failed: every known fault is fitted to it, and the nearest is named."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from headgate.diagnose.column_pair import DISTINCT, ColumnPair
from headgate.diagnose.fault import Fit, faults
from headgate.diagnose.mixture import NEARLY_ALL
from headgate.diagnose.row_segments import name_row_segments
from headgate.diagnose.table_pair import TablePair
from headgate.display.numbers import format_share
from headgate.learn.metric_traits import OUTSIDE_PERIOD
from headgate.learn.past import Past
from headgate.values.diagnosis import Diagnosis
from headgate.values.key import MetricKey
from headgate.values.outcome import Outcome
from headgate.values.schema import Schema
from headgate.values.state import State

SURE = 0.5
"""The confidence from which on a fault is named."""

UNSURE = 0.25
"""The confidence from which on a fault is named if it is in one segment: of two that fit, this tells which it is."""

_MAX_SCORE = 0.45  # what a fault may leave unexplained

_MIN_CHANGE = 0.02  # of a column, beyond what is usual, that is worth a fault
_FULL = 0.1  # what a fault leaves unexplained at most, so that it needs no other
_EVEN = 0.05  # by how much a column changes at most, if rows are there twice or missing by chance
_MARGIN = 0.15  # by which the next fault must be worse, so that the first is sure
_WHOLE = ("error_page", "wrong_delimiter", "header_in_data", "stale_copy")
_OF_SCHEMA = ("column_renamed", "column_missing", "column_added")
_OTHER_ROWS = "other_partition"
_OF_ROWS = ("rows_duplicated", "rows_missing", _OTHER_ROWS)
_NEW = ("new_values", "new_patterns")  # metrics of what no run had
_OF_COLUMNS = ("columns_swapped", "columns_shifted")
_DAY = 86_400.0
_COMPLETENESS = "completeness"
_OTHERS = 2  # faults that are named besides


def diagnose_batch(
    past: Past | None,
    schema: Schema,
    states: Mapping[MetricKey, State],
    outcomes: Mapping[MetricKey, Outcome],
    failed: Collection[MetricKey],
    copy_of: str = "",
    least: float = SURE,
) -> tuple[Diagnosis, ...]:
    """The faults that explain what failed, the surest first; none if no known fault does.

    Args:
        past: The good runs before.
        schema: The columns of the batch.
        states: Its states.
        outcomes: What was measured of it.
        failed: The metrics that failed.
        copy_of: The run before with exactly the same rows, if there is one.
        least: The confidence that a fault must have.
    """
    if past is None or not failed:
        return ()
    in_order = sorted(failed, key=str)  # what failed often comes as a set, whose order is chance
    table = TablePair(past, schema, states, outcomes, in_order, copy_of)
    found = _Diagnostician(table).name_faults()
    return name_row_segments((each for each in found if each.confidence >= least), table)


class _Diagnostician:
    """Goes from faults that explain a whole batch to those of single columns."""

    def __init__(self, table: TablePair) -> None:
        self.table = table
        self.fits = [fit for each in faults().values() for fit in each.fit_table(table)]

    def name_faults(self) -> tuple[Diagnosis, ...]:
        whole = _choose(self._pick(_WHOLE))
        if whole and (whole[0].fault != "stale_copy" or not whole[0].columns):
            return (_make_diagnosis(whole, self.table.failed),)
        found = [_make_diagnosis([each], self._of_schema()) for each in self._pick(_OF_SCHEMA)]
        explained = {column for each in found for column in each.columns}
        rows = self._name_row_fault()
        if rows is not None:
            found.append(rows)
            explained |= {column for column in self.table.failed_columns if self._follows(column, rows)}
        found += self._name_exchanges(explained)
        explained |= {column for each in found for column in (*each.columns, *self._list_between(each))}
        for label in self.table.failed_columns:
            if label in self.table.pairs and label not in explained:
                found += self._name_column_fault(label, whole)
        # what is gone breaks more than what is new
        return tuple(sorted(_join(found), key=lambda each: (-each.confidence, each.fault == "column_added")))

    def _list_between(self, shifted: Diagnosis) -> list[str]:
        """The columns from the first to the one after the last that hold the values of another."""
        labels = list(self.table.new_columns)
        places = [labels.index(each) for each in shifted.columns if each in labels]
        return labels[min(places) : max(places) + 2] if shifted.fault == "columns_shifted" and places else []

    def _pick(self, names: Sequence[str]) -> list[Fit]:
        return [each for each in self.fits if each.fault in names]

    def _of_schema(self) -> list[MetricKey]:
        return [each for each in self.table.failed if each.name in ("has_column", "column_count", "column_type")]

    def _name_row_fault(self) -> Diagnosis | None:
        """The fault of rows, which explains all columns that changed no more than such rows change them."""
        ranked = _choose(each for each in self._pick(_OF_ROWS) if not self._is_of_column(each))
        if not ranked:
            return None
        found = _make_diagnosis(ranked, ())
        columns = [label for label in self.table.failed_columns if self._follows(label, found)]
        of_table = [each for each in self.table.failed if not each.columns]
        explained = [*of_table, *self._list_failed_of(columns)]
        return msgspec.structs.replace(found, explains=tuple(map(str, explained))) if explained else None

    def _is_of_column(self, rows: Fit) -> bool:
        """Whether times that are outside of the period came by a fault of their column, not with rows of another."""
        if rows.fault != "other_partition":
            return False
        return any(each.score < rows.score for each in self._fit_out_of_period(rows.columns[0]))

    def _fit_out_of_period(self, label: str) -> list[Fit]:
        """The faults of a column of times that leave them outside of the period, however few they are."""
        return [each for each in _fit_all(self.table.pairs[label]) if _moves_out_of_period(each)]

    def _follows(self, label: str, rows: Diagnosis) -> bool:
        """Whether a column changed no more than it does because rows are missing, doubled or of another time."""
        if label in rows.columns or rows.parameters.get("share") == 1.0:  # no rows came, so nothing did
            return True
        if label not in self.table.pairs:
            return False
        if rows.fault != _OTHER_ROWS and any(key.name in _NEW for key in self._list_failed_of([label])):
            return False  # no value that no run had comes from rows that are missing or doubled
        is_even = "copies" in rows.parameters or not rows.columns  # then other columns look as before
        limit = _EVEN if is_even and "share" not in rows.parameters else rows.share / max(0.05, 1 - rows.share) + 0.02
        parts = [part for name, part in self.table.pairs[label].baseline.items() if name != DISTINCT]
        if any(part > limit for part in parts):
            return False
        # rows that are missing may change a column by much, but not by what a fault of its values explains in full
        fits = _fit_pair(self.table.pairs[label]) if max(parts, default=0.0) > _EVEN else []
        return all(each.score > _FULL for each in fits)

    def _name_exchanges(self, explained: Collection[str]) -> list[Diagnosis]:
        """Columns that hold the values of others, each column once."""
        found: list[Diagnosis] = []
        taken = set(explained)
        for fit in sorted(self._pick(_OF_COLUMNS), key=lambda each: (round(each.score, 1), -len(each.columns))):
            if not taken & set(fit.columns) and set(fit.columns) & set(self.table.failed_columns):
                alternatives = [each for each in self._best_of_columns(fit.columns) if each.score < fit.score]
                if alternatives:  # a simpler fault of one of them explains more
                    continue
                taken |= set(fit.columns)
                found.append(_make_diagnosis([fit], self._list_failed_of(fit.columns)))
        return found

    def _best_of_columns(self, labels: Iterable[str]) -> list[Fit]:
        """The worst of the best faults of some columns, if each of them has one."""
        best = [min(self._fit_column(label), key=lambda each: each.score, default=None) for label in labels]
        known = [each for each in best if each is not None]
        return [max(known, key=lambda each: each.score)] if known and len(known) == len(best) else []

    def _fit_column(self, label: str) -> list[Fit]:
        fits = _fit_pair(self.table.pairs[label])
        is_outside = MetricKey(OUTSIDE_PERIOD, (label,)) in self.table.failed
        return fits if fits or not is_outside else self._fit_out_of_period(label)

    def _name_column_fault(self, label: str, whole: Sequence[Fit]) -> list[Diagnosis]:
        """The fault of a column; two, if it is emptier and what is left of it is changed."""
        pair, failed = self.table.pairs[label], self._list_failed_of([label])
        of_table = [each for each in whole if label in each.columns]
        ranked = _choose([*self._fit_column(label), *of_table])
        emptier = [each for each in faults()["nulls"].fit_column(pair) if each.share < 1]
        of_rest = _choose(_fit_pair(pair.ignore_nulls())) if emptier else []
        if of_rest and (not ranked or of_rest[0].score < ranked[0].score):
            lost = [msgspec.structs.replace(each, unexplained=of_rest[0].score) for each in emptier]
            of_nulls = [each for each in failed if each.name == _COMPLETENESS]
            others = [each for each in failed if each.name != _COMPLETENESS]
            return [_make_diagnosis(lost, of_nulls), _make_diagnosis(of_rest, others)]
        ranked = ranked or _choose(emptier)
        return [_make_diagnosis(ranked, failed)] if ranked else []

    def _list_failed_of(self, columns: Iterable[str]) -> list[MetricKey]:
        wanted = set(columns)
        return [each for each in self.table.failed if each.columns and each.columns[0] in wanted]


def _fit_pair(pair: ColumnPair) -> list[Fit]:
    """All that may have happened to a column."""
    if pair.total < _MIN_CHANGE and pair.before.kind is pair.now.kind:
        return []
    return _fit_all(pair)


def _fit_all(pair: ColumnPair) -> list[Fit]:
    return [fit for each in faults().values() for fit in each.fit_column(pair)]


def _moves_out_of_period(fit: Fit) -> bool:
    """Whether a fault of a column of times leaves them outside of the period; whole days are another batch's times."""
    if fit.fault == "time_shifted":
        return fit.share == 1 and bool(float(fit.parameters["seconds"]) % _DAY)
    return fit.fault == "day_month_swapped" or (fit.fault in ("constant", "placeholder") and "value" in fit.parameters)


def _choose(fits: Iterable[Fit]) -> list[Fit]:
    """The fits that explain enough, the best of each fault, the nearest first."""
    best: dict[str, Fit] = {}
    for fit in sorted(fits, key=lambda each: each.score):
        best.setdefault(fit.fault, fit)
    ranked = list(best.values())
    return ranked if ranked and ranked[0].score <= _MAX_SCORE else []


def _make_diagnosis(ranked: Sequence[Fit], explained: Iterable[MetricKey]) -> Diagnosis:
    fit = ranked[0]
    margin = ranked[1].score - fit.score if len(ranked) > 1 else 1.0
    confidence = max(0.0, 1 - fit.score) * min(1.0, 0.5 + 0.5 * max(0.0, margin) / _MARGIN)
    return Diagnosis(
        fault=fit.fault,
        sentence=write_sentence(fit),
        columns=fit.columns,
        parameters=fit.parameters,
        share=round(fit.share, 4),
        confidence=round(min(confidence, fit.max_confidence), 3),
        others=tuple(each.fault for each in ranked[1 : 1 + _OTHERS] if each.score <= 2 * _MAX_SCORE),
        explains=tuple(map(str, explained)),
        repairable=faults()[fit.fault].repairs,
        estimated=fit.estimated,
    )


def write_sentence(fit: Fit) -> str:
    """What happened, as a sentence."""
    part = ""
    if fit.share < NEARLY_ALL and "%" not in fit.what and fit.fault not in _OF_ROWS:
        part = f" in about {format_share(fit.share, 0)} of the rows"
    if not fit.columns or fit.fault in _OF_ROWS or (fit.fault in _WHOLE and fit.fault != "stale_copy"):
        return f"{fit.what}{part}"
    space = "" if fit.what.startswith(":") else " "
    return f"{_list(fit.columns)}{space}{fit.what}{part}"


def _list(names: Sequence[str]) -> str:
    if len(names) > 4:
        return f"{', '.join(names[:3])} and {len(names) - 3} more columns"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


_PLURALS = {"looks": "look", "is": "are", "has": "have", "lost": "lost", "holds": "hold"}


def _join(found: Sequence[Diagnosis]) -> list[Diagnosis]:
    """One diagnosis for the columns to which the same happened."""
    joined: dict[tuple[object, ...], list[Diagnosis]] = {}
    for each in found:
        words = each.sentence.removeprefix(_list(each.columns)) if len(each.columns) == 1 else each.sentence
        undone = tuple(each.parameters.items()) if each.repairable else ()
        joined.setdefault((words, each.fault, *undone), []).append(each)
    return [_join_columns(str(words), each) for (words, *_), each in joined.items()]


def _join_columns(words: str, alike: Sequence[Diagnosis]) -> Diagnosis:
    if len(alike) == 1:
        return alike[0]
    columns = tuple(column for each in alike for column in each.columns)
    verb, _, rest = words.strip().partition(" ")
    plural = f" {_PLURALS[verb]} {rest.replace('its values', 'their values')}" if verb in _PLURALS else words
    return msgspec.structs.replace(
        alike[0],
        columns=columns,
        sentence=f"{_list(columns)}{plural}",
        confidence=max(each.confidence for each in alike),
        estimated=any(each.estimated for each in alike),
        explains=tuple(metric for each in alike for metric in each.explains),
    )
