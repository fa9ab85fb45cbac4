"""`headgate init`: what it finds, what it writes, and that it never writes over anything."""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result
from typer.testing import CliRunner

from headgate.cli.app import app
from headgate.cli.init import demo
from headgate.cli.init.draft import quote_scalar
from headgate.cli.init.sources import sources_in
from headgate.cli.output import schema_text
from headgate.project.project import Project


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HEADGATE_CONFIG", raising=False)


def typed(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, words)
    assert result.exit_code == code, result.output
    return result


def orders(day: int, **changes: list[object]) -> pa.Table:
    rows = 400
    columns = {
        "id": [f"A-{day:02d}{row:05d}" for row in range(rows)],
        "region": [("EU", "US")[row % 2] for row in range(rows)],
        "price": [1.0 + row / 10 for row in range(rows)],
    }
    return pa.table({**columns, **changes})


def write(path: str, table: pa.Table | None = None) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(orders(1) if table is None else table, path)


def write_csv(path: str, text: str = "id,price\n1,2.5\n2,3.5\n") -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")


def tree() -> dict[str, int]:
    return {str(each): each.lstat().st_mtime_ns for each in sorted(Path().rglob("*")) if not each.is_dir()}


# The demo.


def test_the_demo_is_sixty_days_and_a_configuration_that_is_right() -> None:
    said = typed("init", "--demo").output
    assert "Some of the days are broken" in said
    assert said.rstrip().endswith("headgate run")
    with Project.open() as project:
        dataset = project.dataset("flights")
        assert len(dataset.partitions()) == 60
        assert dataset.engine == "local"
        assert len(dataset.settings.checks.rules) == 3
        assert len(dataset.read("2013-02-08").schema.names) == 10


def test_the_demo_does_not_tell_which_days_are_broken() -> None:
    said = typed("init", "--demo").output + Path("headgate.yml").read_text(encoding="utf-8")
    assert not any(day in said for day in (*demo.INCIDENTS, *demo.BLIZZARD))


def test_only_the_incidents_differ_from_the_real_days() -> None:
    pairs = zip(demo.read_days(), demo.read_broken_days(), strict=True)
    assert [name for (name, day), (_, broken) in pairs if not day.equals(broken)] == sorted(demo.INCIDENTS)


def test_the_demo_in_another_folder_says_how_to_get_there() -> None:
    assert "cd 'my demo' && headgate run" in typed("init", "--demo", "my demo").output
    assert Path("my demo/headgate.yml").is_file()
    assert Path("my demo/lake/flights/day=2013-03-01").is_dir()


@pytest.mark.parametrize("there", ["headgate.yml", "lake/flights/mine.txt"])
def test_the_demo_writes_over_nothing(there: str) -> None:
    write_csv(there, "mine")
    before = tree()
    assert "already" in typed("init", "--demo", code=2).stderr
    assert tree() == before


def test_the_demo_lies_beside_its_lake_whatever_the_configuration_is_called(tmp_path: Path) -> None:
    said = typed("init", "--demo", "there", "--config", f"{tmp_path}/elsewhere/other.yml").output
    assert "cd there && headgate run --config other.yml" in said
    with Project.open("there/other.yml") as project:
        assert len(project.dataset("flights").partitions()) == 60


def test_half_a_demo_is_not_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "write_table", full)
    assert "No space left" in typed("init", "--demo", code=2).stderr
    assert tree() == {}


def test_the_demo_goes_into_one_folder() -> None:
    assert "headgate init --demo FOLDER" in typed("init", "--demo", "a", "b", code=2).stderr


# What is found.


def lay(kind: str) -> None:
    for day in ("2026-11-12", "2026-11-13", "2026-11-14"):
        match kind:
            case "hive":
                write(f"lake/orders/day={day}/part-0.parquet")
            case "hive, twice":
                write(f"lake/orders/day={day}/hour=06/part-0.parquet")
            case "dated folders":
                write(f"lake/orders/{day}/part-0.parquet")
            case "dated files":
                write_csv(f"lake/orders/orders-{day}.csv")
            case "packed files":
                write_csv(f"lake/orders/{day.replace('-', '')}.json", '{"id": 1}\n')


@pytest.mark.parametrize(
    ("kind", "path", "form"),
    [
        ("hive", "lake/orders/day={partition}", "parquet"),
        ("hive, twice", "lake/orders/day={partition}", "parquet"),
        ("dated folders", "lake/orders/{partition}", "parquet"),
        ("dated files", "lake/orders/orders-{partition}.csv", "csv"),
        ("packed files", "lake/orders/{partition}.json", "json"),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_batches_are_found(kind: str, path: str, form: str, named: bool) -> None:
    lay(kind)
    typed("init", *(["lake/orders"] if named else []))
    with Project.open() as project:
        assert project.names == ("orders",)
        dataset = project.dataset("orders")
        assert dataset.settings.source.path == path
        assert dataset.settings.source.format == form
        assert len(dataset.partitions()) == 3
        assert dataset.read(dataset.partitions()[-1]).count_rows() > 0


def test_several_datasets_each_get_a_name_of_their_own() -> None:
    write("lake/eu/orders/day=1/x.parquet")
    write("lake/us/orders/day=1/x.parquet")
    write_csv("lake/us/clicks-2026-11-14.csv")
    write_csv("lake/us/views-2026-11-14.csv")
    typed("init", "lake")
    with Project.open() as project:
        assert project.names == ("orders", "clicks", "views", "orders_2")
        assert [len(project.dataset(name).partitions()) for name in project.names] == [1, 1, 1, 1]


def test_one_file_is_one_batch_and_a_dated_one_is_one_of_many() -> None:
    write_csv("stock.csv")
    write_csv("in/orders-2026-11-13.csv")
    write_csv("in/orders-2026-11-14.csv")
    assert [each.inside for each in sources_in(Path("stock.csv"))] == ["stock.csv"]
    (found,) = sources_in(Path("in/orders-2026-11-14.csv"))
    assert found.partitions == ("2026-11-13", "2026-11-14")


def growing(name: str, days: int = 3) -> None:
    """One file with this many days in a column of this name."""
    tables = [orders(day).append_column(name, pa.array([f"2026-11-{day:02d}"] * 400)) for day in range(1, days + 1)]
    write("stock.parquet", pa.concat_tables(tables))


def test_the_batches_of_a_file_that_grows_are_the_days_in_it() -> None:
    growing("day")
    assert "3 batches, 2026-11-01 to 2026-11-03" in typed("init", "stock.parquet").output
    with Project.open() as project:
        stock = project.dataset("stock")
        assert stock.settings.source.where == "day = '{partition}'"
        assert stock.waiting() == ("2026-11-01", "2026-11-02", "2026-11-03")
    typed("run")


@pytest.mark.parametrize(("name", "days"), [("birthday", 3), ("day", 1)])
def test_a_file_that_does_not_say_its_days_is_run_by_a_name(name: str, days: int) -> None:
    growing(name, days)
    said = typed("init", "stock.parquet").output
    assert "type   headgate run stock --partition 2026-11-14" in said
    assert "where: \"day = '{partition}'\"" in Path("headgate.yml").read_text()
    assert "where: \"day = '{partition}'\"" in typed("run", code=2).stderr
    typed("run", "stock", "--partition", "2026-11-14")


def test_checks_that_a_csv_file_suggests_hold_when_it_is_judged() -> None:
    rows = "".join(f"{row},{'' if row % 3 else 'ok'}\n" for row in range(300))
    for day in (13, 14):
        write_csv(f"in/orders-2026-11-{day}.csv", f"id,note\n{rows}")
    typed("init", "in")
    typed("run")


def test_tables_of_delta_and_iceberg_are_read_with_spark() -> None:
    write("lake/orders/day=2026-11-14/x.parquet")
    Path("lake/orders/_delta_log").mkdir()
    write("lake/stock/data/x.parquet")
    write_csv("lake/stock/metadata/v1.metadata.json", "{}")
    typed("init", "lake")
    with Project.open() as project:
        orders = project.dataset("orders").settings.source
        assert (orders.format, orders.where) == ("delta", "day = '{partition}'")
        assert project.dataset("stock").settings.source.format == "iceberg"
        assert project.config.spark is not None


def test_hidden_folders_and_the_partition_without_a_name_are_no_batches() -> None:
    for name in ("day=2026-11-14", "day=__HIVE_DEFAULT_PARTITION__", "_temporary", ".cache"):
        write(f"lake/orders/{name}/x.parquet")
    (found,) = sources_in(Path("lake/orders"))
    assert found.partitions == ("2026-11-14",)


def test_without_data_an_example_is_written_that_is_right() -> None:
    assert "put your own table there" in typed("init").output
    with Project.open() as project:
        assert project.names == ("orders",)


@pytest.mark.parametrize("there", [True, False])
def test_a_folder_that_was_named_must_hold_batches(there: bool) -> None:
    if there:
        write_csv("lake/notes.txt")
    said = typed("init", "lake", code=2).stderr
    assert ("day=2026-11-14" if there else "there is no lake") in said
    assert not Path("headgate.yml").exists()


# What is written.


def test_suggestions_that_do_not_hold_on_earlier_batches_are_only_mentioned() -> None:
    write("lake/orders/day=2026-11-13/x.parquet", orders(13, region=["EU", "ASIA"] * 200))
    write("lake/orders/day=2026-11-14/x.parquet", orders(14))
    typed("init", "lake/orders")
    text = Path("headgate.yml").read_text(encoding="utf-8")
    assert "(not in 2026-11-13)" in text
    with Project.open() as project:
        rules = [str(rule) for rule in project.dataset("orders").settings.checks.rules]
        assert any("is_unique" in rule for rule in rules)
        assert not any("region" in rule and "values" in rule for rule in rules)
        assert not any(rule.startswith("is_in_range") for rule in rules)


def test_every_batch_that_was_looked_at_passes_the_checks_that_are_suggested() -> None:
    for day in range(10, 15):
        write(f"lake/orders/day=2026-11-{day}/x.parquet", orders(day))
    typed("init", "lake/orders")
    assert "5 published" in typed("run").output


def test_a_batch_that_cannot_be_read_costs_its_suggestions_only() -> None:
    write_csv("lake/orders/day=2026-11-14/x.parquet", "this is no parquet")
    typed("init", "lake/orders")
    assert "# No checks are suggested: " in Path("headgate.yml").read_text(encoding="utf-8")
    with Project.open() as project:
        assert project.dataset("orders").partitions() == ("2026-11-14",)


@pytest.mark.parametrize("name", ["my orders", "größe", "it's", 'a"b', "on", "2026", "#1", "a: b", "x\\y"])
def test_odd_names_read_back(name: str) -> None:
    write(f"lake/{name}/day=2026-11-14/x.parquet")
    typed("init", f"lake/{name}")
    with Project.open() as project:
        assert project.dataset(project.names[0]).partitions() == ("2026-11-14",)


def test_a_batch_with_a_line_break_in_its_name_writes_no_line_of_its_own() -> None:
    write("lake/orders/day=1\nalerts: []/x.parquet")
    typed("init", "lake/orders")
    assert "\nalerts" not in Path("headgate.yml").read_text(encoding="utf-8")
    with Project.open() as project:
        assert project.names == ("orders",)


def test_data_elsewhere_are_named_by_their_whole_path(tmp_path: Path) -> None:
    write("lake/orders/day=2026-11-14/x.parquet")
    said = typed("init", "lake/orders", "--config", "quality/headgate.yml").output
    assert "headgate run --config quality/headgate.yml" in said
    with Project.open("quality/headgate.yml") as project:
        assert project.dataset("orders").settings.source.path == f"{tmp_path}/lake/orders/day={{partition}}"
        assert project.dataset("orders").partitions() == ("2026-11-14",)


@pytest.mark.parametrize("there", ["file", "link"])
def test_a_configuration_is_never_written_over(there: str) -> None:
    if there == "file":
        write_csv("headgate.yml", "mine")
    else:
        os.symlink("nowhere.yml", "headgate.yml")
    lay("hive")
    before = tree()
    said = typed("init", "lake/orders", code=2).stderr
    assert "left as it is" in said
    assert "--config other.yml" in said
    assert tree() == before


@pytest.mark.parametrize("words", [["--demo"], ["lake/orders"], []])
def test_the_json_document_is_as_its_schema_says(words: list[str]) -> None:
    if words != ["--demo"]:
        lay("hive")
    told = json.loads(typed("init", *words, "--output-json", "-").stdout)
    jsonschema.validate(told, json.loads(schema_text()))
    assert told["next"] == "headgate run"
    assert told["datasets"][0]["partitions"] in (3, 60)


def test_a_folder_that_may_not_be_written_to_is_said() -> None:
    Path("file").write_text("", encoding="utf-8")
    assert "could not be written" in typed("init", "--config", "file/headgate.yml", code=2).stderr


@pytest.mark.parametrize("text", ["yes", "Null", "", "-", "a b", "ünï", "1e3"])
def test_words_of_yaml_are_quoted(text: str) -> None:
    assert quote_scalar(text) == f'"{text}"'
