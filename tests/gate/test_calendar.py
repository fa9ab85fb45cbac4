"""The gate and the calendar: a held or missing day does not hold the days after it, and times are told or stated."""

from __future__ import annotations

import datetime
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.values.account import Action
from headgate.values.errors import MisuseError

Maker = Callable[[np.random.Generator, int, datetime.datetime], pa.Table]
START = datetime.datetime(2026, 3, 2)  # a Monday
BEFORE, AFTER = 20, 10  # runs before and after the day that is held or missing


def moments(day: datetime.datetime, chance: np.random.Generator, rows: int, seconds: float = 86_400) -> pa.Array:
    first = (day - datetime.datetime(1970, 1, 1)).total_seconds()
    return pa.array(((first + chance.uniform(0, seconds, rows)) * 1e6).astype(np.int64)).cast(pa.timestamp("us"))


def snapshot(chance: np.random.Generator, number: int, day: datetime.datetime) -> pa.Table:
    rows = 200
    dates = pa.array([day] * rows, pa.timestamp("us"))
    return pa.table({"as_of": dates, "id": np.arange(rows), "amount": chance.lognormal(3, 0.5, rows)})


def growing(chance: np.random.Generator, number: int, day: datetime.datetime) -> pa.Table:
    rows = int(chance.normal(400, 12))
    ids = np.arange(rows) + number * 400
    return pa.table({"id": ids, "order_ts": moments(day, chance, rows), "price": chance.normal(24.4, 0.3, rows)})


def weekly(chance: np.random.Generator, number: int, day: datetime.datetime) -> pa.Table:
    rows = int(chance.normal(400 if day.weekday() < 5 else 120, 10))
    return pa.table({"order_ts": moments(day, chance, rows), "price": chance.normal(24.4, 0.3, rows)})


def hourly(chance: np.random.Generator, number: int, day: datetime.datetime) -> pa.Table:
    ids = np.arange(200) + number * 200
    return pa.table({"id": ids, "ts": moments(day, chance, 200, 3_600), "v": chance.normal(10, 1, 200)})


def days(count: int) -> list[datetime.datetime]:
    return [START + datetime.timedelta(days=day) for day in range(count)]


def weekdays(count: int) -> list[datetime.datetime]:
    return [day for day in days(2 * count) if day.weekday() < 5][:count]


def months(count: int) -> list[datetime.datetime]:
    return [datetime.datetime(2020 + month // 12, month % 12 + 1, 1) for month in range(count)]


def hours(count: int) -> list[datetime.datetime]:
    return [START + datetime.timedelta(hours=hour) for hour in range(count)]


TABLES: dict[str, tuple[Maker, Callable[[int], list[datetime.datetime]], str]] = {
    "snapshot with a date": (snapshot, days, "%Y-%m-%d"),
    "growing ids and timestamps": (growing, days, "%Y%m%d"),
    "weekly season": (weekly, days, "%Y-%m-%d"),
    "weekdays only": (growing, weekdays, "%Y-%m-%d"),
    "monthly": (growing, months, "%Y-%m"),
    "hourly": (hourly, hours, "%Y-%m-%dT%H"),
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("what", ["held", "missing"])
def test_a_day_that_is_held_or_missing_does_not_hold_the_days_after_it(table: str, what: str) -> None:
    make, times, form = TABLES[table]
    chance, gate = np.random.default_rng(5), hg.Gate("t", store=hg.open_store("memory:"))
    held = []
    for number, day in enumerate(times(BEFORE + 1 + AFTER)):
        batch, partition = make(chance, number, day), day.strftime(form)
        if number != BEFORE:
            held += [partition] * (gate.judge(batch, partition=partition).action is Action.HOLD)
        elif what == "held":
            broken = batch.set_column(batch.num_columns - 1, batch.column_names[-1], pa.nulls(len(batch), pa.float64()))
            assert gate.judge(broken, partition=partition).action is Action.HOLD
    assert held == []


def by_date(chance: np.random.Generator, day: datetime.datetime, **given: object) -> pa.Table:
    """A table with columns that have one value in each batch."""
    values = {
        "month": day.month,
        "weekday": day.isoweekday(),
        "holiday": int((day.month, day.day) in {(11, 2), (12, 25), (12, 26)}),
        "as_of": day.date(),
        **given,
    }
    columns = {label: [value] * 200 for label, value in values.items()}
    return pa.table({**columns, "price": chance.normal(24.4, 0.3, 200)})


def test_columns_that_follow_from_the_date_are_expected_to() -> None:
    chance, gate = np.random.default_rng(5), hg.Gate("t", store=hg.open_store("memory:"))
    first = datetime.datetime(2026, 10, 20)
    held = []
    for number in range(73):  # to the end of December
        day = first + datetime.timedelta(days=number)
        partition = f"{day:%Y-%m-%d}"
        held += [partition] * (gate.judge(by_date(chance, day), partition=partition).action is Action.HOLD)
    assert held == []
    day = datetime.datetime(2027, 1, 1)
    wrong = ({"month": 12}, {"weekday": 4}, {"holiday": 7}, {"as_of": datetime.date(2026, 12, 31)})
    for given in wrong:
        verdict = gate.judge(by_date(chance, day, **given), partition="2027-01-01")
        assert verdict.action is Action.HOLD, given
        assert [cause.columns for cause in verdict.causes] == [tuple(given)]
    assert gate.judge(by_date(chance, day, holiday=1), partition="2027-01-01").action is Action.PUBLISH


def test_a_backfill_out_of_order_is_judged_by_its_own_day() -> None:
    chance, gate = np.random.default_rng(5), hg.Gate("t", store=hg.open_store("memory:"))
    late = (14, 15, 16)
    batches = {number: growing(chance, number, day) for number, day in enumerate(days(BEFORE))}
    for number in [*(each for each in batches if each not in late), *late]:
        verdict = gate.judge(batches[number], partition=f"{days(BEFORE)[number]:%Y-%m-%d}")
        assert verdict.action is Action.PUBLISH


def test_two_batches_a_day_are_compared_with_their_own_kind() -> None:
    chance, gate = np.random.default_rng(5), hg.Gate("t", store=hg.open_store("memory:"))
    for number in range(40):
        rows = int(chance.normal(500 if number % 2 else 100, 5))
        batch = pa.table({"v": chance.normal(10, 1, rows)})
        partition = f"{days(40)[number // 2]:%Y-%m-%d}/{number % 2}"
        assert gate.judge(batch, partition=partition).action is Action.PUBLISH, partition
    assert "by batch of the day" in str(gate.learned().program)


def test_a_cadence_that_changes_is_followed() -> None:
    chance, gate = np.random.default_rng(5), hg.Gate("t", store=hg.open_store("memory:"))
    times = [*days(14), *(days(14)[-1] + datetime.timedelta(days=7 * week) for week in range(1, 12))]
    for day in times:
        rows = int(chance.normal(400, 12))
        batch = pa.table({"order_ts": moments(day, chance, rows), "price": chance.normal(24.4, 0.3, rows)})
        assert gate.judge(batch, partition=f"{day:%Y-%m-%d}").action is Action.PUBLISH


def test_a_partition_may_be_judged_twice() -> None:
    chance, gate = np.random.default_rng(5), hg.Gate("t", store=hg.open_store("memory:"))
    batches = [growing(chance, number, day) for number, day in enumerate(days(BEFORE))]
    for number, batch in enumerate(batches):
        gate.judge(batch, partition=f"{days(BEFORE)[number]:%Y-%m-%d}")
    corrected = batches[10].slice(0, batches[10].num_rows - 2)
    verdict = gate.judge(corrected, partition=f"{days(BEFORE)[10]:%Y-%m-%d}")
    assert (verdict.action, verdict.revision.number) == (Action.PUBLISH, 2)


@pytest.mark.parametrize("as_text", [True, False])
def test_a_time_can_be_stated(as_text: bool) -> None:
    chance, gate = np.random.default_rng(5), hg.Gate("t", store=hg.open_store("memory:"))
    for number, day in enumerate(days(BEFORE + 6)):
        if number not in (BEFORE, BEFORE + 1):
            time = f"{day:%Y-%m-%d}" if as_text else day.date()
            verdict = gate.judge(growing(chance, number, day), partition=f"load {number}", time=time)
            assert verdict.action is Action.PUBLISH
            assert verdict.account.time == f"{day:%Y-%m-%d}T00:00:00 day"


def test_what_is_no_time_is_refused_before_anything_is_scanned() -> None:
    gate = hg.Gate("t", store=hg.open_store("memory:"))
    with pytest.raises(MisuseError, match="'tomorrow' is no time"):
        gate.judge(pa.table({"v": [1]}), partition="1", time="tomorrow")
    assert gate.store.revisions("t") == ()


def shop(chance: np.random.Generator, day: datetime.datetime, holidays: set[str]) -> pa.Table:
    """A table with a tenth of its rows on holidays, and other prices."""
    closed = f"{day:%Y-%m-%d}" in holidays
    rows = int(chance.normal(60 if closed else 400, 6))
    return pa.table({"order_ts": moments(day, chance, rows), "price": chance.normal(19 if closed else 24.4, 0.3, rows)})


def test_a_listed_day_is_judged_by_its_kind_and_does_not_disturb_the_others() -> None:
    chance = np.random.default_rng(5)
    listed = {f"{days(60)[at]:%Y-%m-%d}" for at in (20, 25, 29, 33)}
    gate = hg.Gate("t", store=hg.open_store("memory:"), calendar={"holidays": sorted(listed)})
    plain = hg.Gate("t", store=hg.open_store("memory:"))
    held: dict[hg.Gate, list[str]] = {gate: [], plain: []}
    for day in days(36):
        batch, partition = shop(chance, day, listed), f"{day:%Y-%m-%d}"
        for each, partitions in held.items():
            if each.judge(batch, partition=partition).action is Action.HOLD:
                partitions.append(partition)
                each.accept(partition)
    assert held[gate] == []
    assert "2026-03-22" in held[plain]  # the first holiday
    verdict = gate.explain("2026-04-04")
    assert verdict.account.learners["calendar"].startswith("holidays: 3 of 7 such days")


def test_a_broken_batch_on_a_listed_day_is_held() -> None:
    chance = np.random.default_rng(5)
    gate = hg.Gate("t", store=hg.open_store("memory:"), calendar={"holidays": [f"{days(21)[20]:%Y-%m-%d}"]})
    for day in days(20):
        assert gate.judge(shop(chance, day, set()), partition=f"{day:%Y-%m-%d}").action is Action.PUBLISH
    batch = shop(chance, days(21)[20], set())
    broken = batch.set_column(1, "price", pa.nulls(len(batch), pa.float64()))
    assert gate.judge(broken, partition=f"{days(21)[20]:%Y-%m-%d}").action is Action.HOLD


def test_earlier_days_of_a_list_are_found_however_long_ago() -> None:
    chance = np.random.default_rng(5)
    listed = {f"{days(40)[at]:%Y-%m-%d}" for at in (2, 5, 8, 39)}
    gate = hg.Gate("t", store=hg.open_store("memory:"), runs=12, calendar={"holidays": sorted(listed)})
    for day in days(40):
        gate.judge(shop(chance, day, set()), partition=f"{day:%Y-%m-%d}")
    found = gate.learned(before=f"{days(40)[39]:%Y-%m-%d}")
    assert found.learner_notes["calendar"].startswith("holidays: 3 of 7")
    assert found.past is not None
    assert len(found.past) == 12
    assert "calendar" not in gate.learned(before=f"{days(39)[38]:%Y-%m-%d}").learner_notes


def late(chance: np.random.Generator, day: datetime.datetime, usual: int, other_days: float = 0.0) -> pa.Table:
    """Orders of which some are up to five days late as usual, and a share is of the day before."""
    rows = 2_000
    first = (day - datetime.datetime(1970, 1, 1)).total_seconds()
    seconds = first + chance.uniform(0, 86_400, rows)
    seconds[: chance.poisson(usual)] -= chance.uniform(1, 5) * 86_400
    seconds[-int(other_days * rows) or rows :] -= 86_400
    stamps = pa.array((seconds * 1e6).astype(np.int64)).cast(pa.timestamp("us"))
    return pa.table({"order_ts": stamps, "price": chance.normal(24.4, 0.3, rows)})


@pytest.mark.parametrize(("usual", "other_days"), [(0, 0.03), (10, 0.2)])
def test_rows_of_another_day_are_seen_also_among_late_ones(usual: int, other_days: float) -> None:
    chance, gate = np.random.default_rng(5), hg.Gate("t", store=hg.open_store("memory:"))
    for day in days(20):
        assert gate.judge(late(chance, day, usual), partition=f"{day:%Y-%m-%d}").action is Action.PUBLISH
    verdict = gate.judge(late(chance, days(21)[20], usual, other_days), partition="2026-03-22")
    assert verdict.action is Action.HOLD
    assert [cause.columns for cause in verdict.causes] == [("order_ts",)]
    assert "outside of the period of the batch" in verdict.explain()


def publish_all(gate: hg.Gate, batches: list[tuple[str, pa.Table]]) -> list[str]:
    """The partitions that are held of these batches, in their order."""
    return [name for name, batch in batches if gate.judge(batch, partition=name).action is Action.HOLD]


def test_hours_go_on_when_there_is_one_less_in_spring() -> None:
    chance, gate = np.random.default_rng(5), hg.Gate("t", store=hg.open_store("memory:"))
    hours = [datetime.datetime(2026, 3, 28) + datetime.timedelta(hours=hour) for hour in range(40)]
    hours.remove(datetime.datetime(2026, 3, 29, 2))
    batches = [(f"{hour:%Y-%m-%dT%H}", hourly(chance, number, hour)) for number, hour in enumerate(hours)]
    assert publish_all(gate, batches) == []


def test_hours_go_on_when_one_comes_twice_in_autumn() -> None:
    chance, gate = np.random.default_rng(5), hg.Gate("t", store=hg.open_store("memory:"))
    hours = [(datetime.datetime(2026, 10, 24) + datetime.timedelta(hours=hour), "") for hour in range(40)]
    hours[26:27] = [(datetime.datetime(2026, 10, 25, 2), "A"), (datetime.datetime(2026, 10, 25, 2), "B")]
    batches = [(f"{hour:%Y-%m-%dT%H}{mark}", hourly(chance, at, hour)) for at, (hour, mark) in enumerate(hours)]
    assert publish_all(gate, batches) == []


def test_a_leap_day_is_a_day_like_others() -> None:
    chance, gate = np.random.default_rng(5), hg.Gate("t", store=hg.open_store("memory:"))
    times = [datetime.datetime(2028, 2, 5) + datetime.timedelta(days=day) for day in range(30)]
    batches = [(f"{day:%Y-%m-%d}", growing(chance, number, day)) for number, day in enumerate(times)]
    assert "2028-02-29" in dict(batches)
    assert publish_all(gate, batches) == []
    assert gate.learned().past is not None


def test_days_that_become_hours_are_followed() -> None:
    chance, gate = np.random.default_rng(5), hg.Gate("t", store=hg.open_store("memory:"))
    daily = [(f"{day:%Y-%m-%d}", day, 86_400.0) for day in days(12)]
    hourly_times = [days(13)[12] + datetime.timedelta(hours=hour) for hour in range(30)]
    times = [*daily, *((f"{hour:%Y-%m-%dT%H}", hour, 3_600.0) for hour in hourly_times)]
    batches = [
        (name, pa.table({"ts": moments(at, chance, 300, seconds), "v": chance.normal(10, 1, 300)}))
        for name, at, seconds in times
    ]
    held = []
    for name, batch in batches:
        if gate.judge(batch, partition=name).action is Action.HOLD:
            held.append(name)
            gate.accept(name)
    assert len(held) <= 1  # the first hour has a twenty-fourth of the span of a day
    assert set(held) <= {"2026-03-14T00"}
