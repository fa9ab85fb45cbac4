"""Predicates that read more than the columns of the batch.

A class of sqlglot's that its walk did not know as an expression was not held against the list of allowed nodes, and
predicates in the history reached Spark without passing the guard.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from sqlglot import expressions as sql
from sqlglot import parse_one

import headgate as hg
from headgate.checks import guard
from headgate.checks.guard import FUNCTIONS, guard_key, guard_predicate
from headgate.engine import predicates
from headgate.engine.predicates import RowPredicate
from headgate.learn.text_rules import applicable
from headgate.values.errors import BadPredicate
from headgate.values.expectation import Expectation
from headgate.values.key import MetricKey
from headgate.values.predicate import Between
from headgate.values.proposal import Proposal
from headgate.values.schema import Kind, Schema

ROOT = sql.Expression.__mro__[-2]  # the class from which all nodes derive, whatever its name is in this version
LEAVES = {"Null", "Boolean", "Literal", "RawString", "Column", "Var", "DataType"}
OPERATORS = {
    "And", "Or", "Not", "Paren", "EQ", "NEQ", "LT", "LTE", "GT", "GTE", "NullSafeEQ", "NullSafeNEQ", "In", "Between",
    "Is", "Like", "ILike", "Case", "If", "Add", "Sub", "Mul", "Div", "IntDiv", "Mod", "Neg", "DPipe", "BitwiseAnd",
    "BitwiseOr", "BitwiseXor", "Interval", "Cast", "TryCast",
}  # fmt: skip
LOCAL = {
    "Paren", "Boolean", "Literal", "Null", "Column", "Not", "Neg", "Is", "In", "Between", "Like", "RegexpLike", "Cast",
    "TryCast", "And", "Or", "EQ", "NEQ", "LT", "LTE", "GT", "GTE", "Add", "Sub", "Mul", "Div", "Length", "Lower",
    "Upper", "Trim", "Abs", "Coalesce", "Concat", "IsNan",
}  # fmt: skip
READS_THE_SESSION = (
    "current_user()", "current_user", "`current_user`", "user()", "session_user()", "session_user", "current_catalog()",
    "current_catalog", "current_database()", "current_database", "current_schema()", "current_schema", "current_role()",
    "current_timezone()", "current_path()", "current_metastore()", "version()", "localtimestamp", "current_time",
    "session.secret", "system.session.secret", "`session`.`secret`", "@secret", "@@secret", ":secret", "?",
    "getvariable('secret')", "identifier('secret')", "is_member('admins')", "is_account_group_member('admins')",
    "input_file_name()", "spark_partition_id()", "secret('a', 'b')", "_metadata.file_path", "'${secret}'",
)  # fmt: skip


def find_subclasses(kind: type[Any]) -> set[type[Any]]:
    return {found for child in kind.__subclasses__() for found in (child, *find_subclasses(child))}


EVERY_NODE = sorted({ROOT, *find_subclasses(ROOT)}, key=lambda kind: kind.__name__)


def is_allowed(kind: type[Any]) -> bool:
    """Whether the guard lets a predicate pass in which a node of this class stands for a value."""
    return kind.__name__ in LEAVES | OPERATORS or kind in FUNCTIONS.values()


def place_in_a_predicate(node: Any) -> Any:
    """A harmless predicate with the node in place of one of its values, past what a parser would make of it."""
    tree = parse_one("coalesce(a, b) > 1", read="spark")
    tree.find(sql.Coalesce).args["expressions"] = [node]
    return tree


def test_the_parser_has_many_more_nodes_than_may_be_used() -> None:
    assert len(EVERY_NODE) > 900
    assert sum(map(is_allowed, EVERY_NODE)) == len(
        {*LEAVES, *OPERATORS, *(each.__name__ for each in FUNCTIONS.values())}
    )


@pytest.mark.parametrize("kind", EVERY_NODE, ids=lambda kind: kind.__name__)
def test_a_node_that_is_not_listed_is_refused(kind: type[Any]) -> None:
    if is_allowed(kind):
        assert kind in guard._ALLOWED
        return
    assert kind not in guard._ALLOWED
    node = object.__new__(kind)
    node.args = {}
    with pytest.raises(BadPredicate, match="may not be used"):
        guard._check_tree(place_in_a_predicate(node), "a predicate")


@pytest.mark.parametrize("kind", [kind for kind in EVERY_NODE if is_allowed(kind)], ids=lambda kind: kind.__name__)
def test_an_argument_that_is_not_listed_is_refused(kind: type[Any]) -> None:
    known = guard._LEAVES.get(kind, guard._ARGUMENTS)
    for name in {*kind.arg_types, "query", "escape", "alias", "window", "anything"} - {*known}:
        node = kind(this="a", is_string=True, **{name: sql.Select(expressions=[sql.Star()])})
        with pytest.raises(BadPredicate):
            guard._check_tree(place_in_a_predicate(node), "a predicate")


def test_what_is_neither_a_node_nor_a_plain_value_is_refused() -> None:
    for hidden in (object(), {"this": sql.Select()}, (sql.Select(),), [sql.Select()]):
        with pytest.raises(BadPredicate, match="may not be used"):
            guard._check_tree(place_in_a_predicate(hidden), "a predicate")


@pytest.mark.parametrize("kind", EVERY_NODE, ids=lambda kind: kind.__name__)
def test_the_engine_without_spark_knows_just_the_listed_nodes(kind: type[Any]) -> None:
    assert (kind in predicates._NODES) == (kind.__name__ in LOCAL and kind.__module__.startswith("sqlglot."))


@pytest.mark.parametrize("text", READS_THE_SESSION)
def test_a_predicate_of_a_file_does_not_read_the_session(text: str) -> None:
    for predicate in (
        f"{text} = 'x'",
        f"coalesce(a, {text}) = 'x'",
        f"a IN ({text}, 'x')",
        f"a = 1 AND NOT {text} > 'x'",
    ):
        with pytest.raises(BadPredicate):
            guard_predicate(predicate)
        with pytest.raises(hg.HeadgateError):
            hg.Check.from_yaml(f"checks:\n  - satisfies: {predicate!r}")


def test_without_spark_a_name_that_is_no_column_is_refused() -> None:
    for name in ("user", "secret", "current_role", "system_user"):
        with pytest.raises(BadPredicate, match="names the column"):
            RowPredicate(guard_predicate(f"{name} = 'x'"), ("price",))
    assert guard_predicate("user = 'x'") == "user = 'x'"  # a table may have this column


def test_the_predicates_in_the_key_of_a_metric_pass_the_guard() -> None:
    hostile = "reflect('java.lang.System', 'exit', 0) = 'x'"
    for key in (hg.Compliance(hostile).key, hg.Mean("price", where=hostile).key, hg.Size(where="user() = 'x'").key):
        with pytest.raises(BadPredicate):
            guard_key(key)
    assert guard_key(hg.Compliance("a>1").key) == hg.Compliance("a > 1").key


def test_a_rule_of_the_history_with_a_predicate_is_not_measured() -> None:
    """A gate measures the rules about texts that an earlier run recorded. Whoever writes to the store could add SQL."""
    schema = Schema.of([("code", Kind.STRING, "string")])
    learned = hg.PatternMatch("code", pattern="^[A-Z]+$")
    forged = hg.PatternMatch("code", pattern="^[A-Z]+$", where="reflect('java.lang.System', 'exit', 0) = 'x'")
    rules = [Proposal(Expectation(each.key, Between(low=1.0))) for each in (learned, forged)]
    assert applicable(rules, schema) == [learned.key]


def test_the_versions_of_the_parser_are_bounded() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert "sqlglot>=30,<31" in project["project"]["dependencies"]


def test_a_metric_key_of_a_file_is_guarded_in_its_filter_and_predicate() -> None:
    for metric in (hg.Compliance("user() = 'x'"), hg.Mean("price", where="current_user() = 'x'")):
        with pytest.raises(hg.HeadgateError, match="may not be used"):
            hg.Check.from_yaml(f"checks:\n  - metric: {json.dumps(str(metric.key))}\n    at_least: 0.5")
    assert MetricKey.parse("mean(price)") == guard_key(MetricKey.parse("mean(price)"))
    batch = pa.table({"price": [1, 2]})
    assert hg.verify(batch, hg.Check.from_yaml("checks:\n  - metric: mean(price)\n    at_least: 1")).status == "pass"
