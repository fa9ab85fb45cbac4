"""The pages that people meet: of a batch that passed, failed for three reasons or broke, of a dataset, of all."""

from __future__ import annotations

from functools import cache

from headgate.checks.check import Check
from headgate.display.table import Table
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.report.html import Report
from tests.gate.orders import dearer, elsewhere, emptied, gate_after, judged, new_gate, orders, torn

DAYS = 12
KINDS = ("pass", "fail", "error", "dataset", "fleet")
CHECK = Check("orders").is_complete("quantity").is_contained_in("country", ["DE", "FR", "US"])
CHECK = CHECK.has_mean("price", between=(15, 35)).has_mean("id", at_most=1, level="warn")


@cache
def _gate() -> Gate:
    return gate_after(DAYS, checks=CHECK, owner="payments@")


@cache
def failed() -> BatchVerdict:
    """Three things are wrong on one day."""
    return judged(_gate(), DAYS, elsewhere(dearer(emptied(orders(DAYS), "quantity"))))


def _passed() -> BatchVerdict:
    return judged(_gate(), DAYS + 2)


def _broken() -> BatchVerdict:
    return judged(_gate(), DAYS + 1, torn())


@cache
def scene(kind: str) -> Report:
    """A page of each kind. They share one history, so all of it is made before the first page is."""
    verdicts = {"fail": failed(), "error": _broken(), "pass": _passed()}
    examples = Table(("id", "price", "reasons"), (("17", "1,900", "price is too high"),), frozenset({0, 1}))
    match kind:
        case "dataset":
            return Report.of(_gate())
        case "fleet":
            return Report.fleet([_gate(), new_gate()])
    return Report.of(_gate(), verdicts[kind], examples=examples if kind == "fail" else None)
