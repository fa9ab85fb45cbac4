"""The predicate `where` of a source: parsed, checked against an allow-list, and written for one batch."""

from __future__ import annotations

import re

from headgate.metrics.base.sql import quote_value
from headgate.project.path_template import PARTITION
from headgate.values.errors import BadPredicate

_MARK = "headgate0partition0here"  # stands for {partition} while the predicate is parsed
_EQUAL = re.compile(rf"(?:`((?:[^`]|``)+)`|([A-Za-z_][A-Za-z0-9_]*)) = '{_MARK}'")


def where_mistake(where: str) -> tuple[str, str] | None:
    """The message and the hint of a mistake in a predicate; None if it is correct.

    >>> where_mistake("day = '{partition}'")
    >>> where_mistake("day = {partition}")[0]
    '{partition} must be a whole text in quotes.'
    """
    try:
        _parse_template(where)
    except BadPredicate as error:
        message = str(error).removesuffix(error.hint).strip().replace(_MARK, PARTITION)
        return message, error.hint or "Write day = '{partition}'."
    return None


def batch_predicate(where: str, partition: str) -> str:
    r"""The predicate for one batch, with its name as a SQL literal.

    >>> print(batch_predicate("day='{partition}' and region <> 'test'", "it's"))
    day = 'it\'s' AND region <> 'test'
    """
    return _parse_template(where).replace(f"'{_MARK}'", quote_value(partition))


def column_of(where: str) -> str | None:
    """The column of a predicate of the form column = '{partition}'; None for any other predicate.

    >>> column_of("day = '{partition}'"), column_of("`order day` = '{partition}'"), column_of("day >= '{partition}'")
    ('day', 'order day', None)
    """
    match = _EQUAL.fullmatch(_parse_template(where))
    if match is None:
        return None
    return match[2] or match[1].replace("``", "`")


def _parse_template(where: str) -> str:
    """The predicate, generated from its syntax tree, with the mark instead of {partition}."""
    from headgate.checks.guard import guard_predicate

    if _MARK in where:
        raise BadPredicate(f"{_MARK} may not be used.")
    if "{" in where.replace(PARTITION, ""):
        raise BadPredicate("a brace stands for nothing but {partition}.", hint="Write day = '{partition}'.")
    loose = where.count(PARTITION) - where.count(f"'{PARTITION}'")
    if loose:
        raise BadPredicate(f"{PARTITION} must be a whole text in quotes.", hint=f"Write day = '{PARTITION}'.")
    written = guard_predicate(where.replace(PARTITION, _MARK))
    if written.count(f"'{_MARK}'") != where.count(PARTITION):
        raise BadPredicate(f"{PARTITION} must be a whole text in quotes.", hint=f"Write day = '{PARTITION}'.")
    return written
