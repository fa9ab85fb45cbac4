"""The predicate of a source: what may be written, and that the name of a batch stays a text whatever is in it."""

from __future__ import annotations

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from headgate.project.row_filter import batch_predicate, column_of, where_mistake
from tests.checks.hostile import HOSTILE


@pytest.mark.parametrize(
    ("where", "column"),
    [
        ("day = '{partition}'", "day"),
        ("day='{partition}'", "day"),
        ("`order day` = '{partition}'", "order day"),
        ("`a``b` = '{partition}'", "a`b"),
        ("day = '{partition}' AND id > 1", None),
        ("day >= '{partition}'", None),
        ("to_date(day) = '{partition}'", None),
        ("id > 1", None),
    ],
)
def test_only_a_plain_equality_says_which_batches_there_are(where: str, column: str | None) -> None:
    assert where_mistake(where) is None
    assert column_of(where) == column


def test_a_predicate_is_written_anew() -> None:
    assert batch_predicate("day='{partition}' and not(x) -- why", "1") == "day = '1' AND NOT (x)"


@pytest.mark.parametrize("hostile", [each for kind in HOSTILE.values() for each in kind])
def test_hostile_predicates_are_refused(hostile: str) -> None:
    assert where_mistake(hostile) is not None


@pytest.mark.parametrize("where", ["day = {partition}", "day = 'x{partition}'", 'day = "{partition}', "{partition}"])
def test_a_name_that_is_no_whole_text_is_refused(where: str) -> None:
    found = where_mistake(where)
    assert found is not None
    assert "'{partition}'" in found[1]


NAMES = ["it's", "\\", "\\'", "' OR 1=1 --", "'; DROP TABLE x; --", "${env:HOME}", "a\nb", "{partition}", "/*", "%"]


@pytest.mark.parametrize("name", NAMES)
def test_an_odd_name_is_one_text(name: str) -> None:
    tree = sqlglot.parse_one(batch_predicate("day = '{partition}'", name), read="spark")
    assert isinstance(tree, sqlglot.exp.EQ)
    assert isinstance(tree.expression, sqlglot.exp.Literal | sqlglot.exp.Concat)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=30))
def test_any_name_is_one_text_and_comes_back(name: str) -> None:
    tree = sqlglot.parse_one(batch_predicate("day = '{partition}'", name), read="spark")
    parts = list(tree.expression.find_all(sqlglot.exp.Literal))
    assert "".join(part.this for part in parts) == name
