"""What a fault did is undone: the repaired batch equals the original, in every kind of frame."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from headgate.diagnose.fault import faults
from headgate.diagnose.repair import repair_batch
from headgate.diagnose.repairable import describe_repair, find_obstacle
from headgate.diagnose.usual_case import add_usual_case, find_usual_case
from headgate.metrics.base.hashing import hash_label
from headgate.values.diagnosis import Diagnosis
from headgate.values.errors import MisuseError
from headgate.values.schema import Column, Kind, Schema

ROWS = 60


def make_table() -> pa.Table:
    """Columns of many types, each with a null, and two rows that are equal."""
    at = list(range(ROWS))

    def gap(values: list[Any]) -> list[Any]:
        return [None, *values[1:-1], values[-2]]

    return pa.table(
        {
            "id": pa.array([*at[:-1], at[-2]]),
            "price": pa.array(gap([1.25 * each for each in at])),
            "count": pa.array(gap([7 * each for each in at]), pa.int32()),
            "fee": pa.array(gap([Decimal(each).scaleb(-2) for each in at]), pa.decimal128(12, 2)),
            "carrier": pa.array(gap([["ev", "aa", "dl"][each % 3] for each in at])),
            "city": pa.array(gap([f"Zürich {each}" for each in at])),
            "at": pa.array(gap([datetime(2026, 11, 14) + timedelta(minutes=each) for each in at])),
            "day": pa.array(gap([date(2026, 11, 14) + timedelta(days=each % 4) for each in at])),
        }
    )


def set_column(table: pa.Table, name: str, values: Any) -> pa.Table:
    at = table.schema.get_field_index(name)
    return table.set_column(at, table.schema.field(at), values.cast(table.schema.field(at).type))


def map_texts(table: pa.Table, name: str, change: Any) -> pa.Table:
    values = [None if each is None else change(each) for each in table[name].to_pylist()]
    return set_column(table, name, pa.array(values))


def inject(table: pa.Table, name: str, parameters: dict[str, Any], columns: tuple[str, ...]) -> pa.Table:
    """The table with a fault, by code of its own."""
    column = table[columns[0]] if columns and columns[0] in table.column_names else None
    match name:
        case "scaled":
            return set_column(table, columns[0], pc.multiply(column, pa.scalar(int(parameters["factor"]))))
        case "shifted":
            return set_column(table, columns[0], pc.add(column, pa.scalar(int(parameters["offset"]))))
        case "sign_flipped":
            return set_column(table, columns[0], pc.negate(column))
        case "unit_with_offset":
            return set_column(table, columns[0], pc.add(pc.multiply(column, 1.8), 32.0))
        case "columns_swapped":
            return set_column(set_column(table, columns[0], table[columns[1]]), columns[1], table[columns[0]])
        case "casing":
            return map_texts(table, columns[0], str.upper)
        case "padding":
            return map_texts(table, columns[0], lambda text: f"  {text} ")
        case "encoding":
            return map_texts(table, columns[0], lambda text: text.encode().decode("latin-1"))
        case "rows_duplicated":
            return pa.concat_tables([table] * int(parameters["copies"]))
        case "time_shifted" if columns == ("day",):
            days = pa.array([None if each is None else each + timedelta(days=1) for each in column.to_pylist()])
            return set_column(table, "day", days)
        case "time_shifted":
            return set_column(table, "at", pc.add(column, pa.scalar(timedelta(seconds=parameters["seconds"]))))
    assert name == "column_renamed"
    return table.rename_columns([parameters["name"] if each == columns[0] else each for each in table.column_names])


CASES = [
    ("scaled", {"factor": 100.0}, ("price",)),
    ("scaled", {"factor": 100.0}, ("count",)),
    ("scaled", {"factor": 100.0}, ("fee",)),
    ("shifted", {"offset": 12.0}, ("price",)),
    ("shifted", {"offset": 12.0}, ("count",)),
    ("sign_flipped", {}, ("fee",)),
    ("unit_with_offset", {"unit": "fahrenheit"}, ("price",)),
    ("columns_swapped", {}, ("carrier", "city")),
    ("casing", {"case": "upper", "was": "lower"}, ("carrier",)),
    ("padding", {}, ("city",)),
    ("encoding", {"encoding": "Latin-1"}, ("city",)),
    ("rows_duplicated", {"copies": 3.0}, ()),
    ("time_shifted", {"seconds": -28_800.0}, ("at",)),
    ("time_shifted", {"seconds": 86_400.0}, ("day",)),
    ("column_renamed", {"name": "amount"}, ("price",)),
]
NAMES = [f"{name} {' '.join(columns)}".strip() for name, _, columns in CASES]


def assert_equal(found: pa.Table, wanted: pa.Table) -> None:
    assert found.column_names == wanted.column_names
    assert found.num_rows == wanted.num_rows
    for name in wanted.column_names:
        one, two = found[name].to_pylist(), wanted[name].to_pylist()
        if pa.types.is_floating(wanted[name].type):
            one = [None if each is None else round(each, 9) for each in one]
        assert one == two, name


def find_share(name: str) -> float:
    return 2 / 3 if name == "rows_duplicated" else 1.0


@pytest.mark.parametrize(("name", "parameters", "columns"), CASES, ids=NAMES)
def test_a_fault_is_undone_in_an_arrow_table(name: str, parameters: Any, columns: tuple[str, ...]) -> None:
    table = make_table()
    diagnosis = Diagnosis(name, "", columns, parameters, find_share(name))
    repaired = repair_batch(inject(table, name, parameters, columns), [diagnosis])
    assert repaired.schema.equals(table.schema)
    assert_equal(repaired, table)


@pytest.mark.parametrize(("name", "parameters", "columns"), CASES, ids=NAMES)
def test_a_fault_is_undone_in_a_pandas_frame(name: str, parameters: Any, columns: tuple[str, ...]) -> None:
    frame = inject(make_table(), name, parameters, columns).to_pandas()
    repaired = repair_batch(frame, [Diagnosis(name, "", columns, parameters, find_share(name))])
    assert isinstance(repaired, pd.DataFrame)
    wanted = make_table().to_pandas()
    assert list(repaired.dtypes) == list(wanted.dtypes)
    pd.testing.assert_frame_equal(repaired.reset_index(drop=True), wanted)


@pytest.mark.parametrize(("name", "parameters", "columns"), CASES, ids=NAMES)
@pytest.mark.parametrize("lazy", [False, True], ids=["eager", "lazy"])
def test_a_fault_is_undone_in_a_polars_frame(name: str, parameters: Any, columns: tuple[str, ...], lazy: bool) -> None:
    frame: Any = pl.from_arrow(inject(make_table(), name, parameters, columns))
    wanted: Any = pl.from_arrow(make_table())
    repaired = repair_batch(
        frame.lazy() if lazy else frame, [Diagnosis(name, "", columns, parameters, find_share(name))]
    )
    assert isinstance(repaired, pl.LazyFrame if lazy else pl.DataFrame)
    repaired = repaired.collect() if lazy else repaired
    assert repaired.schema == wanted.schema
    assert_equal(repaired.to_arrow(), wanted.to_arrow())


def test_every_fault_that_says_it_can_be_undone_is_tried_here() -> None:
    assert {name for name, each in faults().items() if each.repairs} == {name for name, _, _ in CASES}


def test_only_the_rows_of_a_segment_are_repaired() -> None:
    table = make_table()
    inside = pc.fill_null(pc.equal(table["carrier"], "ev"), False)
    broken = set_column(table, "price", pc.if_else(inside, pc.multiply(table["price"], 100.0), table["price"]))
    diagnosis = Diagnosis("scaled", "", ("price",), {"factor": 100.0}, 0.3, segment=(("carrier", "ev"),))
    assert_equal(repair_batch(broken, [diagnosis]), table)


def test_a_segment_names_several_values_and_null() -> None:
    table = make_table()
    inside = pc.fill_null(pc.is_in(table["carrier"], pa.array(["ev", "aa"])), False)
    inside = pc.or_(inside, pc.is_null(table["carrier"]))
    broken = set_column(table, "id", pc.if_else(inside, pc.add(table["id"], 5), table["id"]))
    segment = (("carrier", "ev"), ("carrier", "aa"), ("carrier", None))
    diagnosis = Diagnosis("shifted", "", ("id",), {"offset": 5.0}, 0.6, segment=segment)
    assert_equal(repair_batch(broken, [diagnosis]), table)


def test_a_segment_by_the_hour_and_one_whose_value_is_a_hash() -> None:
    table, secret = make_table(), b"secret"
    inside = pc.fill_null(pc.is_valid(table["at"]), False)
    broken = set_column(table, "price", pc.if_else(inside, pc.negate(table["price"]), table["price"]))
    by_hour = Diagnosis("sign_flipped", "", ("price",), {}, 0.9, segment=(("hour of at", "2026-11-14 00:00"),))
    assert_equal(repair_batch(broken, [by_hour]), table)
    hashed = Diagnosis("sign_flipped", "", ("price",), {}, 0.3, segment=(("carrier", hash_label("ev", secret)),))
    inside = pc.fill_null(pc.equal(table["carrier"], "ev"), False)
    broken = set_column(table, "price", pc.if_else(inside, pc.negate(table["price"]), table["price"]))
    assert_equal(repair_batch(broken, [hashed], secret=secret), table)


def test_a_segment_is_found_by_the_values_that_were_judged() -> None:
    table = make_table()
    broken = map_texts(table, "carrier", str.upper)
    inside = pc.fill_null(pc.equal(broken["carrier"], "EV"), False)
    broken = set_column(broken, "price", pc.if_else(inside, pc.multiply(table["price"], 100.0), table["price"]))
    diagnoses = [
        Diagnosis("casing", "", ("carrier",), {"case": "upper", "was": "lower"}),
        Diagnosis("scaled", "", ("price",), {"factor": 100.0}, 0.3, segment=(("carrier", "EV"),)),
    ]
    assert_equal(repair_batch(broken, diagnoses), table)


def test_a_part_of_the_rows_that_is_there_twice_is_there_once() -> None:
    table = make_table().slice(0, ROWS - 2)
    broken = pa.concat_tables([table, table.slice(3, 9)])
    repaired = repair_batch(broken, [Diagnosis("rows_duplicated", "", (), {"share": 0.15}, 0.15)])
    assert_equal(repaired, table)


def test_texts_that_are_right_stay_as_they_are_where_a_part_is_wrong() -> None:
    table = make_table()
    broken = set_column(
        table,
        "city",
        pa.array([f" {text}" if at % 2 else text for at, text in enumerate(table["city"].to_pylist()) if True]).cast(
            pa.string()
        ),
    )
    broken = set_column(broken, "city", pa.array([None, *broken["city"].to_pylist()[1:]]))
    assert_equal(repair_batch(broken, [Diagnosis("padding", "", ("city",), {}, 0.5)]), table)


def test_numbers_with_more_digits_than_a_double_are_exact() -> None:
    whole = pa.table({"n": [9_007_199_254_740_993, 12]})
    broken = pa.table({"n": [900_719_925_474_099_300, 1200]})
    assert repair_batch(broken, [Diagnosis("scaled", "", ("n",), {"factor": 100.0})]).equals(whole)
    long = pa.array([Decimal("12345678901234567890.12")], pa.decimal128(30, 2))
    shifted = pa.table({"n": pa.array([Decimal("12345678901234567892.12")], pa.decimal128(30, 2))})
    assert (
        repair_batch(shifted, [Diagnosis("shifted", "", ("n",), {"offset": 2.0})])["n"].to_pylist() == long.to_pylist()
    )


def test_what_does_not_fit_the_type_is_an_error_and_no_other_number() -> None:
    table = pa.table({"n": pa.array([100], pa.int8())})
    with pytest.raises(MisuseError, match="cannot be repaired within its type, int8"):
        repair_batch(table, [Diagnosis("scaled", "", ("n",), {"factor": 0.01})])


@pytest.mark.parametrize(
    ("diagnosis", "why"),
    [
        (Diagnosis("scaled", "", ("price",), {"factor": 10.0}, 0.4), "which rows it happened to is not known"),
        (Diagnosis("nulls", "", ("price",)), "what was there before is not in the batch"),
        (Diagnosis("of a newer version", "", ("price",)), "what was there before is not in the batch"),
        (Diagnosis("encoding", "", ("city",), {"encoding": "unknown"}), "the characters are lost"),
        (Diagnosis("casing", "", ("city",), {"case": "upper"}), "the case of each value before is not known"),
        (Diagnosis("scaled", "", ("items[].price",), {"factor": 10.0}), "places inside nested columns are not changed"),
        (
            Diagnosis("scaled", "", ("price",), {"factor": 9.0}, 0.4, segment=(("Spark partition", "3"),)),
            "its rows cannot be found again",
        ),
    ],
)
def test_what_cannot_be_undone_says_why(diagnosis: Diagnosis, why: str) -> None:
    nested = Column("items[].price", Kind.FLOAT, "double", parent="items", repeated=True)
    schema = Schema((Column("price", Kind.FLOAT, "double"), nested))
    assert find_obstacle(diagnosis, schema) == why
    with pytest.raises(MisuseError, match="there is nothing to undo"):
        repair_batch(make_table(), [diagnosis], schema)


@pytest.mark.parametrize(
    ("diagnosis", "message"),
    [
        (Diagnosis("scaled", "", ("gone",), {"factor": 10.0}), "there is no column 'gone'"),
        (Diagnosis("column_renamed", "", ("price",), {"name": "count"}), "there is a column 'price' already"),
        (Diagnosis("columns_swapped", "", ("price", "city")), "have different types, double and string"),
        (Diagnosis("padding", "", ("price",)), "price is double"),
        (Diagnosis("shifted", "", ("city",), {"offset": 1.0}), "city is string"),
    ],
)
def test_another_batch_than_the_judged_one_is_refused(diagnosis: Diagnosis, message: str) -> None:
    with pytest.raises(MisuseError, match=message):
        repair_batch(make_table(), [diagnosis])


def test_a_dictionary_a_dataset_and_a_record_batch_keep_their_type(tmp_path: Any) -> None:
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    texts = pa.array([" a", "b ", None]).dictionary_encode()
    padding = Diagnosis("padding", "", ("t",))
    repaired = repair_batch(pa.table({"t": texts}), [padding])
    assert pa.types.is_dictionary(repaired.schema.field("t").type)
    assert repaired["t"].to_pylist() == ["a", "b", None]
    pq.write_table(pa.table({"t": [" a", None]}), tmp_path / "a.parquet")
    assert repair_batch(ds.dataset(tmp_path), [padding])["t"].to_pylist() == ["a", None]
    assert isinstance(repair_batch(pa.record_batch({"t": [" a"]}), [padding]), pa.RecordBatch)


def test_the_usual_case_is_known_only_if_all_values_have_it() -> None:
    assert find_usual_case({"A": 0.7, "A-9": 0.3}) == "upper"
    assert find_usual_case({"X": 0.7, "A": 0.3}) == "upper"
    assert find_usual_case({"Aa": 0.5, "Aa Aa": 0.5}) is None  # Smith, or iPhone
    assert find_usual_case({"9": 1.0}) is None
    diagnosis = Diagnosis("casing", "", ("city",), {"case": "lower"})
    assert add_usual_case(diagnosis, {"A": 1.0}).parameters == {"case": "lower", "was": "upper"}
    assert add_usual_case(diagnosis, {"aA": 1.0}) is diagnosis


def test_a_repair_is_said_in_words() -> None:
    said = {describe_repair(Diagnosis(name, "", columns, parameters)) for name, parameters, columns in CASES}
    assert said >= {
        "price is divided by 100",
        "count is lowered by 12",
        "fee is multiplied by -1",
        "carrier and city are swapped back",
        "at is moved ahead by 8 hours",
        "amount is named price again",
        "blanks around the values of city are removed",
    }
    assert describe_repair(Diagnosis("scaled", "", ("a",), {"factor": 0.001})) == "a is multiplied by 1,000"
