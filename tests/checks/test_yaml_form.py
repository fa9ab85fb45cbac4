"""Checks in YAML: what is read, what is written, and which line an error names."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from headgate.checks.check import Check
from headgate.checks.constraint import Constraint, constraints
from headgate.checks.guard import FUNCTIONS, TYPES, UNITS, guard_predicate
from headgate.checks.yaml_form import BadCheckFile, read_nodes
from headgate.values.errors import BadPredicate, MisuseError
from tests.checks.forms import DISTRIBUTIONS, checks, example
from tests.checks.hostile import HOSTILE

PAGE = Path(__file__).resolve().parents[2] / "docs" / "checks-yaml.md"
EVERY = checks()
FILE = """\
checks:
  - is_complete: [order_id, customer_id]
  - is_unique: order_id
  - metric: mean(price)
    between: [5, 500]
    level: warn
  - satisfies: discount <= price
  - is_contained_in: region
    values: [EU, US]
    where: day >= '2026-01-01'
    by: [country]
  - has_completeness: email
    warn: {at_least: 0.99}
    error: {at_least: 0.9}
  - has_size:
    at_least: 1000
  - has_no_duplicate_rows
"""
CHECK = (
    Check("orders")
    .is_complete("order_id", "customer_id")
    .is_unique("order_id")
    .metric("mean(price)", between=(5, 500), level="warn")
    .satisfies("discount <= price")
    .is_contained_in("region", ["EU", "US"], where="day >= '2026-01-01'", by=["country"])
    .has_completeness("email", warn={"at_least": 0.99}, error={"at_least": 0.9})
    .has_size(at_least=1000)
    .has_no_duplicate_rows()
)


def said(text: str) -> str:
    with pytest.raises(BadCheckFile) as caught:
        Check.from_yaml(text)
    return str(caught.value)


def test_a_file_says_what_python_says() -> None:
    assert Check.from_yaml(FILE, "orders") == CHECK


def test_a_check_is_written_as_a_person_would() -> None:
    assert CHECK.to_yaml() == FILE


@pytest.mark.parametrize("name", EVERY)
def test_what_is_written_reads_back_equal(name: str) -> None:
    check = EVERY[name]
    text = check.to_yaml()
    again = Check.from_yaml(text, check.name)
    assert again == check
    assert repr(again.rules) == repr(check.rules) or "timezone" in repr(check.rules)
    assert again.to_yaml() == text
    assert yaml.safe_load(text).keys() == {"checks"}


def test_every_constraint_is_tried() -> None:
    assert set(constraints()) - set(DISTRIBUTIONS) <= set(EVERY)


@given(st.text(min_size=1), st.text(), st.one_of(st.floats(allow_nan=False), st.integers(-(10**30), 10**30)))
def test_any_text_and_number_comes_back(column: str, value: str, number: float) -> None:
    check = Check("any").is_contained_in(column, [value, number]).has_mean(column, equals=number)
    assert repr(Check.from_yaml(check.to_yaml(), "any")) == repr(check)


@given(st.text(max_size=60) | st.text(alphabet="-: []{}'\"\n#&*!|>?%@,a1", max_size=60))
def test_any_text_is_a_check_or_an_error_with_a_line(text: str) -> None:
    found: Check | BadCheckFile
    try:
        found = Check.from_yaml(text)
    except BadCheckFile as trouble:
        found = trouble
    assert isinstance(found, Check) or re.match(r"line \d+: ", str(found))


def test_words_without_quotes_are_what_people_mean() -> None:
    text = "- is_contained_in: c\n  values: [NO, yes, on, 1e-3, 010, 1:30, 0x1F, true, .5, 2026-01-31]\n"
    values = dict(Check.from_yaml(text).rules[0].arguments)["values"]
    assert values == ("NO", "yes", "on", 0.001, 10, "1:30", "0x1F", True, 0.5, date(2026, 1, 31))


def test_keys_may_stand_under_the_constraint_or_before_it() -> None:
    wanted = Check("checks").is_contained_in("a", ["x"], level="warn")
    assert Check.from_yaml("- is_contained_in:\n    column: a\n    values: [x]\n    level: warn\n") == wanted
    assert Check.from_yaml("- level: warn\n  values: [x]\n  is_contained_in: a\n") == wanted


def test_a_node_of_a_larger_file_is_read_with_its_lines() -> None:
    root: Any = yaml.compose(
        "store: memory\nchecks:\n  - is_complete: id\n  - is_compleet: id\n", Loader=yaml.SafeLoader
    )
    node = root.value[1][1]
    with pytest.raises(BadCheckFile, match=r"^line 4: no constraint is named 'is_compleet'"):
        read_nodes(node)
    node.value.pop()
    assert read_nodes(node) == list(Check("orders").is_complete("id").rules)


def test_predicates_are_written_as_the_guard_has_read_them() -> None:
    check = Check.from_yaml('- satisfies: a<1 -- x\n- metric: mean(a) where "b>=2"\n  at_least: 1\n', "p")
    assert check == Check("p").satisfies("a < 1").metric('mean(a) where "b >= 2"', at_least=1)
    assert "a < 1" in Check("p").satisfies("a<1").to_yaml()


_SMUGGLED = "reflect('java.lang.System', 'exit', 0) = 'x'"


@pytest.mark.parametrize("text", [text for texts in HOSTILE.values() for text in texts], ids=lambda text: text[:40])
def test_a_hostile_predicate_is_refused_with_its_line(text: str) -> None:
    for key in ("satisfies", "where"):
        item = {"is_complete": "a", "where": text} if key == "where" else {key: text}
        with pytest.raises(BadCheckFile, match=r"^line [23]: "):
            Check.from_yaml("# a comment\n" + yaml.safe_dump([item], width=10**6, sort_keys=False))


@pytest.mark.parametrize("key", ["compliance(predicate={})", "mean(a) where {}"])
@pytest.mark.parametrize("head", ["metric", "has_no_anomalies"])
def test_no_predicate_is_smuggled_in_by_a_key(head: str, key: str) -> None:
    item = {head: key.format(f'"{_SMUGGLED}"'), **({"detector": "x()"} if head != "metric" else {"at_least": 1})}
    assert "the function reflect may not be used" in said(yaml.safe_dump([item], sort_keys=False))


@pytest.mark.parametrize("found", constraints().values(), ids=lambda found: found.name)
def test_no_text_of_a_file_reaches_a_predicate_unguarded(found: Constraint) -> None:
    if found.name in DISTRIBUTIONS or found.needs_context:
        return
    rule = example(found).rules[0]
    for at, (name, value) in enumerate(rule.arguments):
        hostile = tuple(_SMUGGLED for _ in value[:1]) if isinstance(value, tuple) else _SMUGGLED
        changed = dict(rule.arguments) | {name: hostile}
        try:
            made = Check.from_yaml(yaml.safe_dump([{found.name: None} | _item(found, changed, at) | _threshold(found)]))
        except BadCheckFile:
            continue
        for target in found.targets(made.rules[0], None):
            for predicate in (*target.metric.predicates, *([target.metric.where] if target.metric.where else [])):
                assert "REFLECT(" not in guard_predicate(predicate)


def _item(found: Constraint, arguments: dict[str, Any], at: int) -> dict[str, Any]:
    first = found.parameters[0].name
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in arguments.items()}
    return {found.name: plain.pop(first), **plain}


def _threshold(found: Constraint) -> dict[str, Any]:
    return {"at_least": 0.5} if found.default is None and not found.fixed else {}


def test_what_the_guard_refuses_is_not_written_either() -> None:
    with pytest.raises(BadPredicate):
        Check("p").satisfies("isnull(a)").to_yaml()


def test_a_function_cannot_be_written() -> None:
    with pytest.raises(MisuseError, match="held against a Python function, which cannot be written in YAML"):
        Check("f").has_mean("a", lambda mean: mean > 1).to_yaml()


def test_a_decimal_is_written_if_a_number_can_be_it() -> None:
    assert "high: 0.1\n" in Check("d").is_in_range("a", high=Decimal("0.1")).to_yaml()
    with pytest.raises(MisuseError, match="more digits"):
        Check("d").is_in_range("a", high=Decimal("0.1234567890123456789")).to_yaml()


ERRORS = [
    ("checks:\n  - is_complete: a\n\n  - is_compleet: b\n", "line 4: no constraint is named 'is_compleet'; there are ",
     "Did you mean 'is_complete'?"),
    ("- is_complete: a\n  is_unique: a\n", "line 2: is_complete and is_unique stand in one rule.", "- is_unique:"),
    ("- level: warn\n", "line 1: the rule names no constraint.", "Write - is_complete"),
    ("- is_complete: a\n  wher: b > 1\n", "line 2: is_complete takes no 'wher';", "Did you mean 'where'?"),
    ("- is_complete: a\n  where: b > 1\n  where: c > 1\n", "line 3: 'where' is said twice; first in line 2.", ""),
    ("- has_mean: {column: a, at_least: 1}\n  at_least: 2\n", "line 1: 'at_least' is said twice.", ""),
    ("- has_mean: a\n  column: b\n  at_least: 1\n", "line 1: has_mean says column twice.", ""),
    ("- has_mean: a\n", "line 1: has_mean(a) does not say what is expected.", "Add between:, at_least:"),
    ("- has_mean: a\n  between: [5]\n", "line 2: has_mean: between takes two ends, not [5].", "between: [5, 500]."),
    ("- has_mean: a\n  between:\n    - 9\n    - 5\n", "line 3: the range 9..5 is empty.", "smaller end first"),
    ("- has_mean: a\n  at_least: five\n", "line 2: 'five' is not a number.", "Give a number"),
    ("- has_mean: a\n  at_least: 5\n  equals: 5\n", "line 1: has_mean says at_least and equals.", ""),
    ("- has_mean: a\n\n  level: loud\n  at_least: 5\n", "line 3: 'loud' is no level.", "Write warn or error."),
    ("- has_mean: a\n  warn: {least: 5}\n", "line 2: has_mean: a threshold says between, at_least,", "not least"),
    ("- has_mean: a\n  warn: 5\n", "line 2: has_mean: 5 is no threshold.", "Write {at_least: 0.9}."),
    ("- has_mean: a\n  at_least:\n", "line 2: at_least says nothing.", ""),
    (f"- has_mean: a\n  at_least: {'9' * 400}\n", "line 2: 9999", "is no number that can be had"),
    ("- has_mean: a\n  at_least: 1e999\n", "line 2: 1e999 is no number", ""),
    ("- is_in_range: a\n  low: 2026-02-30\n", "line 2: 2026-02-30 is no date that can be had.", "Put it in quotes"),
    ("- is_complete: [a, 5]\n", "line 1: is_complete: columns is text, not 5.", "quotes"),
    ("- is_complete:\n    - a\n    - 5\n", "line 3: is_complete: columns is text, not 5.", ""),
    ("- is_complete: 5\n", "line 1: is_complete: columns is text, not 5.", "Put a name in quotes"),
    ("- is_complete:\n", "line 1: is_complete needs columns.", "Write - is_complete: [columns]."),
    ("- is_complete: []\n", "line 1: is_complete: columns is an empty list.", ""),
    ("- is_contained_in: a\n", "line 1: is_contained_in needs values.", "Write - is_contained_in: column, values: ..."),
    ("- is_contained_in: a\n  values: EU\n", "line 2: is_contained_in: values is a list such as", "[a, b], not EU."),
    ("- is_contained_in: a\n  values: [[EU]]\n", "line 2: is_contained_in: values is a list such as", ""),
    ("- has_approx_quantile: a\n  q: half\n  at_least: 1\n", "line 2: has_approx_quantile: q is a number", "half"),
    ("- is_in_range: a\n  low: [1]\n", "line 2: is_in_range: low is a value, not a list.", ""),
    ("- has_size: 5\n", "line 1: has_size takes no value.", "Write - has_size:"),
    ("- is_complete: a\n  by: [1]\n", "line 2: by is text", ""),
    ("- is_complete: a\n  where: 1\n", "line 2: where is text, not 1.", ""),
    ("- satisfies: >\n    my_udf(a)\n", "line 1: 'my_udf(a)", "the function my_udf may not be used"),
    ("- metric: mean(\n  at_least: 1\n", "line 1: 'mean(' is not a metric key", "Write it like mean(price)"),
    ("- metric: meen(a)\n  at_least: 1\n", "line 1: no metric is named 'meen';", "Did you mean"),
    ("- 5\n", "line 1: a rule is a constraint's name with its columns, not '5'.", "Write - is_complete"),
    ("- [is_complete, a]\n", "line 1: a rule is a constraint's name with its columns, not a list.", ""),
    ("checks: is_complete\n", "line 1: checks are a list, not 'is_complete'.", ""),
    ("checks:\n", "line 1: checks are a list, not ''.", ""),
    ("check: []\n", "line 1: the key 'check' is not known; there are checks. Did you mean 'checks'?", ""),
    ("{}", "line 1: there are no checks.", ""),
    ("", "line 1: the file is empty.", "Write checks:"),
    ("- a: [\n- b\n", "line 2: this is not YAML:", ""),
    ("- is_complete: a\n- 'x\x01'\n", "line 2: there is a character that YAML does not allow.", ""),
    ("- ? [a]\n  : b\n", "line 1: a key is a word, not a list.", ""),
    ("---\n[]\n---\n[]\n", "line 3: the file has more than 1 documents.", ""),
    ("- is_complete: !!python/object/apply:os.system [ls]\n", "line 1: the tag tag:yaml.org,2002:python/object", ""),
    ("- is_complete: !mine a\n", "line 1: the tag !mine is not understood.", ""),
    ("- is_complete: !!str 5\n", "line 1: the tag tag:yaml.org,2002:str is not understood.", "quotes make text"),
    ("- &a {is_complete: a}\n- *a\n", "line 2: the alias *a is not understood.", "Write it out."),
    ("[" * 100 + "]" * 100, "line 1: the file has more than 50 levels of nesting.", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "start", "part"), ERRORS, ids=[start[:50] for _, start, _ in ERRORS])
def test_an_error_names_its_line_and_says_what_to_write(text: str, start: str, part: str) -> None:
    found = said(text)
    assert found.startswith(start)
    assert part in found


def test_a_file_has_a_size() -> None:
    assert "1,000,000 are the most" in said("#" * 1_000_001)
    assert "more than 50,000 values" in said("[" + "a," * 60_000 + "]")


def test_a_thousand_laughs_are_refused_at_the_first() -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 20)]
    assert said("\n".join(lines)).startswith("line 2: the alias *a0")


def test_the_page_lists_what_the_guard_lets_through() -> None:
    page = PAGE.read_text()
    for title, names in (("Functions", FUNCTIONS), ("Types", TYPES), ("Units", UNITS)):
        found = re.search(rf"^{title}: (.*?)\n\n", page, re.MULTILINE | re.DOTALL)
        assert found
        assert re.findall(r"`([^`]+)`", found[1]) == list(names)


def test_every_example_of_the_page_is_read_and_every_error_is_raised() -> None:
    page = PAGE.read_text()
    blocks = re.findall(r"```yaml\n(.*?)```(?:\n\n```text\n(.*?)```)?", page, re.DOTALL)
    assert len(blocks) >= 4
    for text, error in blocks:
        if error:
            assert said(text) == " ".join(error.split())
        else:
            assert len(Check.from_yaml(text)) > 0


def test_every_key_of_a_rule_is_on_the_page() -> None:
    page = PAGE.read_text()
    words = said("- is_complete: a\n  x: 1\n").partition("there are columns, ")[2].rstrip(".").split(", ")
    assert {"between", "by"} <= set(words)
    assert [word for word in words if f"`{word}" not in page] == []


def test_a_function_cannot_be_named_in_a_file() -> None:
    assert said("- has_mean: a\n  holds: os.system\n").startswith("line 2: has_mean takes no 'holds';")
