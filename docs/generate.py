"""Writes what the code knows of itself: metrics, constraints, the evidence of programs, the stubs that editors read."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from docs.commands import commands_page
from docs.config import config_page, schema_text
from docs.output_json import output_page
from docs.stubs import check_stub, package_stub
from headgate.checks.constraint import Constraint, constraints
from headgate.learn.history.series_kinds import ALL_KINDS, CONSTANT
from headgate.learn.novelty.model import NOVELTY
from headgate.learn.pooled_rates import COARSE, HISTORY_LENGTHS, load_pooled_rates, make_curve_key
from headgate.learn.rarity_limit import find_limit
from headgate.metrics.base.metric import ColumnMetric, GroupMetric, Metric, PairMetric, SchemaMetric
from headgate.metrics.base.registry import metrics
from headgate.values.rarity_memory import NOTHING_REMEMBERED, Part
from headgate.values.schema import Kind
from headgate.values.state import tag_of

ROOT = Path(__file__).resolve().parents[1]

HEAD = """# Metrics

Written by `make docs` from the registry; do not edit. How nulls, NaN, infinities, empty strings and other odd values
count is in [values.md](values.md).

A metric is written `hg.Mean("price")` in Python and `mean(price)` as text; every one takes `where="SQL predicate"`.
Metrics that read the same state cost one fold together.
"""


def metrics_page() -> str:
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
        "variants, times, durations, void; what is inside of them has [columns of its own](guides/nested.md).\n"
        "Unsigned 64-bit integers count as decimals; dictionary, run-end and view encodings as what they encode.\n"
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
    if issubclass(kind, SchemaMetric):
        return "none: the schema"
    return f"`{kind.folded}` ({tag_of(kind.state)})" if kind.folded != tag_of(kind.state) else f"`{kind.folded}`"


def _text(kind: type[Metric]) -> str:  # type: ignore[type-arg]
    return inspect.cleandoc(kind.__doc__ or "").replace("|", "\\|").replace("<", "\\<")


CONSTRAINTS_HEAD = """# Constraints

Written by `make docs` from the code; do not edit. How to use them: [checks.md](checks.md). The names that Deequ has for
them: [deequ.md](deequ.md).

Every constraint is a method of `hg.Check` and a key of a `checks:` section in YAML. Every one takes `where=`, `by=`
(unless of the whole batch), and `level=` or `warn=` and `error=`. Those with a default expect it where nothing else
is said.
"""


def constraints_page() -> str:
    declared = {name: each for name, each in constraints().items() if each.metric is None}
    plain = {name: each for name, each in constraints().items() if each.metric is not None}
    lines = ["| constraint | what it says | expects by default |", "|---|---|---|"]
    lines += [
        f"| `{name}{each.signature()}` | {_escaped(each.says)} | {_default(each)} |" for name, each in declared.items()
    ]
    words = (
        "One for every [metric](metrics.md), which must be told what to expect: `between= at_least= at_most= equals=\n"
        "one_of=` or a function.\n"
    )
    forms = ["| constraint | metric |", "|---|---|"]
    forms += [f"| `{name}{each.signature()}` | {_escaped(each.says)} |" for name, each in plain.items()]
    return "\n".join([CONSTRAINTS_HEAD, *lines, "\n## Plain forms of metrics\n", words, *forms, ""])


def _default(each: Constraint) -> str:
    if each.fixed:
        return "found out by itself"
    return "must be said" if each.default is None else str(each.default).removeprefix("equal to ")


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<")


EVIDENCE_HEAD = """# How often metrics surprise

Written by `make docs` from `learn/pooled_rates.json`; do not edit. What it is for: [history.md](history.md).

Over all series of 17 real feeds with a history of 28 to 30 runs: the share of next values that lay beyond the forecast
by more than so many scales. A series that never changed has a small share of its natural size as its scale, so *any* is
any change at all. Values are weighted: no feed counts as more than 2,000 of a kind of series. Names with a star are
those of families. The evidence also tells kinds of varying series apart; here they are added up.
"""
REACHES = (1e-6, 1.0, 10.0, 100.0)
SHARES = (0.05, 0.02, 0.01, 0.005, 0.002, 0.001)


def evidence_page() -> str:
    parts = [EVIDENCE_HEAD]
    for constant, title in ((True, "Series that never changed"), (False, "Series that varied")):
        head = ["| metric | values | any | 1 | 10 | 100 |" if constant else "| metric | values | 1 | 10 | 100 |"]
        reaches = REACHES if constant else REACHES[1:]
        rows = sorted(_surprising(constant, reaches), key=lambda row: row[2])
        cells = [(name, f"{seen:,.0f}", *(f"{share:.3%}" for share in shares)) for name, seen, *shares in rows]
        lines = [f"| `{name}` | {' | '.join(rest)} |" for name, *rest in cells]
        parts += [f"## {title}\n", *head, "|---" * (len(reaches) + 2) + "|", *lines, ""]
    return "\n".join([*parts, *_batches()])


def _surprising(constant: bool, reaches: tuple[float, ...]) -> Iterator[tuple[str, float, *tuple[float, ...]]]:
    tails = load_pooled_rates()
    kinds = [CONSTANT] if constant else [*ALL_KINDS[1:]]
    for name in sorted({key.split(" ")[0] for key in tails.curves} - {COARSE, NOVELTY.name}):
        keys = [make_curve_key(name, kind, HISTORY_LENGTHS[-1]) for kind in kinds]
        curves = [tails.curves[key] for key in keys if key in tails.curves]
        if seen := sum(each.seen for each in curves):
            places = [tails.grid.index(reach) for reach in reaches]
            yield name, seen, *(sum(each.seen * each.shares[at] for each in curves) / seen for at in places)


def _batches() -> Iterator[str]:
    yield "## Batches\n"
    yield "The lowest limit that no more than so many good batches of the feeds exceed, on average over feeds. Rows,"
    yield "basics and nulls are compared by 2.5 times the logarithm of 1 + their largest surprise, columns by rarity.\n"
    yield "| part | runs | " + " | ".join(f"{share:.1%}" for share in SHARES) + " |"
    yield "|---" * (2 + len(SHARES)) + "|"
    for part in Part:
        for runs in HISTORY_LENGTHS:
            rates = load_pooled_rates().batch_rates(part, runs)
            limits = [find_limit(replace(rates, level=0.0), NOTHING_REMEMBERED, part, share) for share in SHARES]
            cells = " | ".join("none" if each is None else f"{each.rarity:g}" for each in limits)
            yield f"| {part.value} | {runs} | {cells} |"
    yield ""


WRITTEN = {
    "docs/metrics.md": metrics_page,
    "docs/constraints.md": constraints_page,
    "docs/methods/evidence.md": evidence_page,
    "docs/reference/commands.md": commands_page,
    "docs/reference/output-json.md": output_page,
    "docs/reference/config.md": config_page,
    "docs/headgate.schema.json": schema_text,
    "src/headgate/__init__.pyi": package_stub,
    "src/headgate/checks/methods.pyi": check_stub,
}


def main() -> int:
    stale = []
    for name, make in WRITTEN.items():
        path, text = ROOT / name, make()
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    for name in stale:
        print(f"{name} is not what the code says; run `make docs`.", file=sys.stderr)
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
