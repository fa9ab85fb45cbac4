"""The name classifier: the shipped weights say what training said, and no name makes it fall over."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.learn.rules.key_names import (
    FORMAT,
    Example,
    hash_features,
    list_features,
    load_weights,
    split_words,
    unique_probability,
)
from headgate.values.schema import Kind

ROOT = Path(__file__).resolve().parents[3]
NAMES = ROOT / "training" / "key_names"
HASHED = [23, 280, 359, 476, 492, 588, 649, 709, 812, 835, 1000]


@pytest.mark.parametrize("example", load_weights().examples, ids=lambda each: f"{each.table}.{each.column}:{each.kind}")
def test_the_shipped_weights_give_what_training_wrote_down(example: Example) -> None:
    found = unique_probability(example.column, example.kind, example.table)
    assert found == pytest.approx(example.probability, abs=1e-6)


def test_enough_examples_of_both_answers_are_written_down() -> None:
    said = [example.probability > 0.5 for example in load_weights().examples]
    assert len(said) >= 20
    assert min(said.count(True), said.count(False)) >= 5


@pytest.mark.parametrize("kind", [Kind.INTEGER, Kind.STRING])
@pytest.mark.parametrize("name", ["id", "ID", "Id", "id_"])
def test_an_id_is_probably_unique_however_it_is_written(name: str, kind: Kind) -> None:
    assert unique_probability(name, kind) > 0.5


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("statuses_count", Kind.INTEGER),
        ("statusesCount", Kind.INTEGER),
        ("is_deleted", Kind.BOOLEAN),
        ("price", Kind.DECIMAL),
        ("price", Kind.FLOAT),
        ("created_at", Kind.TIMESTAMP),
        ("description", Kind.STRING),
    ],
)
def test_counts_flags_prices_times_and_prose_are_probably_not_unique(name: str, kind: Kind) -> None:
    assert unique_probability(name, kind) < 0.5


def test_a_tables_own_key_is_likelier_than_a_reference_to_it() -> None:
    own = unique_probability("customer_id", Kind.INTEGER, table="customers")
    assert own > 0.5 > unique_probability("customer_id", Kind.INTEGER, table="orders")


@given(st.text(max_size=60), st.sampled_from(Kind), st.text(max_size=30))
def test_any_name_has_a_probability_and_always_the_same(column: str, kind: Kind, table: str) -> None:
    found = unique_probability(column, kind, table)
    assert 0.0 <= found <= 1.0
    assert unique_probability(column, kind, table) == found


@pytest.mark.parametrize(
    "name", ["", "_", "___", "名前", "ÇelikİD", "\ud800", "id" * 2_500, "a_" * 2_500, " ", "\x00", "🔑"]
)
def test_odd_names_have_a_probability(name: str) -> None:
    for table in ("", name):
        assert 0.0 <= unique_probability(name, Kind.STRING, table) <= 1.0


def test_a_long_name_costs_no_more_than_its_end() -> None:
    assert split_words("x" * 5_000) == ["x" * 128]
    assert len(hash_features("x_y" * 2_000, Kind.STRING, "x_y" * 2_000, ngram=5, bits=16)) < 1_000


def test_the_kind_and_the_table_are_read() -> None:
    assert set(list_features("a", Kind.DATE, "", 3)) != set(list_features("a", Kind.FLOAT, "", 3))
    assert set(list_features("a", Kind.DATE, "", 3)) < set(list_features("a", Kind.DATE, "b", 3))


@pytest.mark.parametrize(
    ("column", "table"),
    [
        ("order_id", "orders"),
        ("orders_id", "orders"),
        ("OrderID", "Order"),
        ("category_id", "product_categories"),
        ("ct_id", "change_tag"),
        ("idorder", "orders"),
    ],
)
def test_what_is_left_of_a_tables_own_id_is_id(column: str, table: str) -> None:
    assert "t-:id" in set(list_features(column, Kind.INTEGER, table, 3))


def test_another_tables_id_stays_whole() -> None:
    assert "t-:customer_id" in set(list_features("customer_id", Kind.INTEGER, "orders", 3))


def test_features_are_hashed_alike_on_every_machine() -> None:
    assert sorted(hash_features("id", Kind.INTEGER, ngram=2, bits=10)) == HASHED


def test_the_weights_are_small_and_inside_their_buckets() -> None:
    held = load_weights()
    assert held.format == FORMAT
    assert len(files("headgate.learn.rules").joinpath("key_names.json").read_bytes()) < 300_000
    assert all(0 <= bucket < 1 << held.bits for bucket in held.weights)
    assert 0.0 not in held.weights.values()


def test_it_needs_no_scikit_learn_and_no_spark() -> None:
    code = (
        "import sys; from headgate.learn.rules.key_names import unique_probability, Kind;"
        "unique_probability('id', Kind.INTEGER);"
        "print([name for name in ('sklearn', 'scipy', 'pyspark') if name in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_there_are_as_many_schemas_as_stated() -> None:
    rows = pytest.importorskip("training.key_names.rows").read_rows()
    said = load_weights().training
    assert (len(rows), sum(row.is_unique for row in rows)) == (said["columns"], said["unique"])
    assert len(rows) >= 8_700
    assert len({row.project for row in rows}) == said["projects"] >= 47
    assert max(Counter((row.project, row.table, row.column) for row in rows).values()) == 1


def test_every_project_is_in_the_sources_with_its_counts() -> None:
    rows = pytest.importorskip("training.key_names.rows").read_rows()
    lines = [line.strip("| \n").split(" | ") for line in (NAMES / "SOURCES.md").read_text("utf-8").splitlines()]
    told = {cells[0]: (int(cells[-2]), int(cells[-1])) for cells in lines if re.fullmatch(r"\d+", cells[-1])}
    columns = Counter(row.project for row in rows)
    unique = Counter(row.project for row in rows if row.is_unique)
    assert told == {project: (columns[project], unique[project]) for project in columns}


def test_the_file_of_schemas_is_plain_csv() -> None:
    pytest.importorskip("training.key_names.rows")
    with (NAMES / "schemas.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0] == ["project", "table", "column", "type", "is_unique"]
    assert {len(line) for line in lines} == {5}
    assert {line[4] for line in lines[1:]} == {"0", "1"}


def test_no_project_is_in_two_folds() -> None:
    names = pytest.importorskip("training.key_names.rows")
    projects = [row.project for row in names.read_rows()]
    folds = names.project_folds(projects, 5, seed=20180801)
    assert sorted(each for fold in folds for each in fold) == sorted(set(projects))
    sizes = [sum(project in fold for project in projects) for fold in folds]
    assert min(sizes) > 0.8 * len(projects) / 5


MYSQL = """
create table a (id int not null, email varchar(9) unique, n tinyint(1), x int, y int, z int,
    primary key (id), unique key xy (x, y), unique key (z));
"""

POSTGRES = """
create table b (k int, code text, part text);
alter table only b add constraint b_key primary key (k);
create unique index on b (code);
create unique index on b (part) where part <> '';
"""

MIGRATION = """
class Migration:
    operations = [
        migrations.CreateModel(name="Book", fields=[
            ("id", models.AutoField(primary_key=True)), ("title", models.CharField(unique=True)),
            ("author", models.ForeignKey(to="x.Author")), ("tags", models.ManyToManyField(to="x.Tag"))]),
        migrations.AlterField(model_name="book", name="title", field=models.TextField()),
        migrations.AddField(model_name="book", name="isbn", field=models.CharField(unique=True)),
        migrations.RenameField(model_name="book", old_name="isbn", new_name="code"),
    ]
"""

MODELS = """
class HasId:
    id = Column(Integer, primary_key=True)
class Owner(HasId, Base):
    __tablename__ = "owner"
    mail: Mapped[str] = mapped_column(unique=True)
class Pair(Base):
    __tablename__ = "pair"
    left = Column(ForeignKey("owner.id"), primary_key=True)
    right = Column(ForeignKey("owner.id"), primary_key=True)
"""


def test_sql_is_read_with_its_keys_and_no_composite_or_partial_one() -> None:
    tables = pytest.importorskip("training.key_names.sql").tables_of_sql
    (a,) = tables(MYSQL, "mysql")
    assert a.unique() == {"id", "email", "z"}
    assert a.columns["n"] is Kind.BOOLEAN
    (b,) = tables(POSTGRES, "postgres")
    assert b.unique() == {"k", "code"}


def test_django_migrations_are_applied_one_after_the_other() -> None:
    tables = pytest.importorskip("training.key_names.django").tables_of_migrations
    (book,) = tables({"shop/migrations/0001_initial.py": MIGRATION})
    assert book.name == "shop_book"
    assert book.columns == dict(
        zip(("id", "author_id", "title", "code"), _kinds("integer integer string string"), strict=True)
    )
    assert book.unique() == {"id", "code"}


def test_sqlalchemy_models_are_read_with_their_mixins() -> None:
    tables = pytest.importorskip("training.key_names.alchemy").tables_of_models
    owner, pair = tables([MODELS])
    assert owner.columns == dict(zip(("id", "mail"), _kinds("integer string"), strict=True))
    assert owner.unique() == {"id", "mail"}
    assert pair.unique() == set()


def _kinds(words: str) -> list[Kind]:
    return [Kind(word) for word in words.split()]
