"""What the page of all datasets says: which need somebody, how each fares, what of its budget was used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from markupsafe import Markup

from headgate.display.numbers import shown_moment
from headgate.explain.verdict_page import tone_of
from headgate.gate.gate import Gate
from headgate.report.batch import state
from headgate.report.chart import strip
from headgate.report.run_series import SHOWN, Mark
from headgate.values.run import Decision

_ORDER = {"bad": 0, "unsure": 1, "good": 2, "none": 3}
_SETTLED = (Decision.RELEASED, Decision.SPLIT, Decision.DISCARDED)  # though the data was not good


class DatasetRow(msgspec.Struct, frozen=True):
    """A dataset as the fleet shows it: its newest batch, and the share of its last runs that was held."""

    name: str
    owner: str
    budget: float
    tone: str = "none"
    state: str = "no run yet"
    partition: str = ""
    cause: str = ""
    more: int = 0
    spent: float = 0.0
    held: int = 0
    runs: int = 0
    strip: Markup = Markup("")
    at: str = ""
    link: str = ""
    batch_link: str = ""
    waits: bool = False

    @property
    def over(self) -> bool:
        """Whether more was held than a budget of false holds alone explains: look at those runs."""
        return self.held > 0 and self.held > self.budget * self.runs * 3 + 1


def fleet_page(gates: Sequence[Gate], link: Callable[[str, str | None], str]) -> Mapping[str, Any]:
    """What the template asks for. `link` gives the address of a dataset's or a partition's page, or nothing."""
    rows = sorted((_row(each, link) for each in gates), key=lambda each: (_ORDER[each.tone], each.name))
    return {
        "rows": rows,
        "waiting": sum(each.waits for each in rows),
        "bad": sum(each.tone == "bad" for each in rows),
        "unsure": sum(each.tone == "unsure" and each.waits for each in rows),
        "released": sum(each.tone == "unsure" and not each.waits for each in rows),
        "good": sum(each.tone == "good" for each in rows),
        "silent": sum(each.tone == "none" for each in rows),
        "updated": max((each.at for each in rows), default=""),
    }


def _row(gate: Gate, link: Callable[[str, str | None], str]) -> DatasetRow:
    revisions = gate.store.last(gate.dataset, SHOWN)
    name, made = gate.dataset, gate.settings
    if not revisions:
        return DatasetRow(name, made.owner, made.false_alarms)
    newest = gate.recorded(revisions[-1])
    tone = tone_of(newest).value
    marks = [(each.partition, Mark.of(each)) for each in revisions]
    return DatasetRow(
        name=name,
        tone=tone,
        partition=newest.partition,
        state=state(newest),
        cause=newest.causes[0].title if newest.causes else "",
        more=max(0, len(newest.causes) - 1),
        owner=made.owner,
        budget=made.false_alarms,
        spent=newest.account.spent,
        held=sum(mark is Mark.HELD for _, mark in marks),
        runs=len(marks),
        strip=strip(marks),
        at=shown_moment(newest.run.at, whole_days=False),
        link=link(name, None),
        batch_link=link(name, newest.partition),
        waits=tone != "good" and newest.decision not in _SETTLED,
    )
