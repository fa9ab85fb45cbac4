"""`python -m benchmarks.gate.year`: a simulated year of a daily table through the gate, and its picture in docs.

Orders grow by half within the year. Weekends have half as many, ten holidays a third, month ends half as many again.
Three incidents are rejected and repaired the next morning, a fourth nobody answers, one week arrives two weeks late,
and one week never arrives. A good batch that is held is accepted the next morning. `HEADGATE_VALUES=plain` judges with
plain values and only prints.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pyarrow as pa

import headgate as hg
from benchmarks.values_mode import VALUES, open_memory

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "year.json"
PICTURE = HERE.parents[1] / "docs" / "pictures" / "gate-year.svg"
FIRST, DAYS = datetime.date(2026, 1, 1), 365
HOLIDAYS = (
    *("2026-01-01", "2026-01-06", "2026-04-03", "2026-04-06", "2026-05-01"),
    *("2026-05-14", "2026-05-25", "2026-10-03", "2026-12-25", "2026-12-26"),
)
LATE = tuple(f"2026-07-{day:02}" for day in range(6, 13))  # judged after 2026-07-19
MISSING = tuple(f"2026-10-{day:02}" for day in range(12, 19))
LATE_AFTER = "2026-07-19"
ORDERS = 1_000
Row = dict[str, Any]


def make_batch(day: datetime.date) -> pa.Table:
    """The orders of a day."""
    number = (day - FIRST).days
    chance = np.random.default_rng(number)
    expected = ORDERS * (1 + 0.5 * number / DAYS) * _find_share(day)
    rows = int(expected * chance.lognormal(0, 0.04))
    midnight = (day - datetime.date(1970, 1, 1)).days * 86_400
    seconds = np.sort(midnight + chance.uniform(0, 86_400, rows))
    return pa.table(
        {
            "order_id": number * 10_000 + np.arange(rows),
            "ordered_at": pa.array((seconds * 1e6).astype(np.int64)).cast(pa.timestamp("us")),
            "customer": chance.integers(0, 5_000, rows),
            "country": chance.choice(["DE", "FR", "IT", "PL"], rows, p=[0.5, 0.25, 0.15, 0.1]),
            "price": np.round(chance.lognormal(3, 0.6, rows), 2),
            "quantity": chance.poisson(1.5, rows) + 1,
            "coupon": pa.array(chance.choice(["A", "B"], rows), mask=chance.random(rows) < 0.8),
            "is_holiday": np.full(rows, str(day) in HOLIDAYS),
        }
    )


def _find_share(day: datetime.date) -> float:
    """How many orders a day has, compared with a usual one."""
    if str(day) in HOLIDAYS:
        return 1 / 3
    is_month_end = (day + datetime.timedelta(days=1)).month != day.month
    return (0.5 if day.weekday() >= 5 else 1.0) * (1.5 if is_month_end else 1.0)


def _replace(table: pa.Table, column: str, values: Any) -> pa.Table:
    return table.set_column(table.column_names.index(column), column, pa.array(values, table[column].type))


INCIDENTS: dict[str, tuple[str, Callable[[pa.Table], pa.Table]]] = {
    "2026-03-17": ("half the orders are missing", lambda batch: batch.slice(0, len(batch) // 2)),
    "2026-06-09": ("prices in cents", lambda batch: _replace(batch, "price", np.array(batch["price"]) * 100)),
    "2026-09-23": (
        "3% of the countries are null",
        lambda batch: _replace(batch, "country", [*[None] * (len(batch) // 33), *batch["country"][len(batch) // 33 :]]),
    ),
    "2026-04-21": ("loaded twice, and nobody answers", lambda batch: pa.concat_tables([batch, batch])),
}
UNANSWERED = "2026-04-21"


def judge_year(false_alarms: float) -> list[Row]:
    """Every batch in the order in which it arrives: what it is, and what became of it."""
    gate = hg.Gate("orders", store=open_memory(), false_alarms=false_alarms, calendar={"holidays": list(HOLIDAYS)})
    rows: list[Row] = []
    for day in _list_arrivals():
        name, incident = str(day), INCIDENTS.get(str(day))
        good = make_batch(day)
        batch = incident[1](good) if incident else good
        verdict = gate.judge(batch, partition=name)
        rows.append(_describe(name, batch, verdict, incident[0] if incident else ""))
        if incident and name != UNANSWERED:
            gate.reject(name, number=verdict.revision.number)
            verdict = gate.judge(good, partition=name)
            rows.append(_describe(name, good, verdict))
        if not verdict.passed and name != UNANSWERED:
            gate.accept(name, number=verdict.revision.number)
    return rows


def _describe(day: str, batch: pa.Table, verdict: hg.BatchVerdict, incident: str = "") -> Row:
    failed = sorted({str(each.expectation.metric) for each in verdict.failures})
    causes = [each.title for each in verdict.causes]
    held = not verdict.passed
    return {"day": day, "rows": len(batch), "incident": incident, "held": held, "causes": causes, "metrics": failed}


def list_held_again(rows: list[Row]) -> list[Row]:
    """The good batches that are held by a metric by which an earlier good batch was held, and accepted."""
    held = [row for row in rows if row["held"] and not row["incident"]]
    return [row for at, row in enumerate(held) if any(set(row["metrics"]) & set(each["metrics"]) for each in held[:at])]


def _list_arrivals() -> list[datetime.date]:
    days = [FIRST + datetime.timedelta(days=number) for number in range(DAYS)]
    late = [day for day in days if str(day) in LATE]
    in_time = [day for day in days if str(day) not in (*LATE, *MISSING)]
    after = next(at for at, day in enumerate(in_time) if str(day) == LATE_AFTER) + 1
    return [*in_time[:after], *late, *in_time[after:]]


def name_outcome(row: Row) -> str:
    if row["incident"]:
        return "broken, held" if row["held"] else "broken, published"
    return "good, held" if row["held"] else "good, published"


def draw_year(rows: list[Row]) -> None:
    """Rows by day, coloured by what became of the batch."""
    points = [
        {"day": row["day"], "rows": row["rows"], "outcome": name_outcome(row), "arrived": _describe_arrival(row["day"])}
        for row in rows
    ]
    labels = [{"day": row["day"], "rows": row["rows"], "text": row["incident"]} for row in rows if row["incident"]]
    colours = {
        "good, published": "#0b7285",
        "good, held": "#f08c00",
        "broken, held": "#c92a2a",
        "broken, published": "#000000",
    }
    outcomes = [each for each in colours if each in {point["outcome"] for point in points}]
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("day:T", title=None, axis=alt.Axis(format="%b", tickCount="month")),
        y=alt.Y("rows:Q", title="rows of the batch"),
    )
    dots = base.mark_point(filled=True, opacity=0.9).encode(
        color=alt.Color(
            "outcome:N", scale=alt.Scale(domain=outcomes, range=[colours[each] for each in outcomes]), title="batch"
        ),
        shape=alt.Shape(
            "arrived:N", scale=alt.Scale(domain=["in time", "two weeks late"], range=["circle", "diamond"])
        ),
        size=alt.condition("datum.outcome == 'good, published'", alt.value(22), alt.value(90)),
    )
    place = {"align": "left", "dx": 8, "dy": -2, "fontSize": 11, "fontWeight": "bold"}
    labelled = alt.Chart(alt.Data(values=labels)).encode(x="day:T", y="rows:Q", text="text:N")
    texts = labelled.mark_text(**place, stroke="white", strokeWidth=4) + labelled.mark_text(**place)
    gap = (
        alt.Chart(alt.Data(values=[{"start": MISSING[0], "end": MISSING[-1], "text": "never arrived"}]))
        .mark_rect(opacity=0.15, color="#868e96")
        .encode(x="start:T", x2="end:T")
    )
    chart = (gap + dots + texts).properties(width=900, height=320, title="A year of a daily table at a budget of 1%")
    chart.configure_legend(orient="bottom", labelLimit=0).save(str(PICTURE))


def _describe_arrival(day: str) -> str:
    return "two weeks late" if day in LATE else "in time"


def main() -> None:
    found = {budget: judge_year(budget) for budget in (0.01, 0.05)}
    if VALUES == "hidden":
        RESULTS.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
        draw_year(found[0.01])
    for budget, rows in found.items():
        good, broken = [row for row in rows if not row["incident"]], [row for row in rows if row["incident"]]
        held = [row for row in good if row["held"]]
        print(
            f"budget {budget:.0%}: {sum(row['held'] for row in broken)} of {len(broken)} broken batches held, ", end=""
        )
        again = ", ".join(row["day"] for row in list_held_again(rows)) or "none"
        print(f"{len(held)} of {len(good)} good ones ({len(held) / len(good):.2%}); accepted and held again: {again}")
        for row in rows:
            if row["held"] or row["incident"]:
                print(f"  {row['day']}  {name_outcome(row)}: {'; '.join(row['causes'][:2])}")


if __name__ == "__main__":
    main()
