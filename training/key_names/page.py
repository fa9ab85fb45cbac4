"""Writes docs/methods/names.md from the results, so that no number there is typed by hand."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "methods" / "names.md"


def write_page(found: dict[str, Any]) -> None:
    parts = (_head, _data, _formula, _figures, _refusals, _calibration, _settings, _examples, _wrong)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text("\n".join(part(found) for part in parts), encoding="utf-8")


def _head(_: dict[str, Any]) -> str:
    return """# The name classifier

Written by `python -m training.key_names` from `training/key_names/results/names.json`; do not edit.

A column whose values are all different in a sample need not be a key: a count of posts, a price, a time of creation
look unique until the first repetition. The column's name often tells. `unique_probability(column, kind, table)` gives
the probability that the schema of an open-source project would declare such a column unique. A rule that has seen
values proposes that a column is unique; the classifier may refuse (below 0.5). It never proposes by itself.

The method is that of Schelter et al., *Automating large-scale data quality verification*, VLDB 2018, sections 3.3 and
4.2: logistic regression over hashed character n-grams of the names and the type.

```python
from headgate.learn.rules.key_names import unique_probability
from headgate.values.schema import Kind

unique_probability("customer_id", Kind.INTEGER, table="customers")
```
"""


def _data(found: dict[str, Any]) -> str:
    data = found["data"]
    return f"""## Data

{data["columns"]:,} columns of {data["tables"]:,} tables of {data["projects"]} open-source projects; {data["unique"]:,}
({data["unique"] / data["columns"]:.1%}) are unique, {data["unique_named_id"]:,} of them are called `id`. At most 250
columns of a project that a script read, a few more of those read by hand. A column is unique if it alone is the primary
key or has a unique constraint or index; a member of a composite key is not. `training/key_names/SOURCES.md` lists every
project and how it was read; `training/key_names/schemas.csv` holds the columns. The paper has 2,453 columns of several
projects, among them mediawiki, wordpress and oscommerce, which are here too.
"""


def _formula(found: dict[str, Any]) -> str:
    chosen = found["chosen"]
    return f"""## Formula

p = 1 / (1 + exp(-(b + sum of w[h(f)] over the features f))), h = CRC-32 modulo 2^{chosen["bits"]}.

Features, each there or not: the kind; the name in lower case, camelCase cut into words, with marks for its beginning
and its end, as n-grams of 2 to {chosen["ngram"]} characters; the whole name, the first and the last word, alone and
with the kind; the number of words (up to 5). With a table: its last word, alone and with the column's last word; the
number of its words; and what is left of the column's name after the table's name, singular or initials (`id` of
`orders.order_id`, of `change_tag.ct_id`).

Training: elastic net or L1, picked by cross-validation; no class weights, so that 0.5 means one in two. Every column is
given twice with half weight, with its table's name and without: one set of {found["weights"]:,} weights
({_kilobytes()} kB) answers both. The package needs no scikit-learn.
"""


def _kilobytes() -> int:
    return round((Path(__file__).parents[2] / "src/headgate/learn/rules/key_names.json").stat().st_size / 1000)


def _figures(found: dict[str, Any]) -> str:
    areas = sorted(found["projects"].values())
    spread = found["fold_areas"]["with_table"]
    low = sorted(found["projects"].items(), key=lambda each: each[1])[:5]
    lines = [
        "## Figures\n",
        "*Grouped*: no project is in both training and test (5 folds); the settings are picked inside each training",
        "side. This is the figure for a schema that nobody has seen. *Plain*: 5 folds over columns, as in the paper,",
        "so that other columns of the same project are in training; the settings are the shipped ones. Precision and",
        'recall are those of "unique" at 0.5; the last three columns leave out columns called `id`.\n',
        "| folds | names given | ROC AUC | precision | recall | AUC, not `id` | precision, same | recall, same |",
        "|---" * 8 + "|",
    ]
    for folds in ("grouped", "plain"):
        for way, label in (("with_table", "table and column"), ("without_table", "column")):
            lines.append(_line(folds, label, found[folds][way]))
    lines += [
        f"| (no learning) | is it called `id`? | {found['named_id']['auc']:.3f} | {found['named_id']['precision']:.3f} "
        f"| {found['named_id']['recall']:.3f} | 0.5 | - | - |",
        "| paper: plain | table and column | 0.859 | | | | | |\n",
        "The paper's figure cannot be compared directly: other projects, other features, and perhaps another share of",
        "columns called `id`, which need no learning. On columns not called `id` the classifier is clearly weaker, and",
        "without the table's name weaker still: `order_id` is a key in one table and a reference in twenty others. At",
        "0.5 it finds few of those keys: it is made to refuse.\n",
        f"The five grouped folds have areas from {min(spread):.3f} to {max(spread):.3f} with the table. "
        f"Of single projects (grouped, with table) the median area is {statistics.median(areas):.3f}; the lowest are "
        + ", ".join(f"{name} {area:.3f}" for name, area in low)
        + ".",
        "",
    ]
    return "\n".join(lines)


def _line(folds: str, label: str, each: dict[str, Any]) -> str:
    keys = ("auc", "precision", "recall", "auc_not_named_id", "precision_not_named_id", "recall_not_named_id")
    return f"| {folds} | {label} | " + " | ".join(f"{each[key]:.3f}" for key in keys) + " |"


def _refusals(found: dict[str, Any]) -> str:
    lines = [
        "## What a refusal costs\n",
        "Grouped, held out: the keys that are let through at a threshold, and the other columns that are refused. The",
        "paper refuses below 0.5. That asks whether any column of that name is a key; for a column whose values have",
        "already been seen to be different a lower threshold keeps far more keys.\n",
        "| names given | threshold | keys kept | keys kept, not called `id` | others refused |",
        "|---" * 5 + "|",
    ]
    for way, label in (("with_table", "table and column"), ("without_table", "column")):
        for each in found["thresholds"][way]:
            kept, rest, refused = (each[key] for key in ("keys_kept", "keys_kept_not_named_id", "others_refused"))
            lines.append(f"| {label} | {each['threshold']} | {kept:.1%} | {rest:.1%} | {refused:.1%} |")
    return "\n".join([*lines, ""])


def _calibration(found: dict[str, Any]) -> str:
    lines = [
        "## Calibration\n",
        "Grouped, held out: the mean probability and the share of columns that are unique.\n",
        "| names given | columns | predicted | seen |",
        "|---" * 4 + "|",
    ]
    for way, label in (("with_table", "table and column"), ("without_table", "column")):
        for each in found["grouped"][way]["calibration"]:
            lines.append(f"| {label} | {each['columns']:,} | {each['predicted']:.3f} | {each['seen']:.3f} |")
    return "\n".join([*lines, ""])


def _settings(found: dict[str, Any]) -> str:
    lines = [
        "## Settings tried\n",
        "Mean of the areas with and without the table, 4 folds by project over all data; the best is shipped.\n",
        "| longest n-gram | buckets | C | share of L1 | AUC |",
        "|---" * 5 + "|",
    ]
    for each in found["choices"]:
        lines.append(f"| {each['ngram']} | 2^{each['bits']} | {each['c']} | {each['l1_ratio']} | {each['auc']:.4f} |")
    return "\n".join([*lines, ""])


def _examples(found: dict[str, Any]) -> str:
    lines = [
        "## Examples\n",
        "From the shipped weights. The paper gives 0.81 and 0.83 for `id`, 0.02 for `statuses_count` and 0.01 for",
        "`screen_name`, which was unique in its data: a key with such a name is refused by both.\n",
        "| column | kind | table | probability |",
        "|---" * 4 + "|",
    ]
    for each in found["examples"]:
        lines.append(f"| {each['column']} | {each['kind']} | {each['table']} | {each['probability']:.3f} |")
    return "\n".join([*lines, ""])


def _wrong(found: dict[str, Any]) -> str:
    lines = [
        "## Where it goes wrong\n",
        "The surest mistakes on held-out projects, with the table's name. Unique, but thought not to be:\n",
    ]
    lines += [f"- {each}" for each in found["wrong"]["missed"]]
    lines += ["\nNot unique, but thought to be:\n", *(f"- {each}" for each in found["wrong"]["claimed"])]
    lines += [
        "\nNatural keys with ordinary names (`name`, `email`, `code`) look like any other text. A table of one row for",
        "each user makes `user_id` its key, and the name cannot say so. The names are English words of web",
        "applications and services, mostly by programmers who use Django, SQLAlchemy, Rails or PHP; warehouse tables",
        "(`sk_customer`, `dim_date_key`), other languages and abbreviations are hardly in the data. And a schema",
        "that leaves out a constraint that does hold counts against the column's name.",
        "",
    ]
    return "\n".join(lines)
