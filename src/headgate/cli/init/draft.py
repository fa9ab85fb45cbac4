"""Writes the text of a new headgate.yml, with comments and with checks suggested from the data."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgate.cli.init.sources import FoundSource

if TYPE_CHECKING:
    from headgate.checks.rule import Rule

SUGGESTION_ROWS = 50_000
"""The first rows of a batch, from which checks are suggested."""
EARLIER_BATCHES = 4
"""The number of batches before the newest on which a suggestion must hold too."""
LEARNED_RULES = {"is_in_range"}
"""Rules that are not suggested, since the gate learns them better from the history."""
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_YAML_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

HEAD = """\
# What Headgate guards. headgate doctor says whether all of it can be reached; docs/headgate-yml.md has every key.

store: file:history           # what was measured and decided, of every batch; or ${env:HEADGATE_STORE}
reports: reports              # headgate run writes its pages here
"""
SPARK = """
spark:                        # starts when a dataset needs it
  master: local[*]            # or remote: sc://host:15002
  packages: []                # the jars of delta or iceberg: [io.delta:delta-spark_2.13:4.0.0]
"""
ALERTS = """
# alerts:
#   - slack: ${env:SLACK_URL}   # secrets are named, never written here
#     on: status_change
"""
EXAMPLE = """\
  orders:                     # an example: put your own table here
    source: {format: parquet, path: "lake/orders/day={partition}"}
    false_alarms: 0.01        # of the good batches at most one in a hundred is held by what was learned
    # owner: payments@
    # checks:                 # headgate suggest FILE prints some
    #   - is_complete: [order_id, customer_id]
    #   - is_unique: order_id
"""


@dataclass
class SuggestedChecks:
    """Rules that hold on the newest batch.

    `held` are those that hold on the earlier batches too, `broken` the others, each with the batch that breaks it.
    `error` says why there are none.
    """

    newest: str = ""
    held: list[Rule] = field(default_factory=list)
    broken: list[tuple[Rule, str]] = field(default_factory=list)
    error: str = ""


def suggest_checks(source: FoundSource) -> SuggestedChecks:
    """Suggest checks from the newest batch, and try them on the batches before it."""
    from headgate.values.errors import HeadgateError

    if source.needs_spark:
        return SuggestedChecks(error="read with Spark: headgate suggest DATASET --partition P prints checks")
    try:
        return _suggest_from_batches(source)
    except (HeadgateError, OSError, ValueError) as error:
        return SuggestedChecks(error=str(error).splitlines()[0][:200])


def _suggest_from_batches(source: FoundSource) -> SuggestedChecks:
    from headgate.checks.constraint import expectations
    from headgate.checks.rule_context import AnyRuleContext
    from headgate.engine.analyze import analyze
    from headgate.engine.batch import open_batch
    from headgate.learn.rules.row_count import suggest_row_count
    from headgate.learn.rules.suggest import measure_coverage, metrics_of, suggest

    newest, *earlier = list(reversed(source.partitions)) or [""]
    suggested = SuggestedChecks(newest)
    first_rows, count = _read_batch(source, newest)
    counts = [count]
    rules = [each.rule for each in suggest(first_rows, source.name).holding if each.rule.name not in LEARNED_RULES]
    context = AnyRuleContext(open_batch(first_rows).schema)
    drafts = [(rule, expectations(rule, context)) for rule in rules]
    for partition in earlier[:EARLIER_BATCHES]:
        first_rows, count = _read_batch(source, partition)
        counts.append(count)
        outcomes = analyze(first_rows, metrics_of(expected for _, expected in drafts)).outcomes
        failing = [rule for rule, expected in drafts if measure_coverage(expected, outcomes) not in (1.0, None)]
        suggested.broken += [(rule, partition) for rule in failing]
        drafts = [(rule, expected) for rule, expected in drafts if rule not in failing]
    row_count = suggest_row_count(counts)
    suggested.held = [*([] if row_count is None else [row_count.rule]), *(rule for rule, _ in drafts)]
    return suggested


def _read_batch(source: FoundSource, partition: str) -> tuple[Any, int]:
    """The first rows of a batch, and how many it has."""
    from headgate.cli.input_batch import open_file
    from headgate.project.files import select_rows

    data = open_file(str(source.batch_path(partition)), source.format)
    columns = [name for name in data.schema.names if name != source.key]
    batch = select_rows(data, source.key, partition, source.name) if source.key else data
    rows = batch.head(SUGGESTION_ROWS, columns=columns)
    return rows, len(rows) if len(rows) < SUGGESTION_ROWS else batch.count_rows()


def format_config(sources: Sequence[tuple[FoundSource, SuggestedChecks]], folder: Path) -> str:
    """The text of a configuration in this folder."""
    spark = SPARK if any(source.needs_spark for source, _ in sources) else ""
    datasets = "\n".join("\n".join(_dataset_lines(*each, folder)) for each in sources)
    return f"{HEAD}{spark}\ndatasets:\n{datasets + chr(10) if sources else EXAMPLE}{ALERTS}"


def _dataset_lines(source: FoundSource, suggested: SuggestedChecks, folder: Path) -> Iterator[str]:
    yield f"  {quote_scalar(source.name)}:"
    yield f"    source: {{{', '.join(_source_items(source, folder))}}}"
    if not source.partitions:
        yield """    # One batch. If a column tells batches apart, add to the source:  where: "day = '{partition}'\""""
    yield "    false_alarms: 0.01        # of the good batches at most one in a hundred is held by what was learned"
    yield "    # owner: team@            # who is asked about a held batch"
    if suggested.error:
        yield f"    # No checks are suggested: {make_printable(suggested.error)}"
    if suggested.held:
        origin = f" by {make_printable(suggested.newest)}" if suggested.newest else ""
        yield f"    checks:                   # suggested{origin}: strike what need not be so"
        yield from (f"    {line}" for line in _rule_lines(suggested.held))
    if suggested.broken:
        yield "    # Suggested too, but not so in every earlier batch:"
        for rule, partition in suggested.broken:
            yield from (f"    # {line}" for line in _rule_lines([rule]))
            yield f"    #     (not in {make_printable(partition)})"


def _source_items(source: FoundSource, folder: Path) -> Iterator[str]:
    path = path_of(source, folder)
    yield f"format: {source.format}"
    yield f"path: {json.dumps(path, ensure_ascii=False)}"
    if source.key:
        yield f'''where: "{source.key} = '{{partition}}'"'''


def path_of(source: FoundSource, folder: Path) -> str:
    """The path for a configuration in this folder: relative if the data are below the folder."""
    absolute = os.path.abspath(source.root / source.inside) if source.inside else os.path.abspath(source.root)
    relative = os.path.relpath(absolute, os.path.abspath(folder))
    return Path(absolute if relative.startswith("..") else relative).as_posix()


def _rule_lines(rules: Sequence[Rule]) -> list[str]:
    """The lines of a list of checks in YAML."""
    from headgate.checks.check import Check

    return Check("suggested", rules=list(rules)).to_yaml().splitlines()[1:]


def quote_scalar(text: str) -> str:
    """A text as a YAML scalar, quoted if YAML would read it otherwise.

    >>> quote_scalar("orders"), quote_scalar("on"), quote_scalar("größe: 1")
    ('orders', '"on"', '"größe: 1"')
    """
    plain = _BARE.fullmatch(text) and text.lower() not in _YAML_WORDS
    return text if plain else json.dumps(text, ensure_ascii=False)


def make_printable(text: str) -> str:
    """The text with unprintable characters replaced, so that it cannot begin a new line."""
    return "".join(char if char.isprintable() else "?" for char in text)
