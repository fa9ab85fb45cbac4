"""The content of the page of all datasets: which need attention, the state of each, and its use of the budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from markupsafe import Markup

from headgate.display.numbers import format_moment
from headgate.explain.batches_alike import find_batches_alike
from headgate.explain.verdict_page import choose_tone
from headgate.gate.gate import Gate
from headgate.report.batch import describe_state
from headgate.report.chart import draw_strip
from headgate.report.run_series import SHOWN_RUNS, RunMark
from headgate.values.run import Decision

_ORDER = {"bad": 0, "unsure": 1, "good": 2, "none": 3}
_SETTLED = (Decision.RELEASED, Decision.SPLIT, Decision.DISCARDED, Decision.WITHDRAWN)  # nobody has to act


class DatasetRow(msgspec.Struct, frozen=True):
    """A row of the table of datasets: the newest batch, and how many of the last runs were held."""

    name: str
    owner: str
    budget: float
    tone: str = "none"
    state: str = "no run yet"
    partition: str = ""
    cause: str = ""
    more: int = 0
    alike: int = 0  # held batches with the cause of the newest, which is one of them
    spent: float = 0.0
    held: int = 0
    runs: int = 0
    strip: Markup = Markup("")
    at: str = ""
    link: str = ""
    batch_link: str = ""
    is_settled: bool = False  # whether somebody has decided about the newest batch, though it is not good
    waits: bool = False  # whether somebody has to act
    waiting: int = 0  # held batches that nobody has decided about

    @property
    def is_over_budget(self) -> bool:
        """Whether more runs were held than the budget for false alarms explains, with a margin for chance."""
        return self.held > 0 and self.held > self.budget * self.runs * 3 + 1


def fleet_page(gates: Sequence[Gate], link: Callable[[str, str | None], str]) -> Mapping[str, Any]:
    """The variables of the template `fleet.html`. `link` gives the address of a dataset's or partition's page."""
    rows = sorted(
        (_make_row(each, link) for each in gates), key=lambda each: (_ORDER[each.tone], not each.waits, each.name)
    )
    return {
        "rows": rows,
        "batches": sum(each.waiting for each in rows),
        "waiting": sum(each.waits for each in rows),
        "bad": sum(each.tone == "bad" for each in rows),
        "unsure": sum(each.tone == "unsure" and not each.is_settled for each in rows),
        "released": sum(each.tone == "unsure" and each.is_settled for each in rows),
        "good": sum(each.tone == "good" for each in rows),
        "silent": sum(each.tone == "none" for each in rows),
        "updated": max((each.at for each in rows), default=""),
    }


def _make_row(gate: Gate, link: Callable[[str, str | None], str]) -> DatasetRow:
    revisions = gate.store.last(gate.dataset, SHOWN_RUNS)
    name, settings = gate.dataset, gate.settings
    if not revisions:
        return DatasetRow(name, settings.owner, settings.false_alarms)
    newest = gate.read_verdict(revisions[-1])
    is_settled = newest.decision in _SETTLED
    waiting = len(gate.history.find_waiting())
    tone = choose_tone(newest).value
    marks = [(each.partition, RunMark.of(each)) for each in revisions]
    return DatasetRow(
        name=name,
        tone=tone,
        partition=newest.partition,
        state=describe_state(newest),
        cause=newest.causes[0].title if newest.causes else "",
        more=max(0, len(newest.causes) - 1),
        alike=len(find_batches_alike(newest, {each.partition for each in revisions if each.decision is Decision.HELD})),
        owner=settings.owner,
        budget=settings.false_alarms,
        spent=newest.account.spent,
        held=sum(mark is RunMark.HELD for _, mark in marks),
        runs=len(marks),
        strip=draw_strip(marks),
        at=format_moment(newest.run.at, whole_days=False),
        link=link(name, None),
        batch_link=link(name, newest.partition),
        is_settled=is_settled,
        waits=waiting > 0 or (tone != "good" and not is_settled),
        waiting=waiting,
    )
