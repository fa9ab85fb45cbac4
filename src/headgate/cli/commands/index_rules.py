"""The rules that an index gives for the columns of a file.

Tested by `tests/cli/commands/test_index.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headgate.display.table import Table
    from headgate.learn.patterns.index import PatternIndex


def infer_rules(
    index: PatternIndex, source: str, columns: Sequence[str] | None, limit: float | None, format: str | None
) -> list[dict[str, Any]]:
    """A record for each text column, or for each of `columns`; its fields are None where no rule is safe enough."""
    import pyarrow as pa

    from headgate.cli.input_batch import open_file
    from headgate.values.errors import MisuseError, did_you_mean

    data = open_file(source, format)
    for name in columns or ():
        if name not in data.schema.names:
            raise MisuseError(f"{source} has no column {name!r};", hint=did_you_mean(name, data.schema.names))
    text = [each.name for each in data.schema if pa.types.is_string(each.type) or pa.types.is_large_string(each.type)]
    rules = []
    for name in columns or text:
        values = data.to_table(columns=[name]).column(0).cast(pa.string())
        rules.append({"column": name, **_rule_to_dict(index.infer(values, limit=limit))})
    return rules


def _rule_to_dict(rule: Any) -> dict[str, Any]:
    if rule is None:
        return dict.fromkeys(("pattern", "regex", "columns", "false_alarms", "missed"))
    return {
        "pattern": str(rule),
        "regex": rule.regex,
        "columns": rule.coverage,
        "false_alarms": rule.alarm,
        "missed": rule.miss,
    }


def rules_table(rules: Sequence[dict[str, Any]]) -> Table | str:
    """A table with a row for each column."""
    from headgate.display.table import Table

    if not rules:
        return "There is no text column."
    rows = tuple(
        (
            each["column"],
            each["pattern"] or "nothing is safe enough",
            f"{each['columns']:,}" if each["pattern"] else "",
            f"{each['false_alarms']:.1%}" if each["pattern"] else "",
        )
        for each in rules
    )
    return Table(("column", "pattern", "columns like it", "false alarms"), rows, numeric=frozenset({2, 3}))
