"""Where the learner's own methods enter the comparison."""

from __future__ import annotations

from functools import partial

from benchmarks.patterns import indexes
from benchmarks.patterns.indexes import Lake
from benchmarks.patterns.protocol import Method, RegexRule
from headgate.learn.patterns.infer import infer
from headgate.learn.patterns.settings import InferenceSettings

PAPER = {"FMDV": "fmdv", "FMDV-V": "fmdv-v", "FMDV-H": "fmdv-h", "FMDV-VH": "fmdv-vh"}
LOOSER = 0.8
"""The paper stays below 0.1. Beyond 0.8, up to 0.99, F1 of FMDV-VH on the development columns grows by 0.007."""

OURS = "Headgate"
UNSEEN = "Headgate, unseen source"


def methods() -> list[Method]:
    """The paper's four and Headgate's form with the index of all other columns, then of those of other sources."""
    lake = indexes.whole()
    paper = [Method(name, partial(rule, lake, InferenceSettings.of(method))) for name, method in PAPER.items()]
    paper.append(Method(f"FMDV-VH, r {LOOSER}", partial(rule, lake, InferenceSettings.of("fmdv-vh", limit=LOOSER))))
    ours = InferenceSettings.of("headgate")
    return [
        *paper,
        Method(OURS, partial(rule, lake, ours)),
        Method(UNSEEN, partial(unseen_rule, ours), by_source=True),
    ]


def rule(lake: Lake, settings: InferenceSettings, train: list[str]) -> RegexRule | None:
    found = infer(train, lake, lake.total, settings)
    return None if found is None else RegexRule(str(found), found.regex, found.test, found.outside, found.seen)


def unseen_rule(settings: InferenceSettings, train: list[str], source: str) -> RegexRule | None:
    return rule(indexes.without(source), settings, train)
