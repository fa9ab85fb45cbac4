"""Writes docs/metrics.md from the registry: what every metric is, and what every kind of column gets."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from headgate.analyzers.base.metric import ColumnMetric, GroupMetric, Metric, PairMetric
from headgate.analyzers.base.registry import metrics
from headgate.values.schema import Kind
from headgate.values.state import tag_of

PAGE = Path(__file__).parent / "metrics.md"

HEAD = """# Metrics

Written by `make docs` from the registry; do not edit. How nulls, NaN, infinities, empty strings and other odd values
count is in [values.md](values.md).

A metric is written `hg.Mean("price")` in Python and `mean(price)` as text; every one takes `where="SQL predicate"`.
Metrics that read the same state cost one fold together.
"""


def page() -> str:
    return "\n".join([HEAD, _table(), _matrix(), _definitions()])


def _table() -> str:
    lines = ["| metric | Python | reads the state |", "|---|---|---|"]
    lines += [f"| `{name}` | `hg.{_call(kind)}` | {_state(kind)} |" for name, kind in metrics().items()]
    return "## All metrics\n\n" + "\n".join(lines) + "\n"


def _matrix() -> str:
    """Which kind of column gets what: D by default, y when asked, nothing otherwise."""
    kinds = list(Kind)
    lines = [f"| metric | {' | '.join(kind.value for kind in kinds)} |", "|---" * (len(kinds) + 1) + "|"]
    for name, metric in metrics().items():
        if issubclass(metric, (ColumnMetric, PairMetric, GroupMetric)):
            cells = ["D" if kind in metric.default else "y" if kind in metric.accepts else "" for kind in kinds]
            lines.append(f"| `{name}` | {' | '.join(cells)} |")
    words = (
        "`D`: computed by default. `y`: computed when asked for. Empty: asked for, it is a `Failed` outcome that says\n"
        "why, and no other metric suffers. `other` is every nested or exotic type: arrays, maps, structs, intervals,\n"
        "variants, times, durations, void. Unsigned 64-bit integers count as decimals; dictionary, run-end and view\n"
        "encodings as what they encode.\n"
    )
    return "## Support matrix\n\n" + words + "\n" + "\n".join(lines) + "\n"


def _definitions() -> str:
    parts = [f"### {name}\n\n{_text(kind)}\n" for name, kind in metrics().items()]
    return "## Definitions\n\n" + "\n".join(parts)


def _call(kind: type[Metric]) -> str:  # type: ignore[type-arg]
    shown = {
        "column": '"column"',
        "columns": '["column", ...]',
        "left": '"left"',
        "right": '"right"',
        "predicate": '"SQL"',
    }
    inputs = [shown.get(field, f"{field}=...") for field in kind.__struct_fields__ if field != "where"]
    return f"{kind.__name__}({', '.join(inputs)})"


def _state(kind: type[Metric]) -> str:  # type: ignore[type-arg]
    return f"`{kind.folded}` ({tag_of(kind.state)})" if kind.folded != tag_of(kind.state) else f"`{kind.folded}`"


def _text(kind: type[Metric]) -> str:  # type: ignore[type-arg]
    return inspect.cleandoc(kind.__doc__ or "").replace("|", "\\|").replace("<", "\\<")


def main() -> int:
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") == text:
        return 0
    print("docs/metrics.md is not what the registry says; run `make docs`.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
