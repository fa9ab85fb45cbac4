"""Which frequent values of a column are missing, new or written differently, named or only counted."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

import headgate as hg
from headgate.explain.value_changes import MAX_LENGTH, describe_value_changes, find_value_changes
from headgate.learn.past import Past
from headgate.store.memory import MemoryStore
from headgate.values.account import ValueChange, ValueChangeKind
from tests.gate.orders import SECRET, gate_after, judged, orders, replaced

RUNS = 8
DAY = ["EWR"] * 35 + ["JFK"] * 33 + ["LGA"] * 32


def past_of(days: Sequence[Sequence[str]], hide: bool = False) -> Past:
    store = MemoryStore(hide=hide, secret=SECRET)
    for at, values in enumerate(days):
        found = hg.analyze(pa.table({"origin": values}))
        partition = f"2026-01-{at + 1:02}"
        run = hg.Run(
            dataset="flights",
            partition=partition,
            fingerprint=partition,
            schema=found.schema,
            outcomes=found.outcomes,
            states=found.states,
        )
        store.commit(run)
        store.decide("flights", partition, hg.Decision.ACCEPTED)
    return Past.read(store, "flights")


def changes_of(values: Sequence[str], hide: bool = False, days: Sequence[Sequence[str]] | None = None) -> str:
    past = past_of(days or [DAY] * RUNS, hide)
    found = find_value_changes(past, hg.analyze(pa.table({"origin": values})).states, ["origin"])
    return describe_value_changes(found.get("origin", ()))


@pytest.mark.parametrize(
    ("values", "plain", "hidden"),
    [
        (["EWR"] * 35 + ["LGA"] * 32, "JFK is missing, it was 33.0%", "1 value is missing, it was 33.0%"),
        (["EWR"] * 60, "JFK and LGA are missing, they were 65.0%", "2 values are missing, they were 65.0%"),
        ([*DAY, *["SFO"] * 25], "SFO is new (20.0%)", "1 value is new (20.0%)"),
        (
            [each.lower() for each in DAY],
            "EWR is now written ewr, JFK jfk and LGA lga (100.0%)",
            "3 values are now written in another case (100.0%)",
        ),
        (
            ["Jfk " if each == "JFK" else each for each in DAY],
            'JFK is now written "Jfk " (33.0%)',
            "1 value is now written in another case (33.0%)",
        ),
        (
            ["ewr"] * 95 + ["jfk"] * 3 + ["lga"] * 2,
            "EWR is now written ewr, JFK jfk and LGA lga (100.0%)",
            "3 values are now written in another case (100.0%)",
        ),
        (["EWR"] * 90 + ["JFK"] * 5 + ["LGA"] * 5, "EWR is 90.0%, it was 35.0%", "1 value is 90.0%, it was 35.0%"),
        (DAY, "", ""),
        (["EWR"] * 8 + ["LGA"] * 8, "", ""),  # so few that JFK may be missing by chance
        ([*DAY[:99], "SFO"], "SFO is new (1.0%)", "1 value is new (1.0%)"),
    ],
)
def test_values_that_changed_are_named_where_the_store_keeps_them(values: list[str], plain: str, hidden: str) -> None:
    assert changes_of(values) == plain
    assert changes_of(values, hide=True) == hidden


def test_rare_values_that_are_rewritten_are_not_new() -> None:
    day = ["EWR"] * 97 + ["VX"] * 3
    assert changes_of([each.lower() for each in day], days=[day] * RUNS) == (
        "EWR is now written ewr and VX vx (100.0%)"
    )


def test_a_value_that_was_missing_before_is_not_missing_now() -> None:
    without = [each for each in DAY if each != "JFK"]
    assert changes_of(without, days=[*[DAY] * RUNS, without]) == ""


def test_values_that_are_new_every_day_are_not_told_as_new() -> None:
    days = [[*DAY, *[f"today {at}"] * 20] for at in range(RUNS)]
    assert "new" not in changes_of([*DAY, *["today 9"] * 20], days=days)
    assert changes_of([*DAY, *["today 9"] * 90], days=days).startswith("today 9 is new (47.4%)")


def test_of_many_values_a_few_are_named_and_long_ones_are_cut() -> None:
    long = "x" * 200
    told = changes_of([*DAY, *[f"{at}{long}" for at in range(5) for _ in range(10)]])
    assert told.endswith("and 2 more are new (33.3%)")
    assert max(map(len, told.split(", "))) < 3 * MAX_LENGTH


def test_columns_that_are_no_texts_are_left_out() -> None:
    past = Past.of([hg.analyze(orders(day)) for day in range(RUNS)])
    states = hg.analyze(replaced(orders(9), "quantity", [77] * len(orders(9)))).states
    assert find_value_changes(past, states, ["quantity", "nowhere"]) == {}
    assert find_value_changes(None, states, ["country"]) == {}


@pytest.mark.parametrize("hide", [True, False])
def test_a_gate_names_values_only_if_its_store_keeps_them(hide: bool) -> None:
    lower = [each.lower() for each in orders(12)["country"].to_pylist()]
    verdict = judged(gate_after(12, hide=hide), 12, replaced(orders(12), "country", lower))
    (change,) = verdict.account.value_changes["country"]
    assert (change.kind, change.count) == (ValueChangeKind.REWRITTEN, 3)
    assert change.values == (() if hide else ("DE", "FR", "US"))
    assert change.written == (() if hide else ("de", "fr", "us"))
    title = "country: 3 values are now" if hide else "country: DE is now written de, FR fr and US us (100.0%)"
    assert verdict.causes[0].title == "country is written in lower case"
    assert verdict.causes[0].found[0].startswith(title)


def test_values_are_told_in_the_order_of_their_kinds() -> None:
    changes = [
        ValueChange(ValueChangeKind.MISSING, 2, 0.0, 0.3, 0.3, ("a", "")),
        ValueChange(ValueChangeKind.NEW, 1, 0.2, 0.0, 0.0, ("b",)),
    ]
    assert describe_value_changes(changes) == 'a and "" are missing, they were 30.0%; b is new (20.0%)'
