"""Mistakes that users make. Both checkers must find every one of them; the comment behind the line names it."""

from __future__ import annotations

from typing import Any

import headgate as hg


def misspell(data: Any, store: hg.HistoryStore) -> None:
    hg.analize(data)  # mistake: a misspelt function
    hg.Meen("price")  # mistake: a misspelt metric
    hg.Gate(datset="orders", store=store)  # mistake: a misspelt parameter
    hg.Check("orders").is_complet("id")  # mistake: a misspelt constraint
    hg.verify(data, hg.Check("orders")).pased  # mistake: a misspelt property of a verification
    hg.Gate("orders", store=store).judge(data, "day").acton  # mistake: a misspelt property of a verdict
    hg.Decision.ACCEPTD  # mistake: a misspelt decision
    hg.Mean("price", wher="price > 0")  # mistake: a misspelt parameter of a metric


def mistype(data: Any, store: hg.HistoryStore) -> None:
    hg.Mean(3)  # mistake: a number for a column
    hg.Gate("orders", store="memory:")  # mistake: a text for a store
    hg.Gate("orders", store=store, mode="guarded")  # mistake: a mode that does not exist
    hg.Gate("orders", store=store, false_alarms="1%")  # mistake: a text for a share
    hg.Check("orders").has_mean("price", between=(5,))  # mistake: half a range
    hg.Check("orders").has_size(at_leest=1)  # mistake: a misspelt threshold
    hg.learn_program([hg.analyze(data)])  # mistake: a list for a past
    hg.verify(data, checks=["is_complete(id)"])  # mistake: a text for a check


def misuse(data: Any, store: hg.HistoryStore) -> None:
    gate = hg.Gate("orders", store=store)
    gate.judge(data)  # mistake: a batch without a partition
    gate.accept("2026-11-14", "Black Friday")  # mistake: a note that is not named
    hg.analyze(data, by="region").value("size()")  # mistake: parts for a whole
    rule = hg.PatternIndex.public().infer(["a"])
    print(rule.regex)  # mistake: a rule that may be none
