"""The text of a new headgate.yml: commented, with checks that the batches themselves suggest."""

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
"""Rows of a batch that suggestions are made from."""
EARLIER_BATCHES = 4
"""Batches before the newest that a suggestion must hold on too."""
LEARNED_RULES = {"is_in_range"}
"""What the history teaches better than one batch can."""
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
    """Rules that hold on the newest batch: those that hold on earlier ones too, and those that do not, with where."""

    newest: str = ""
    held: list[Rule] = field(default_factory=list)
    broken: list[tuple[Rule, str]] = field(default_factory=list)
    trouble: str = ""


def suggest_checks(source: FoundSource) -> SuggestedChecks:
    """What the newest batch suggests, tried on the batches before it."""
    from headgate.values.errors import HeadgateError

    if source.needs_spark:
        return SuggestedChecks(trouble="read with Spark: headgate suggest DATASET --partition P prints checks")
    try:
        return _suggest_from_batches(source)
    except (HeadgateError, OSError, ValueError) as trouble:
        return SuggestedChecks(trouble=str(trouble).splitlines()[0][:200])


def _suggest_from_batches(source: FoundSource) -> SuggestedChecks:
    from headgate.checks.constraint import expectations
    from headgate.engine.analyze import analyze
    from headgate.learn.rules.suggest import measure_coverage, metrics_of, suggest

    newest, *earlier = list(reversed(source.partitions)) or [""]
    found = SuggestedChecks(newest)
    rules = [
        each.rule
        for each in suggest(_read_rows(source, newest), source.name).holding
        if each.rule.name not in LEARNED_RULES
    ]
    drafts = [(rule, expectations(rule)) for rule in rules]
    for partition in earlier[:EARLIER_BATCHES]:
        outcomes = analyze(_read_rows(source, partition), metrics_of(asked for _, asked in drafts)).outcomes
        failing = [rule for rule, asked in drafts if measure_coverage(asked, outcomes) not in (1.0, None)]
        found.broken += [(rule, partition) for rule in failing]
        drafts = [(rule, asked) for rule, asked in drafts if rule not in failing]
    found.held = [rule for rule, _ in drafts]
    return found


def _read_rows(source: FoundSource, partition: str) -> Any:
    from headgate.cli.input_batch import open_file

    data = open_file(str(source.batch_path(partition)), source.format)
    if not source.key:
        return data.head(SUGGESTION_ROWS)
    from headgate.project.files import select_rows

    others = [name for name in data.schema.names if name != source.key]
    return select_rows(data, source.key, partition, source.name).head(SUGGESTION_ROWS, columns=others)


def format_config(sources: Sequence[tuple[FoundSource, SuggestedChecks]], folder: Path) -> str:
    """The file, for a configuration that lies in this folder."""
    spark = SPARK if any(source.needs_spark for source, _ in sources) else ""
    each = "\n".join("\n".join(_dataset_lines(*found, folder)) for found in sources)
    return f"{HEAD}{spark}\ndatasets:\n{each + chr(10) if sources else EXAMPLE}{ALERTS}"


def _dataset_lines(source: FoundSource, found: SuggestedChecks, folder: Path) -> Iterator[str]:
    yield f"  {quote_scalar(source.name)}:"
    yield f"    source: {{{', '.join(_source_items(source, folder))}}}"
    if not source.partitions:
        yield """    # One batch. If a column tells batches apart, add to the source:  where: "day = '{partition}'\""""
    yield "    false_alarms: 0.01        # of the good batches at most one in a hundred is held by what was learned"
    yield "    # owner: team@            # who is asked about a held batch"
    if found.trouble:
        yield f"    # No checks are suggested: {make_printable(found.trouble)}"
    if found.held:
        origin = f" by {make_printable(found.newest)}" if found.newest else ""
        yield f"    checks:                   # suggested{origin}: strike what need not be so"
        yield from (f"    {line}" for line in _rule_lines(found.held))
    if found.broken:
        yield "    # Suggested too, but not so in every earlier batch:"
        for rule, where in found.broken:
            yield from (f"    # {line}" for line in _rule_lines([rule]))
            yield f"    #     (not in {make_printable(where)})"


def _source_items(source: FoundSource, folder: Path) -> Iterator[str]:
    path = path_of(source, folder)
    yield f"format: {source.format}"
    yield f"path: {json.dumps(path, ensure_ascii=False)}"
    if source.key:
        yield f'''where: "{source.key} = '{{partition}}'"'''


def path_of(source: FoundSource, folder: Path) -> str:
    """The path as the file says it: relative where the data lie beside the file."""
    whole = os.path.abspath(source.root / source.inside) if source.inside else os.path.abspath(source.root)
    near = os.path.relpath(whole, os.path.abspath(folder))
    return Path(whole if near.startswith("..") else near).as_posix()


def _rule_lines(rules: Sequence[Rule]) -> list[str]:
    """The items of a list of checks, as lines."""
    from headgate.checks.check import Check

    return Check("suggested", rules=list(rules)).to_yaml().splitlines()[1:]


def quote_scalar(text: str) -> str:
    """A text as YAML reads it back.

    >>> quote_scalar("orders"), quote_scalar("on"), quote_scalar("größe: 1")
    ('orders', '"on"', '"größe: 1"')
    """
    plain = _BARE.fullmatch(text) and text.lower() not in _YAML_WORDS
    return text if plain else json.dumps(text, ensure_ascii=False)


def make_printable(text: str) -> str:
    """A text that stays in its line."""
    return "".join(char if char.isprintable() else "?" for char in text)
