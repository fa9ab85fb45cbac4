"""Every kind of mistake in `headgate.yml`: the text, the line that is to be named, and words that say what to write."""

from __future__ import annotations

from typing import NamedTuple

BASE = """\
store: file:history
datasets:
  orders:
    source: {path: "lake/day={partition}"}
"""


class Case(NamedTuple):
    """A file, the line and the key of its mistake, what is wrong, and what to write instead."""

    text: str
    line: int
    key: str
    wrong: str
    write: str


def dataset(line: str) -> str:
    return f"{BASE}    {line}\n"


def source(text: str, more: str = "") -> str:
    return f"store: memory:\ndatasets:\n  orders: {{source: {text}{more}}}\n".replace(
        "store: memory:", 'store: "memory:"'
    )


def alert(text: str) -> str:
    return f"{BASE}alerts:\n  - {text}\n"


def check(text: str) -> str:
    return f"{BASE}    checks:\n      - is_unique: order_id\n{text}"


ORDERS, SOURCE = "datasets.orders", "datasets.orders.source"

FORM = {
    "an empty file": Case("", 1, "", "empty", "Write store: and datasets:"),
    "only comments": Case("# nothing\n\n", 1, "", "empty", "Write store: and datasets:"),
    "a list": Case("- store\n", 1, "", "not a list", "Write store: and datasets:"),
    "one word": Case("\nstore\n", 2, "", "not 'store'", "Write store: and datasets:"),
    "a tab": Case("store: x\ndatasets:\n\torders: 1\n", 3, "", "not YAML", "Indent with spaces"),
    "an alias": Case("store: &a x\ndatasets: *a\n", 2, "", "alias *a", "Write it out"),
    "a tag": Case("store: !!python/object:os.system x\n", 1, "", "tag", "Leave it out"),
    "two documents": Case(f"{BASE}---\nstore: x\n", 5, "", "documents", "Split"),
    "a bracket too many": Case("store: [x\n", 2, "", "not YAML", "bracket"),
    "an open quote": Case('store: "x\n', 2, "", "not YAML", "Close the quotes"),
    "two colons": Case("store: a: b\n", 1, "", "not YAML", "in quotes"),
    "no colon": Case(f"{BASE}  foo\nbar: 1\n", 6, "", "not YAML", "Write key: value"),
    "a percent sign": Case("store: %x\n", 1, "", "not YAML", "in quotes"),
    "a character that no text has": Case("store: \x01\n", 1, "", "character", "Write it like"),
    "a key that is a list": Case(f"{BASE}? [a]\n: b\n", 5, "", "a key is a word", "Write key: value"),
    "too deep": Case("a: " + "[" * 60 + "]" * 60, 1, "", "levels of nesting", "Split"),
    "too many values": Case("a: [" + "1," * 60_000 + "]", 1, "", "values", "Split"),
    "too many characters": Case("# " + "x" * 1_100_000, 1, "", "characters", "Split"),
    "too many bytes": Case("# " + "x" * 4_100_000, 1, "", "bytes", "Split"),
    "a key twice": Case(f"{BASE}store: x\n", 5, "store", "twice; first at", "Leave one of them out"),
    "a dataset twice": Case(f"{BASE}  orders: {{}}\n", 5, ORDERS, "twice", "Leave one of them out"),
    "a date that is none": Case(dataset("runs: 2026-13-45"), 5, f"{ORDERS}.runs", "no date", "quotes"),
    "a number that is none": Case(dataset("runs: 1e999"), 5, f"{ORDERS}.runs", "no number", "quotes"),
}

KEYS = {
    "an unknown key": Case(f"{BASE}alert: []\n", 5, "", "'alert' is not known", "Did you mean 'alerts'?"),
    "a key like no other": Case(f"{BASE}zzz: 1\n", 5, "", "'zzz' is not known", "there are store, values"),
    "a key of elsewhere": Case(f"{BASE}checks: []\n", 5, "", "'checks'", "It belongs into datasets.<name>."),
    "a key of the top": Case(dataset("alerts: []"), 5, ORDERS, "'alerts'", "It belongs to the top."),
    "an unknown key of a dataset": Case(dataset("fals_alarms: 1"), 5, ORDERS, "'fals_alarms'", "'false_alarms'"),
    "an unknown key of a source": Case(source("{paht: x}"), 3, SOURCE, "'paht'", "Did you mean 'path'?"),
    "an unknown key of spark": Case(f"{BASE}spark: {{mastr: x}}\n", 5, "spark", "'mastr'", "'master'"),
    "an unknown key of an alert": Case(alert("slak: x"), 6, "alerts[0]", "'slak'", "Did you mean 'slack'?"),
    "no store": Case("datasets: {a: {source: {path: x}}}\n", 1, "", "store is missing", "Write store: ${env:"),
    "no datasets": Case("store: x\n", 1, "", "datasets is missing", "Write datasets: {orders: {source:"),
    "no source": Case("store: x\ndatasets:\n  a: {runs: 3}\n", 3, "datasets.a", "source is missing", "Write source: {"),
    "nothing behind a key": Case(dataset("owner:"), 5, f"{ORDERS}.owner", "nothing", "Write owner: payments@"),
    "nothing behind the store": Case(BASE.replace("file:history", ""), 1, "store", "nothing", "Write store: ${env:"),
    "nothing behind a dataset": Case("store: x\ndatasets:\n  a:\n", 3, "datasets.a", "nothing", "Write a: {source: {"),
    "nothing behind datasets": Case("store: x\ndatasets:\n", 2, "datasets", "nothing", "Write datasets: {orders:"),
    "nothing behind checks": Case(dataset("checks:"), 5, f"{ORDERS}.checks", "nothing", "Write checks: ["),
    "nothing behind an option": Case(
        source("{path: x, options: {sep: }}"), 3, f"{SOURCE}.options.sep", "nothing", "sep"
    ),
    "no dataset at all": Case("store: x\ndatasets: {}\n", 2, "datasets", "it is empty", "Write datasets: {orders:"),
}

TYPES = {
    "text for a number": Case(
        dataset("false_alarms: lots"), 5, f"{ORDERS}.false_alarms", "a number, not 'lots'", "0.01"
    ),
    "a quoted number": Case(dataset('false_alarms: "0.1"'), 5, f"{ORDERS}.false_alarms", "a number, not '0.1'", "0.01"),
    "true for a number": Case(dataset("false_alarms: true"), 5, f"{ORDERS}.false_alarms", "not true", "Write false_al"),
    "no number at all": Case(dataset("false_alarms: .nan"), 5, f"{ORDERS}.false_alarms", "a number, not nan", "0.01"),
    "too much": Case(dataset("false_alarms: 1.5"), 5, f"{ORDERS}.false_alarms", "below 1", "Write false_alarms: 0.01"),
    "too little": Case(dataset("false_alarms: -1"), 5, f"{ORDERS}.false_alarms", "at least 0", "Write false_alarms"),
    "half a run": Case(dataset("runs: 3.5"), 5, f"{ORDERS}.runs", "a whole number, not 3.5", "Write runs: 60"),
    "text for runs": Case(dataset("runs: many"), 5, f"{ORDERS}.runs", "a whole number, not 'many'", "Write runs: 60"),
    "no runs": Case(dataset("runs: 0"), 5, f"{ORDERS}.runs", "at least 1, not 0", "Write runs: 60"),
    "a date for text": Case(
        dataset("owner: 2026-01-31"), 5, f"{ORDERS}.owner", "text, not 2026-01-31", 'quotes: "2026'
    ),
    "a list for text": Case(f"{BASE}reports: [a]\n", 5, "reports", "text, not a list", "Write reports: reports"),
    "an empty text": Case(dataset('owner: ""'), 5, f"{ORDERS}.owner", "it is empty", "Write owner: payments@"),
    "yes for true": Case(dataset("show_values: yes"), 5, f"{ORDERS}.show_values", "true or false, not 'yes'", "true"),
    "a mapping for a list": Case(dataset("keys: {a: 1}"), 5, f"{ORDERS}.keys", "a list, not a mapping", "[order_id]"),
    "a list for pins": Case(dataset("pin: [size]"), 5, f"{ORDERS}.pin", "a mapping, not a list", "Write pin: {price"),
    "a number for learners": Case(dataset("learn: 3"), 5, f"{ORDERS}.learn", "a mapping, not 3", "Write learn: ["),
    "a number in a list": Case(dataset("keys: [1]"), 5, f"{ORDERS}.keys[0]", "text, not 1", 'quotes: "1"'),
    "a list for datasets": Case(
        "store: x\ndatasets: [a]\n", 2, "datasets", "a mapping, not a list", "Write datasets: {"
    ),
    "text for a source": Case(source("lake"), 3, SOURCE, "a mapping, not 'lake'", "Write source: {format: parquet"),
    "text for spark": Case(f"{BASE}spark: local\n", 5, "spark", "a mapping, not 'local'", "Write spark: {master:"),
    "text for an alert": Case(alert("me"), 6, "alerts[0]", "a mapping, not 'me'", "Write - {slack: "),
    "a mapping for alerts": Case(
        f"{BASE}alerts: {{slack: x}}\n", 5, "alerts", "a list, not a mapping", "Write alerts: ["
    ),
    "a number for a store": Case(
        "store: 7\ndatasets: {a: {source: {path: x}}}\n", 1, "store", "text", "Write store: ${"
    ),
    "an empty store": Case('store: ""\ndatasets: {a: {source: {path: x}}}\n', 1, "store", "empty", "Write store: ${"),
    "a list for options": Case(source("{path: x, options: [a]}"), 3, f"{SOURCE}.options", "a mapping", "{sep: ;"),
    "a list for an option": Case(
        source("{path: x, options: {sep: [a]}}"), 3, f"{SOURCE}.options.sep", "text", "sep: ;"
    ),
    "a number for a receiver": Case(alert("slack: 3"), 6, "alerts[0].slack", "text", "Write slack: ${env:SLACK_URL}"),
    "less than no time": Case(alert("{slack: x, every: -1}"), 6, "alerts[0].every", "at least 0", "Write every: 900"),
}

CHOICES = {
    "no format": Case(
        source("{format: parqet, path: x}"), 3, f"{SOURCE}.format", "'parqet'", "Did you mean 'parquet'?"
    ),
    "no engine": Case(dataset("engine: polars"), 5, f"{ORDERS}.engine", "'polars'", "there are local, spark"),
    "no mode": Case(dataset("mode: gard"), 5, f"{ORDERS}.mode", "'gard'", "Did you mean 'guard'?"),
    "no learner": Case(dataset("learn: [histry]"), 5, f"{ORDERS}.learn[0]", "'histry'", "Did you mean 'history'?"),
    "no learner, a number": Case(dataset("learn: [3]"), 5, f"{ORDERS}.learn[0]", "3 is not", "there are history"),
    "no learner of a mapping": Case(
        dataset("learn: {from: [histry]}"), 5, f"{ORDERS}.learn.from[0]", "'histry'", "Did you mean 'history'?"
    ),
    "no way to keep values": Case(f"{BASE}values: open\n", 5, "values", "'open'", "there are hidden, plain"),
    "no occasion": Case(alert("{slack: x, on: every}"), 6, "alerts[0].on", "'every'", "Did you mean 'every_hold'?"),
}

RULES = {
    "no metric": Case(
        dataset("learn: {metrics: [completness]}"),
        5,
        f"{ORDERS}.learn.metrics[0]",
        "no metric is named 'completness'",
        "Did you mean 'completeness'?",
    ),
    "a pin of no metric": Case(
        dataset("pin: {price: {meen: [1, 2]}}"), 5, f"{ORDERS}.pin.price", "no metric is named 'meen'", "'mean'?"
    ),
    "a pin whose ends are reversed": Case(
        dataset("pin: {price: {mean: [30, 20]}}"),
        5,
        f"{ORDERS}.pin.price",
        "mean(price): the range 30..20 is empty",
        "the smaller end first",
    ),
    "a pin of the table that has a column": Case(
        dataset("pin: {mean: [20, 30]}"), 5, f"{ORDERS}.pin.mean", "mean takes 1 column, not 0", "price: {mean:"
    ),
    "a pin that is no range": Case(
        dataset("pin: {size: 900}"), 5, f"{ORDERS}.pin.size", "the range of size() is not two numbers", "[900, 1100]"
    ),
    "a pin without ends": Case(
        dataset("pin: {size: [null, null]}"), 5, f"{ORDERS}.pin.size", "at least one end", "at most one of them"
    ),
    "no place": Case(source("{format: csv}"), 3, SOURCE, "neither a path nor a table", 'Write path: "lake'),
    "a place of what is judged elsewhere": Case(
        source("{elsewhere: true, path: x}"), 3, f"{SOURCE}.path", "judged elsewhere", "Leave it out"
    ),
    "publishing of what is judged elsewhere": Case(
        source("elsewhere", ", publish: lake"), 3, "datasets.orders.publish", "published there", "Leave it out"
    ),
    "two places": Case(source("{path: x, table: y}"), 3, f"{SOURCE}.table", "both", "Leave one of them out"),
    "a strange brace": Case(
        source('{path: "x/{day}"}'), 3, f"{SOURCE}.path", "{day} stands for nothing", "{partition}"
    ),
    "two stars": Case(source('{path: "x/**"}'), 3, f"{SOURCE}.path", "** is not understood", "leave ** out"),
    "no end of the name": Case(source('{path: "{partition}*"}'), 3, f"{SOURCE}.path", "ends", "{partition}-*"),
    "a table for each batch": Case(source('{table: "t{partition}"}'), 3, f"{SOURCE}.table", "one for all", "where:"),
    "a name without quotes": Case(
        source('{table: t, where: "day = {partition}"}'), 3, f"{SOURCE}.where", "quotes", "Write day = '{partition}'"
    ),
    "half a text": Case(
        source("{table: t, where: \"day = 'x{partition}'\"}"), 3, f"{SOURCE}.where", "whole text", "'{partition}'"
    ),
    "code": Case(
        source("{table: t, where: \"reflect('a')\"}"), 3, f"{SOURCE}.where", "reflect may not", "Use comparisons"
    ),
    "a subquery": Case(source('{table: t, where: "a IN (SELECT 1)"}'), 3, f"{SOURCE}.where", "SELECT", "Use compar"),
    "no SQL": Case(source('{table: t, where: "a ="}'), 3, f"{SOURCE}.where", "not a SQL predicate", "Write day ="),
    "a local table": Case(
        source("{table: t}", ", engine: local"), 3, f"{ORDERS}.engine", "files", "Write engine: spark"
    ),
    "a local lake": Case(
        source("{path: x, format: delta}", ", engine: local"), 3, f"{ORDERS}.engine", "delta", "Write engine: spark"
    ),
    "two clusters": Case(
        f'{BASE}spark: {{master: yarn, remote: "sc://y"}}\n', 5, "spark.remote", "both", "Leave one of them out"
    ),
    "no cluster": Case(f"{BASE}spark: {{master: nosuch}}\n", 5, "spark.master", "no cluster", "Write local[4]"),
    "jars for a server": Case(
        f'{BASE}spark: {{remote: "sc://y", packages: [a]}}\n', 5, "spark.packages", "jars", "Leave packages out"
    ),
    "nobody to tell": Case(alert("on: every_hold"), 6, "alerts[0]", "neither", "Write slack: ${env:SLACK_URL}"),
    "two to tell": Case(alert("{slack: x, webhook: y}"), 6, "alerts[0]", "both", "one alert for each"),
    "headers for Slack": Case(alert("{slack: x, headers: {a: b}}"), 6, "alerts[0].headers", "no headers", "webhook:"),
    "one memory for two": Case(
        alert("{slack: x, memory: m}\n  - {slack: y, memory: m}"), 5, "alerts", "share one memory", "a file of its own"
    ),
}

CHECKS = {
    "no constraint": Case(
        check("      - is_complet: id\n"), 7, f"{ORDERS}.checks[1]", "'is_complet'", "Did you mean 'is_complete'?"
    ),
    "no metric": Case(
        check("      - metric: men(price)\n        at_least: 1\n"), 7, f"{ORDERS}.checks[1]", "'men'", "'mean'?"
    ),
    "no modifier": Case(
        check("      - is_unique: a\n        wher: b\n"), 8, f"{ORDERS}.checks[1]", "takes no 'wher'", "'where'?"
    ),
    "half a range": Case(
        check("      - has_mean: a\n        between: [5]\n"), 8, f"{ORDERS}.checks[1]", "two ends", "between: [5, 500]"
    ),
    "a number": Case(check("      - 7\n"), 7, f"{ORDERS}.checks[1]", "not '7'", "Write - is_complete:"),
    "code in a check": Case(
        check("      - satisfies: \"reflect('x')\"\n"), 7, f"{ORDERS}.checks[1]", "reflect", "Use comparisons"
    ),
    "a mapping for checks": Case(dataset("checks: {is_unique: a}"), 5, f"{ORDERS}.checks", "a list", "- is_complete:"),
    "a word for checks": Case(dataset("checks: none"), 5, f"{ORDERS}.checks", "a list, not 'none'", "- is_complete:"),
}

_TABLE = """{table: lake.shop.orders, where: "day = '{partition}'"}"""
PUBLISH = {
    "an address of a folder": Case(dataset("publish: s3a://lake/orders"), 5, f"{ORDERS}.publish", "s3a", "path"),
    "no folder": Case(dataset("publish: {to: folders}"), 5, f"{ORDERS}.publish", "names no folder", "to: iceberg"),
    "no such format": Case(dataset("publish: {to: hudi}"), 5, f"{ORDERS}.publish.to", "not a choice", "iceberg"),
    "a table without a table": Case(
        dataset("publish: {to: iceberg}"), 4, f"{ORDERS}.source", "source names none", "table: lake.shop.orders"
    ),
    "a table without a column": Case(
        source("{table: lake.shop.orders}", ", publish: {to: delta}"), 3, SOURCE, "which column", "{partition}"
    ),
    "a table of another format": Case(
        source(f"{_TABLE[:-1]}, format: delta}}", ", publish: {to: iceberg}"),
        3,
        f"{ORDERS}.publish",
        "a table of delta",
        "the same",
    ),
    "a key of another format": Case(
        source(_TABLE, ", publish: {to: iceberg, staging: x}"),
        3,
        f"{ORDERS}.publish.staging",
        "for delta alone",
        "Leave",
    ),
}

EVERY = {**FORM, **KEYS, **TYPES, **CHOICES, **RULES, **CHECKS, **PUBLISH}
