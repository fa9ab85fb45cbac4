"""The demo: sixty days of real flights, some of them broken on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

FLIGHTS = Path(__file__).with_name("flights.parquet")
CONFIG = Path(__file__).with_name("demo.yml")
BLIZZARD = ("2013-02-08", "2013-02-09")
"""Days of a real blizzard, on which half of the flights did not leave."""


def send_kilometres(day: Any) -> Any:
    """An upstream job sends kilometres instead of miles."""
    from headgate.inject.inject import inject_issue

    return inject_issue(day, "unit_change", "distance", factor=1.609344)


def drop_one_airport(day: Any) -> Any:
    """One of three sources did not deliver."""
    import pyarrow.compute as pc

    return day.filter(pc.not_equal(day["origin"], "JFK"))


def send_city_code(day: Any) -> Any:
    """Flights to Boston have the city code NYC as their origin, which is no airport."""
    import pyarrow.compute as pc

    origin = pc.if_else(pc.equal(day["dest"], "BOS"), "NYC", day["origin"])
    return day.set_column(day.column_names.index("origin"), "origin", origin)


def lower_case_carriers(day: Any) -> Any:
    """An upstream job lower-cases the airline codes."""
    import pyarrow.compute as pc

    return day.set_column(day.column_names.index("carrier"), "carrier", pc.utf8_lower(day["carrier"]))


INCIDENTS: Mapping[str, Callable[[Any], Any]] = {
    "2013-02-03": send_kilometres,
    "2013-02-14": drop_one_airport,
    "2013-02-20": send_city_code,
    "2013-02-25": lower_case_carriers,
}


def read_days() -> Iterator[tuple[str, Any]]:
    """Each day with its unchanged flights as a pyarrow table, oldest first."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    flights = pq.read_table(FLIGHTS)
    for name in sorted(pc.unique(flights["day"]).to_pylist()):
        yield name, flights.filter(pc.equal(flights["day"], name)).drop_columns(["day"])


def read_broken_days() -> Iterator[tuple[str, Any]]:
    """The same days with the incidents applied."""
    for name, day in read_days():
        yield name, INCIDENTS[name](day) if name in INCIDENTS else day
