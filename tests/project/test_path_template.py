"""Paths with a place for the batch's name: what is found, in which order, and that no name leads out (test S7)."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.project.path_template import PathTemplate, template_mistake
from headgate.values.errors import EngineError


def made(folder: Path, *names: str) -> None:
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")


def test_folders_are_batches_in_the_order_of_their_names(tmp_path: Path) -> None:
    made(tmp_path, "lake/day=2026-9-1/a", "lake/day=2026-11-14/a", "lake/day=2026-11-2/a", "lake/other/a")
    assert PathTemplate("lake/day={partition}", tmp_path).partitions() == ("2026-9-1", "2026-11-2", "2026-11-14")


def test_files_are_batches(tmp_path: Path) -> None:
    made(tmp_path, "in/orders-2026-11-14.csv", "in/orders-2026-11-15.csv", "in/lines-1.csv", "in/orders-.csv")
    pattern = PathTemplate("in/orders-{partition}.csv", tmp_path)
    assert pattern.partitions() == ("2026-11-14", "2026-11-15")
    assert [Path(each.path).name for each in pattern.files("2026-11-14")] == ["orders-2026-11-14.csv"]


def test_a_batch_may_be_many_files(tmp_path: Path) -> None:
    made(tmp_path, "in/2026-11-14-a.csv", "in/2026-11-14-b.csv", "in/2026-11-15-a.csv")
    pattern = PathTemplate("in/{partition}-*.csv", tmp_path)
    assert pattern.partitions() == ("2026-11-14", "2026-11-15")
    assert [Path(each).name for each in pattern.paths("2026-11-14")] == ["2026-11-14-a.csv", "2026-11-14-b.csv"]


def test_a_star_stands_for_any_folder(tmp_path: Path) -> None:
    made(tmp_path, "lake/day=1/hour=00/a", "lake/day=1/hour=01/a", "lake/day=2/hour=00/a", "lake/day=3/minute=0/a")
    pattern = PathTemplate("lake/day={partition}/hour=*", tmp_path)
    assert pattern.partitions() == ("1", "2")
    assert len(pattern.paths("1")) == 2


def test_the_name_may_stand_above_a_fixed_folder(tmp_path: Path) -> None:
    made(tmp_path, "lake/1/orders/a", "lake/2/orders/a", "lake/3/lines/a")
    assert PathTemplate("lake/{partition}/orders", tmp_path).partitions() == ("1", "2")


def test_the_name_may_stand_twice(tmp_path: Path) -> None:
    made(tmp_path, "lake/1/orders-1.csv", "lake/2/orders-1.csv", "lake/3/orders-3.csv")
    assert PathTemplate("lake/{partition}/orders-{partition}.csv", tmp_path).partitions() == ("1", "3")


def test_a_batch_that_is_being_written_is_none_yet(tmp_path: Path) -> None:
    made(tmp_path, "lake/1/_temporary/0/part-0", "lake/2/part-0", "lake/_SUCCESS", "lake/.hidden/a", "lake/4/.part.crc")
    (tmp_path / "lake" / "3").mkdir()
    (tmp_path / "lake" / "5").mkdir()
    (tmp_path / "lake" / "5" / "empty").write_bytes(b"")
    assert PathTemplate("lake/{partition}", tmp_path).partitions() == ("2",)


def test_names_that_hive_escaped_are_read_as_they_were(tmp_path: Path) -> None:
    made(tmp_path, "lake/hour=2026-11-14 06%3A00/a", "lake/hour=100%/a")
    pattern = PathTemplate("lake/hour={partition}", tmp_path)
    assert pattern.partitions() == ("100%", "2026-11-14 06:00")
    assert pattern.files("2026-11-14 06:00")
    assert pattern.files("100%")


def test_an_absolute_path_and_an_address_of_a_file_are_not_relative(tmp_path: Path) -> None:
    made(tmp_path, "lake/1/a")
    for text in (f"{tmp_path}/lake/{{partition}}", f"file://{tmp_path}/lake/{{partition}}"):
        assert PathTemplate(text, Path("/elsewhere")).partitions() == ("1",)


def test_a_path_without_a_name_is_one_batch(tmp_path: Path) -> None:
    made(tmp_path, "lake/a.csv")
    pattern = PathTemplate("lake/a.csv", tmp_path)
    assert not pattern.has_partition
    assert pattern.partitions() == ()
    assert len(pattern.files("whatever")) == 1


HOSTILE = [
    "..",
    ".",
    "../secret",
    "/etc",
    "a/../../secret",
    "..%2Fsecret",
    "%2e%2e",
    "a\0b",
    "\\..\\secret",
    "*",
    "?",
    "~",
]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(
    "text", ["lake/{partition}", "lake/day={partition}", "lake/{partition}/orders", "lake/{partition}.csv"]
)
def test_no_name_leads_out_of_the_root(name: str, text: str, tmp_path: Path) -> None:
    made(tmp_path, "secret/a", "secret/orders/a", "secret.csv", "lake/x/a", "lake/day=x/a", "orders/a", "lake/y.csv")
    assert PathTemplate(text, tmp_path).files(name) == []


@given(st.text(min_size=1, max_size=20))
def test_a_batch_is_found_again_by_its_name_and_by_no_other(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    folder = tmp_path_factory.mktemp("lake")
    written = quote(name.encode("utf-8", "replace"), safe="")
    plain = name.encode("utf-8", "replace").decode()
    made(folder, f"lake/day={written}/a", "lake/day=other of them/a")
    pattern = PathTemplate("lake/day={partition}", folder)
    assert set(pattern.partitions()) == {plain, "other of them"}
    assert [Path(each).name for each in pattern.paths(plain)] == [f"day={written}"]


def said(pattern: PathTemplate, partition: str) -> str:
    error = pattern.no_such_batch("orders", partition)
    assert isinstance(error, EngineError)
    return str(error)


def test_a_missing_batch_names_what_was_looked_for_and_what_is_there(tmp_path: Path) -> None:
    made(tmp_path, *(f"lake/day={day}/a" for day in range(1, 9)))
    words = said(PathTemplate("lake/day={partition}", tmp_path), "9")
    assert words == "orders has no batch 9: nothing is at lake/day=9. There are 8, 7, 6, 5, 4 and 3 more."


def test_a_missing_root_names_the_nearest_folder_that_is_there(tmp_path: Path) -> None:
    made(tmp_path, "lake/lines/a", "lake/odrers/a")
    words = said(PathTemplate("lake/orders/day={partition}", tmp_path), "9")
    assert words == f"orders: there is no {tmp_path}/lake/orders. In {tmp_path}/lake there is lines, odrers."


def test_a_root_without_batches_says_what_is_in_it(tmp_path: Path) -> None:
    made(tmp_path, "lake/date=1/a")
    words = said(PathTemplate("lake/day={partition}", tmp_path), "1")
    assert words == f"orders: nothing is at lake/day=1. In {tmp_path}/lake there is date=1."


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    made(tmp_path, "lake/a.csv")
    assert f"there is no {tmp_path}/lake/b.csv. In {tmp_path}/lake there is a.csv." in said(
        PathTemplate("lake/b.csv", tmp_path), "1"
    )


def test_a_file_system_that_cannot_be_reached_is_told() -> None:
    with pytest.raises(EngineError, match=r"nosuch:// cannot be read by this process.*Write engine: spark"):
        PathTemplate("nosuch://bucket/{partition}", Path("/")).partitions()


@pytest.mark.parametrize("text", ["a/{partition}", "a", "a/*/{partition}/b-*.csv", "../up/{partition}"])
def test_what_can_be_listed_is_no_mistake(text: str) -> None:
    assert template_mistake(text) is None
