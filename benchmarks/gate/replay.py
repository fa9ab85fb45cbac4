"""Replays every feed day by day: which forms of the gate hold usual days, broken batches and the real incidents.

Values are hidden as `benchmarks.values_mode` says.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from msgspec.structs import replace

import headgate as hg
from benchmarks.gate.days import Arrival, arrivals
from benchmarks.history.cases import random
from benchmarks.history.evidence import tails_for
from benchmarks.history.feeds import Feed, feeds
from benchmarks.history.incidents import SHORTEST, batch_at, corrected
from benchmarks.history.series import CACHE, analysed, fingerprint
from benchmarks.history.table_cases import Choice, TableCase, broken, choices, table_cases
from benchmarks.rarity.memory import list_accounts
from benchmarks.values_mode import SECRET, hide_states
from headgate.explain.causes import find_causes
from headgate.explain.column_changes import changes_behind
from headgate.learn import text_rules
from headgate.learn.learned import Learned, Learner, ProposalPool
from headgate.learn.past import DEFAULT_DISTANCES, attempt_prefixes, measure_distances
from headgate.metrics.base.registry import from_key
from headgate.values.account import Account
from headgate.values.expectation import Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Outcome
from headgate.values.proposal import Proposal
from headgate.values.run import Run

RUNS = 30
USUAL = 36  # usual days of a feed that are judged; of longer feeds every second, third, ...
SPOTS = 4  # days of a feed that are broken in many ways
WIDE = 60  # columns beyond which fewer days are judged
FORMS: dict[str, tuple[Learner, ...]] = {
    "gate": tuple(Learner),
    "history": (Learner.HISTORY,),
    "novelty": (Learner.NOVELTY,),
    "patterns": (Learner.PATTERNS,),
}
BUDGETS = (0.003, 0.01, 0.02, 0.05, 0.1)
Row = dict[str, Any]


def replayed(workers: int = 2) -> list[Row]:
    """Every judged batch of every feed; kept outside the project, so that a replay that was cut short goes on."""
    every = sorted(feeds(SHORTEST), key=lambda feed: -feed.path.stat().st_size)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        return [row for found in pool.map(of_feed, every) for row in found]


def of_feed(feed: Feed) -> list[Row]:
    file = CACHE / f"{feed.folder}.{feed.name}.{_made_by()}.gate.json"
    if not file.exists():
        part = file.with_suffix(f".{zlib.crc32(feed.title.encode())}.part")
        part.write_text(json.dumps(Replay(feed).rows()), encoding="utf-8")
        part.rename(file)
    return json.loads(file.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


@cache
def _made_by() -> str:
    """A replay is made again when a learner or the gate's way of asking them has changed."""
    home, here = Path(hg.__file__).parent, Path(__file__).parent
    folders = "".join(
        fingerprint(home / each) for each in ("learn", "learn/history", "learn/novelty", "learn/patterns")
    )
    files = (home / "learn/pooled_rates.json", home / "learn/learned.py", here / "replay.py", here / "days.py")
    made_by = folders + "".join(each.read_text(encoding="utf-8") for each in files) + repr(SECRET)
    return f"{zlib.crc32(made_by.encode()):08x}"


class Replay:
    """One feed: the runs that joined the history so far, the rules about texts that they carry, and how rare they were.

    The last is taken from a replay of all good runs, of long feeds of some.
    """

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.runs: list[Run] = []
        self.shapes: tuple[Proposal, ...] = ()
        self.account = Account()
        self.every = 1
        self.index = hg.PatternIndex.public()
        self._patterns: dict[MetricKey, Outcome] = {}  # what the rules found in the newest judged day
        self._patterns_of = ""

    def rows(self) -> list[Row]:
        found: list[Row] = []
        cases = self._cases()
        self.every = every = -(-len(analysed(self.feed)) // self._usual())
        for number, day in enumerate(arrivals(self.feed)):
            usual = day.incident is None
            judged = not usual or number % every == 0 or (day.at in cases and usual)
            if judged and self.runs:
                found += self._judged(day, number % every == 0, cases.get(day.at, []) if usual else [])
            self._join(day)
        print(self.feed.title, len(found), file=sys.stderr, flush=True)
        return found

    def _usual(self) -> int:
        wide = max(
            len(each.analysis.schema.columns) for each in analysed(self.feed)[:: max(1, len(analysed(self.feed)) // 5)]
        )
        return USUAL // 3 if wide > WIDE else USUAL

    def _cases(self) -> dict[int, list[TableCase]]:
        found: dict[int, list[TableCase]] = defaultdict(list)
        if len(analysed(self.feed)) >= 60:
            for case in table_cases(self.feed, analysed(self.feed)):
                found[case.at].append(case)
        spots = sorted(found)
        wanted = SPOTS if self._usual() == USUAL else SPOTS // 2
        return {at: found[at] for at in spots[:: max(1, len(spots) // wanted)]}

    # --- what joins

    def _join(self, day: Arrival) -> None:
        """Distances are taken at once where most days are judged; where few are, when one that needs them is."""
        if day.joins is None:
            return
        outcomes = {**day.joins.outcomes, **self._matched(day)}
        states = hide_states(day.joins.states)
        compared: tuple[str, ...] = ()
        if self.runs and self.every < RUNS:
            before = [each.states for each in self.runs]
            outcomes |= measure_distances(day.joins.schema, states, before, DEFAULT_DISTANCES)
            compared = attempt_prefixes(self.runs)
        self.account = list_accounts(self.feed).get(day.partition, self.account)
        run = Run(
            dataset=self.feed.title,
            partition=day.partition,
            fingerprint=day.partition,
            schema=day.joins.schema,
            outcomes=outcomes,
            states=states,
            account=replace(self.account, text_rules=self.shapes, reference_attempts=compared),
        )
        self.runs = [*self.runs, run][-RUNS:]

    def _matched(self, day: Arrival) -> dict[MetricKey, Outcome]:
        return self._patterns if day.partition == self._patterns_of else {}

    # --- what is judged

    def _judged(self, day: Arrival, usual: bool, cases: list[TableCase]) -> list[Row]:
        tails = tails_for(self.feed.folder)
        made = ProposalPool.of(
            self.runs,
            SECRET,
            tuple(Learner),
            following=day.partition,
            pooled_rates=tails,
        )
        lessons = {
            f"{form} {budget:g}": made.spend_budget(budget, learners)
            for form, learners in FORMS.items()
            for budget in (BUDGETS if form != "patterns" else BUDGETS[1:4])
        }
        about = {"feed": self.feed.title, "at": day.at, "partition": day.partition, "runs": len(self.runs)}
        table = day.table if day.table is not None else batch_at(self.feed, day.partition)
        rows: list[Row] = []
        matched, states = self._looked_at(table)
        base = analysed(self.feed)[day.at].analysis if day.incident is None else hg.analyze(table)
        if day.incident is not None:
            row = {**about, "what": "incident", "row": day.incident.row, "type": day.incident.type, "settled": day.why}
            row["held"] = self._held(lessons, base, matched)
            right = corrected(day.incident, day.partition)
            if right is not None:
                row["corrected"] = self._held(lessons, hg.analyze(right), self._looked_at(right)[0])
            rows.append(row)
        elif usual:
            costs = {name: made.program.cost for name, made in lessons.items()}
            rows.append({**about, "what": "usual", "held": self._held(lessons, base, matched), "costs": costs})
        for case, found in self._broken_columns(day, table, cases):
            changed = {**matched, **found}
            held = {name: why[:1] for name, why in self._held(lessons, case.analysis, changed).items()}
            rows.append({**about, "what": "case", "column": case.column, "issue": case.issue, "held": held})
        if day.joins is not None and day.incident is None:
            self.shapes = text_rules.learn_rules(states, matched, self.shapes, self.index)
            self._patterns, self._patterns_of = matched, day.partition
        return rows

    def _looked_at(self, table: Any) -> tuple[dict[MetricKey, Outcome], Any]:
        """What the rules about texts find in a batch, and the sample that new ones are learned from."""
        schema = hg.analyze(table.slice(0, 0), []).schema
        wanted = [*map(from_key, text_rules.applicable(self.shapes, schema)), *text_rules.sample_metrics(schema)]
        if not wanted:
            return {}, {}
        found = hg.analyze(table, wanted)
        return {key: value for key, value in found.outcomes.items() if key.name == "pattern_match"}, found.states

    def _broken_columns(self, day: Arrival, table: Any, cases: list[TableCase]) -> Any:
        """Each case with what the rules find in its broken column, which is broken again as it was then."""
        drawn = (
            {(each.column, str(each.issue)): each for each in choices(table, random(self.feed.title, day.partition))}
            if cases
            else {}
        )
        for case in cases:
            choice: Choice | None = drawn.get((case.column, case.issue))
            rules = [each for each in self.shapes if each.column == case.column]
            if choice is None or (not rules and case.column):
                yield case, {}
                continue
            about = (self.feed.title, day.partition, choice.column, str(choice.issue))
            yield case, self._looked_at(broken(table, choice, random(*about)))[0] if self.shapes else {}

    def _held(
        self, lessons: dict[str, Learned], batch: hg.Analysis, matched: dict[MetricKey, Outcome]
    ) -> dict[str, list[str]]:
        """Which forms hold a batch, and the causes that they name."""
        first = next(iter(lessons.values()))
        outcomes = first.extend_outcomes(batch.schema, {**batch.outcomes, **matched}, batch.states)
        found: dict[str, list[str]] = {}
        for name, lesson in lessons.items():
            verdict = lesson.judge(outcomes, batch.schema)
            if verdict.status in (Status.FAIL, Status.ERROR):
                found[name] = (
                    self._told(lesson, verdict, outcomes, batch) if name == "gate 0.01" else [_reason(verdict)]
                )
        return found

    def _told(self, lesson: Learned, verdict: Any, outcomes: Any, batch: hg.Analysis) -> list[str]:
        bad = [each.expectation for each in verdict.judgements if each.status in (Status.FAIL, Status.ERROR)]
        found = changes_behind(lesson, outcomes, batch.states, [each.metric for each in bad])
        causes = find_causes(verdict.judgements, found.add_to(Account()))
        by = sorted({each.source.value for each in bad})
        return [*(cause.title for cause in causes[:3]), f"by {', '.join(by)}"]


def _reason(verdict: Any) -> str:
    bad = [each for each in verdict.judgements if each.status in (Status.FAIL, Status.ERROR)]
    return str(bad[0].reason)


if __name__ == "__main__":
    print(f"{len(replayed()):,} batches judged; kept in {CACHE}")
