"""What a gate would have done in the past: which batches it would have held, what it would have missed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import msgspec

from headgate.display.blocks import Grid, Mark, Note, Tone
from headgate.display.page import Page, Paged
from headgate.display.table import Table
from headgate.gate.backtest.replay import BudgetPlan, BudgetResult, KnownQuality, ReplayedBatch, replay_batches
from headgate.gate.settings import Settings
from headgate.learn.history.forecast import MIN_RUNS
from headgate.stats.intervals import wilson
from headgate.store.port import HistoryStore
from headgate.values.errors import MisuseError

BUDGETS = (0.002, 0.005, 0.01, 0.02, 0.05)
INJECTED_BATCHES = 12
ENOUGH = 20
"""Good batches below which no budget is recommended: the interval is too wide to tell one from another."""
_SHOWN = 20  # batches that a terminal or a notebook cell shows


def backtest(
    store: HistoryStore,
    dataset: str,
    settings: Settings | None = None,
    *,
    budgets: Iterable[float] = BUDGETS,
    spots: int = INJECTED_BATCHES,
) -> Backtest:
    """Judge every recorded batch of a dataset again by what the runs before it teach. No data is read, only states.

    `settings` are those of the gate, whose own budget is tried besides `budgets`; all are tried on the same proposals.
    Issues are injected into about `spots` good batches spread over the history; 0 leaves that out. Nothing is recorded.
    """
    made = settings or Settings()
    tried = _sort_budgets(budgets, made.false_alarms)
    if spots < 0:
        raise MisuseError(
            f"issues cannot be injected into {spots} batches.", hint=f"Write spots={INJECTED_BATCHES}, or 0."
        )
    own = BudgetPlan(made.false_alarms, made.learners)
    others = [BudgetPlan(budget, made.learners) for budget in tried if budget != own.budget]
    alone = [BudgetPlan(own.budget, (learner,)) for learner in made.learners] if len(made.learners) > 1 else []
    plans = (own, *others, *alone)
    return Backtest(dataset, plans, tuple(replay_batches(store, dataset, made, plans, spots)))


def _sort_budgets(given: Iterable[float], own: float) -> list[float]:
    """What is tried, the smallest first."""
    tried = sorted({*given, own})
    for each in tried:
        if not 0 <= each < 1:
            raise MisuseError(
                f"a budget is the share of good batches that may be held, not {each}.",
                hint="Write budgets=[0.005, 0.01, 0.02].",
            )
    return tried


class Backtest(Paged, msgspec.Struct, frozen=True, dict=True):
    """Every recorded batch in hindsight, and what follows for the budget. The first of `plans` is the gate's own."""

    dataset: str
    plans: tuple[BudgetPlan, ...]
    runs: tuple[ReplayedBatch, ...]

    @cached_property
    def judged_batches(self) -> tuple[ReplayedBatch, ...]:
        """Those with enough accepted runs before them."""
        return tuple(each for each in self.runs if not each.early)

    @property
    def early_batches(self) -> int:
        """Batches of the cold start: they count in no rate."""
        return len(self.runs) - len(self.judged_batches)

    def _of_quality(self, standing: KnownQuality) -> list[ReplayedBatch]:
        return [each for each in self.judged_batches if each.quality is standing]

    @property
    def held_batches(self) -> tuple[ReplayedBatch, ...]:
        """The batches that the gate as it is set would hold, early ones too."""
        return tuple(each for each in self.runs if each.is_held)

    @property
    def missed_batches(self) -> tuple[ReplayedBatch, ...]:
        """Bad batches that neither what is learned nor what was declared would hold."""
        return tuple(each for each in self._of_quality(KnownQuality.BAD) if not each.is_held)

    @cached_property
    def results(self) -> tuple[BudgetResult, ...]:
        """How each budget fared, the smallest first."""
        whole = [at for at, plan in enumerate(self.plans) if plan.learners == self.plans[0].learners]
        return tuple(sorted(map(self._result, whole), key=lambda each: each.plan.budget))

    @cached_property
    def learner_results(self) -> dict[str, BudgetResult]:
        """How each learner would fare alone, with the whole budget of the gate for itself."""
        found = {plan.learners[0].value: at for at, plan in enumerate(self.plans) if len(plan.learners) == 1}
        own = self.plans[0]
        return {name: self._result(at) for name, at in found.items() if self.plans[at].budget == own.budget}

    def _result(self, at: int) -> BudgetResult:
        return BudgetResult.of(self.plans[at], at, self.judged_batches)

    @property
    def recommended_budget(self) -> float | None:
        """The budget that catches the most injected issues among those that kept their word; None if none can be told.

        Of two that catch as many, the smaller.
        """
        best = self._best_result
        return None if best is None else best.plan.budget

    @property
    def _best_result(self) -> BudgetResult | None:
        kept = [each for each in self.results if each.keeps_budget and each.injected]
        if len(self._of_quality(KnownQuality.GOOD)) < ENOUGH or not kept:
            return None
        return max(kept, key=lambda each: (each.caught, -each.plan.budget))

    @property
    def advice(self) -> str:
        """Which budget to take and why, or why none is recommended, in one sentence."""
        good, best, largest = len(self._of_quality(KnownQuality.GOOD)), self._best_result, self.results[-1]
        if not good:
            return f"Nothing can be told yet: no good batch has {MIN_RUNS} accepted runs before it."
        if good < ENOUGH:
            return (
                f"The history is too short to recommend a budget: of {good} good batches the interval is wide, as none "
                f"held would still allow up to {wilson(0, good)[1]:.0%}; it takes {ENOUGH}."
            )
        if best is not None:
            return (
                f"Recommended: false_alarms={best.plan.budget:g}, which catches the most injected issues "
                f"({best.recall:.1%}) of the budgets that held no more good batches than they say "
                f"({best.false_holds} of {good}, so up to {best.interval[1]:.1%} cannot be ruled out)."
            )
        if not largest.injected:
            return "No budget is recommended, as no issue was injected to compare them by."
        return (
            f"No budget is recommended, as each held more good batches than it says: at {largest.plan.budget:.2%} "
            f"{largest.false_holds} of {good}, at {self.results[0].plan.budget:.2%} {self.results[0].false_holds}."
        )

    # --- for people and programs

    @property
    def title(self) -> str:
        if not self.runs:
            return f"{self.dataset} has no recorded run."
        counts = Counter(each.quality for each in self.judged_batches)
        said = ", ".join(f"{counts[standing]} {standing}" for standing in KnownQuality if counts[standing])
        judged = f"{len(self.judged_batches)} judged" + (f" ({said})" if said else "")
        return f"{self.dataset}: {len(self.runs)} batches replayed, {judged}, {self.early_batches} too early to judge"

    def table(self) -> Table:
        """A row for each budget."""
        own, best = self.plans[0].budget, self.recommended_budget
        rows = []
        for each in self.results:
            marks = {"this gate": each.plan.budget == own, "recommended": each.plan.budget == best}
            said = ", ".join(mark for mark, is_so in marks.items() if is_so)
            rows.append((f"{each.plan.budget:.2%}", *each.cells(), said))
        return Table(("budget", *_HEADERS, ""), tuple(rows), numeric=frozenset(range(6)))

    def learner_table(self) -> Table:
        """A row for each learner: what it would do alone."""
        rows = tuple((name, *each.cells()) for name, each in self.learner_results.items())
        return Table(("learner alone", *_HEADERS), rows, numeric=frozenset(range(1, 6)))

    def issue_table(self) -> Table:
        """A row for each type of injected issue: how many there were, and how many were caught, and by whom alone."""
        rows = []
        for kind, counts in self.issues().items():
            share = [f"{count / counts['injected']:.1%}" for name, count in counts.items() if name != "injected"]
            rows.append((kind, f"{counts['injected']:,}", *share))
        headers = ("issue", "injected", "caught", *(f"by {name}" for name in self.learner_results))
        return Table(headers, tuple(rows), numeric=frozenset(range(1, len(headers))))

    def issues(self) -> dict[str, dict[str, int]]:
        """By type of issue, how many were injected, how many the gate caught, and how many each learner alone."""
        names = {"caught": 0} | {name: self.plans.index(each.plan) for name, each in self.learner_results.items()}
        found: dict[str, dict[str, int]] = {}
        for strike in sorted(
            (each for run in self.judged_batches for each in run.injected_issues), key=lambda each: each.kind
        ):
            counts = found.setdefault(strike.kind, {"injected": 0, **dict.fromkeys(names, 0)})
            counts["injected"] += 1
            for name, at in names.items():
                counts[name] += strike.caught[at]
        return found

    def held_table(self) -> Table:
        """A row for each batch that would be held or was missed."""
        chosen = sorted((*self.held_batches, *self.missed_batches), key=self.runs.index)
        return Table(("batch", "decision", "in hindsight", "why"), tuple(map(_batch_cells, chosen)))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        counts = Counter(each.quality for each in self.judged_batches)
        return {
            "dataset": self.dataset,
            "runs": len(self.runs),
            "judged": len(self.judged_batches),
            "early": self.early_batches,
            **{standing.value: counts[standing] for standing in KnownQuality},
            "budget": self.plans[0].budget,
            "budgets": [each.to_dict() for each in self.results],
            "learners": {name: each.to_dict() for name, each in self.learner_results.items()},
            "issues": self.issues(),
            "held": [_batch_to_dict(each) for each in self.held_batches],
            "missed": [_batch_to_dict(each) for each in self.missed_batches],
            "recommended": self.recommended_budget,
            "advice": self.advice,
        }

    def page(self) -> Page:
        advice = [Note(self.advice, apart=True)] if self.runs else []
        return Page(self.title, blocks=(*self._write_grids(), *advice))

    def _write_grids(self) -> Iterator[Grid]:
        if not self.judged_batches:
            return
        best = self.recommended_budget
        marks = tuple(Mark(Tone.GOOD if each.plan.budget == best else Tone.PLAIN) for each in self.results)
        yield Grid(self.table(), "", 32, 100, marks, marked=6)
        if self.learner_results and len(self.plans[0].learners) > 1:
            yield Grid(self.learner_table(), f"Each learner alone, with {self.plans[0].budget:.2%}", 32, 100)
        found = self.held_table()
        if found.rows:
            more = f", the first {_SHOWN} of {len(found.rows)}" if len(found.rows) > _SHOWN else ""
            kept = msgspec.structs.replace(found, rows=found.rows[:_SHOWN])
            tones = tuple(Mark(_choose_tone(row[2])) for row in kept.rows)
            yield Grid(kept, f"Held or missed{more}", 32, 100, tones, marked=2)


_HEADERS = ("good held", "95% interval", "bad held", "issues caught", "stated")
_WORDS = {KnownQuality.GOOD: "a false hold", KnownQuality.BAD: "held", KnownQuality.OPEN: "held, nobody has said"}


def _choose_tone(said: str) -> Tone:
    return Tone.BAD if said == "missed" else Tone.UNSURE if said.startswith("a false hold") else Tone.PLAIN


def _batch_cells(each: ReplayedBatch) -> tuple[str, ...]:
    said = "missed" if not each.is_held else _WORDS[each.quality] + (", early" if each.early else "")
    more = f" (and {len(each.causes) - 1} more)" if len(each.causes) > 1 else ""
    return each.partition, each.decision or "", said, (each.causes[0] if each.causes else "") + more


def _batch_to_dict(each: ReplayedBatch) -> dict[str, Any]:
    return {
        "partition": each.partition,
        "revision": each.number,
        "decision": each.decision,
        "standing": each.quality.value,
        "early": each.early,
        "by": list(each.by),
        "causes": list(each.causes),
    }
