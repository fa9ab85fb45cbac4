"""Datasets that are found in folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.cli.init.sources import sources_in
from headgate.project.project import Project
from tests.cli.init.files import run_headgate, write, write_csv, write_lake


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
    write_lake(kind)
    run_headgate("init", *(["lake/orders"] if named else []))
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
    run_headgate("init", "lake")
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


def test_tables_of_delta_and_iceberg_are_read_with_spark() -> None:
    write("lake/orders/day=2026-11-14/x.parquet")
    Path("lake/orders/_delta_log").mkdir()
    write("lake/stock/data/x.parquet")
    write_csv("lake/stock/metadata/v1.metadata.json", "{}")
    run_headgate("init", "lake")
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
