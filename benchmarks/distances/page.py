"""Writes docs/methods/distances.md from the result, so that no number there is typed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.values_mode import describe_values
from headgate.metrics.distances.registry import distances

PAGE = Path(__file__).parents[2] / "docs" / "methods" / "distances.md"

FORMULAS = {
    "emd": ("integral of abs(F(x) - G(x)) dx, in the unit of the column", "the width of a bin"),
    "ks_dist": ("max abs(F(x) - G(x))", "the share of the fullest bin"),
    "js_div": ("H((p + q) / 2) - (H(p) + H(q)) / 2 in bits, in bins", "0 in the same bins"),
    "kl_div": ("sum of p log2(p / q), in bins, smoothed", "0 in the same bins"),
    "cohen_d": ("abs(mean - mean') / pooled deviation", "0"),
    "l1": ("sum of abs(p - q)", "2 max(a, b)"),
    "l_inf": ("max abs(p - q)", "max(lost / n, lost' / n')"),
    "cosine": ("1 - p.q / (norm p norm q)", "asin(r) + asin(r'), r = sqrt(a lost / n) / norm p"),
    "chi_squared": ("sum of (p - q)^2 / (p + q)", "4 (a + b)"),
    "value_js_div": ("H((p + q) / 2) - (H(p) + H(q)) / 2 in bits", "e (2 sqrt(d) + e), e = sqrt(a) + sqrt(b)"),
    "value_kl_div": ("sum of p log2(p / q) in bits, smoothed", "none stated"),
}


def write_page(found: dict[str, Any]) -> None:
    parts = (_head, _definitions, _choices, _tables, _errors, _speed)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text("\n".join(part(found) for part in parts), encoding="utf-8")


def _head(_: dict[str, Any]) -> str:
    return """# Distances between two batches

Written by `python -m benchmarks.distances` from `benchmarks/distances/results/distances.json`; do not edit.

A distance says how far a column of one batch is from the same column of an earlier batch. Auto-Validate-by-History
(Tables 3 and 4) computes them from the raw values of both batches. Here they come from the states that a run keeps
anyway: a quantile sketch, the moments, the most frequent values and patterns. The earlier batch need not be there
any more.

```python
import numpy as np

from headgate.metrics.distances.ks_dist import KsDist
from headgate.metrics.states.quantiles import Quantiles

monday, tuesday = Quantiles.of(np.arange(100.0)), Quantiles.of(np.arange(50.0, 150.0))
assert KsDist("price").between(now=tuesday, before=monday).value == 0.5
assert KsDist("price").error(now=tuesday, before=monday) == 0.0
```

A distance is 0 between a batch and itself, and the larger the more two batches differ. `between` gives a number or
`Undefined` with the reason: a batch without values; labels that are hidden under different secrets; no label
frequent enough to be kept. `error` gives the bound on the approximation for two states.
"""


def _definitions(_: dict[str, Any]) -> str:
    lines = [
        "## Definitions and stated errors",
        "",
        "F and G are the shares of numbers up to x; p and q the shares in bins or of labels, p of the new batch. n and",
        "n' are the numbers of values, d is the distance found.",
        "",
        "| distance | state | definition | from 0 to | error at most |",
        "|---|---|---|---|---|",
    ]
    for name in _ordered():
        kind = distances()[name]
        short = name.split("_", 1)[1] if name.startswith(("value_", "pattern_")) else name
        formula, error = FORMULAS.get(name.replace("pattern_", "value_")) or FORMULAS[short]
        lines.append(f"| `{name}` | {kind.folded} | {formula} | {kind.most:g} | {error} |")
    return "\n".join([*lines, ""])


def _choices(_: dict[str, Any]) -> str:
    return """**Numbers.** A state is exact to 1,024 different numbers. Of more it has so many bins, each with its exact
count, and the least and largest number. Two batches are compared in the wider bins of the two: shares up to the end of
a bin are exact in both. For `js_div` and `kl_div` bins are put together to the deciles of the *earlier* batch, and one
each for what lies below and above all of it: a constant that changes leaves its decile whichever way it goes. A value
that is more frequent than a decile is one of their ends, so there may be fewer.

**Labels.** A summary is exact to 512 values or 128 patterns. Beyond, it leaves out a share of the batch, a and b for
the two batches, and a count is off by at most `lost`, about n / 130 or n / 34. What is left out
counts as one label more, "other"; but not in `l_inf` and `cosine`, where it is no label and leaving it out makes the
bound smaller. The square root of `js_div` is a metric, from which its bound follows. Of a column whose values hardly
ever repeat nothing but "other" is known: there only `l_inf` is defined.

**Smoothing.** In `kl_div` 1/2 is added to each count, so it is always finite. It is the divergence of the new batch
from the earlier one; the other way round it differs.

**Distances in place of p-values.** The paper uses the p-value of the Kolmogorov-Smirnov and of the chi-squared test.
A p-value falls with the number of rows: between two batches of a million rows a difference that nobody minds makes
it 0. And it is small where the batches differ, while every other metric is large. So `ks_dist` is the statistic D,
and `chi_squared` the statistic for each row: for two batches of n values, n times the distance is the statistic of
the test. `stats.distances.kolmogorov_significance` gives the p-value of D.

**Which columns.** Numbers, booleans, dates and timestamps have the first five. All of these, text and binary values
have those of values, text those of patterns too.
"""


def _tables(found: dict[str, Any]) -> str:
    lines = [
        "## Measured",
        "",
        "Consecutive batches of real tables, evenly spread over their time. Text becomes numbers where all of it",
        "parses. The exact distance is computed from all values, with scipy where it has it.",
        describe_values({"all tables": found}, "make bench-distances"),
        "",
        "| table | batches | pairs compared | rows of a batch (median) |",
        "|---|---|---|---|",
    ]
    for name, each in found["tables"].items():
        lines.append(f"| {name} | {each['batches']:,} | {each['pairs']} | {each['rows of a batch']:,} |")
    return "\n".join([*lines, ""])


def _errors(found: dict[str, Any]) -> str:
    of_exact = {name: each["largest error of the exact"] for name, each in found["distances"].items()}
    in_units = of_exact.pop("emd")
    lines = [
        "A pair is a column of two batches. Where both states are exact, so is the distance: of those none is off by",
        f"more than {max(of_exact.values()):.0e} (`emd`, in the unit of the column: {in_units:.0e}). The errors below",
        "are over the other pairs.",
        "",
        "| distance | pairs | approximate | exact distance, median | error, median | 95% | largest | relative, median"
        " | bound, median | beyond the bound |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, each in found["distances"].items():
        figures = ("median distance", "median error", "95th percentile", "largest error", "median relative error")
        row = [f"`{name.split(' ', 1)[0]}`{''.join(name.partition(' ')[1:])}", f"{each['pairs']:,}"]
        row += [f"{each['approximate']:,}", *(_figure(each[key]) for key in (*figures, "median bound"))]
        beyond = each["beyond the bound"]
        lines.append(f"| {' | '.join(row)} | {'-' if beyond is None else beyond} |")
    return "\n".join([*lines, "", *_reading(found), ""])


def _reading(found: dict[str, Any]) -> list[str]:
    undefined = found["distances"]["value_l1"]["undefined"]
    return [
        "- `emd` is in the unit of each column, so its absolute errors are of different units; read the relative one.",
        "- `js_div` and `kl_div` have two rows: against the exact distance in the exact deciles, and in the deciles",
        "  that the sketch found. The bound is stated for the second. The first also has what a moved bin end does,",
        "  which is most where a few values make up the column.",
        "- The stated bound of `js_div` is for the worst case, and wide.",
        "- Of values that hardly repeat a summary leaves out much. There all distances of values but `value_l_inf` are",
        "  rough: they see little of a change among rare values, and the stated bounds say so, up to the largest",
        f"  distance there can be. In {undefined} pairs nothing is kept of either batch, and they are undefined.",
        "  `value_l_inf` is within about 1/130.",
    ]


def _speed(found: dict[str, Any]) -> str:
    each = found["microseconds"]
    counts = {folded: sum(kind.folded == folded for kind in distances().values()) for folded in each}
    pairs = 29 * 200 / 1e6
    numbers = pairs * sum(each[folded] * counts[folded] for folded in ("quantiles", "moments"))
    text = pairs * sum(each[folded] * counts[folded] for folded in ("frequent_values", "frequent_patterns"))
    rows = [f"| {folded} | {counts[folded]} | {each[folded]:.0f} |" for folded in each]
    return "\n".join(
        [
            "## Cost",
            "",
            "30 runs, each against the run before, of 20,000 rows; full sketches and summaries. Opening the states is",
            "counted in.",
            "",
            "| state | distances | microseconds for one |",
            "|---|---|---|",
            *rows,
            "",
            f"For a table of 200 columns that is {numbers:.1f} s if all are of numbers (5 distances each), and",
            f"{text:.1f} s if all are of text (12 distances each).",
            f"{', '.join(f'{name} {version}' for name, version in found['versions'].items())}.",
            "",
        ]
    )


def _ordered() -> list[str]:
    groups = ("quantiles", "moments", "frequent_values", "frequent_patterns")
    own = ("new_values", "new_patterns", "unchanged")  # which the paper does not have; docs/methods/history.md does
    names = [name for name in distances() if name not in own]
    return sorted(names, key=lambda name: groups.index(distances()[name].folded))


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return "0" if value == 0 else f"{value:.2g}" if value >= 1e-4 else f"{value:.0e}"
