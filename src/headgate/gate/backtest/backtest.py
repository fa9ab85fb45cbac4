"""What a gate would have done in the past: which batches it would have held, what it would have missed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

import msgspec

from headgate.display.blocks import Grid, Mark, Note, Tone
from headgate.display.page import Page, Paged
from headgate.display.table import Table
from headgate.engine.progress import Progress
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
    progress: Callable[[Progress], None] | None = None,
) -> Backtest:
    """Judge every recorded batch of a dataset again by what is learned from the runs before it.

    No data is read, only states. Nothing is recorded.

    Args:
        store: Where the history is kept.
        dataset: The name of the dataset.
        settings: Those of the gate, whose own budget is tried besides `budgets`.
        budgets: The budgets to try, all on the same proposals.
        spots: Into about so many good batches, spread over the history, issues are injected; 0 for none.
        progress: A function that is called with a `Progress` after each batch.
    """
    settings = settings or Settings()
    if spots < 0:
        raise MisuseError(
            f"issues cannot be injected into {spots} batches.", hint=f"Write spots={INJECTED_BATCHES}, or 0."
        )
    own = BudgetPlan(settings.false_alarms, settings.learners)
    to_try = _sort_budgets(budgets, own.budget)
    others = [BudgetPlan(budget, settings.learners) for budget in to_try if budget != own.budget]
    alone = [BudgetPlan(own.budget, (learner,)) for learner in settings.learners] if len(settings.learners) > 1 else []
    plans = (own, *others, *alone)
    batches: list[ReplayedBatch] = []
    total = len(store.last(dataset, store.head(dataset)))
    for batch in replay_batches(store, dataset, settings, plans, spots):
        batches.append(batch)
        if progress is not None:
            progress(Progress(len(batches), total, stage=batch.partition, unit="batches"))
    return Backtest(dataset, plans, tuple(batches))


def _sort_budgets(given: Iterable[float], own: float) -> list[float]:
    """The budgets to try, the smallest first."""
    budgets = sorted({*given, own})
    for budget in budgets:
        if not 0 <= budget < 1:
            raise MisuseError(
                f"a budget is the share of good batches that may be held, not {budget}.",
                hint="Write budgets=[0.005, 0.01, 0.02].",
            )
    return budgets


class Backtest(Paged, msgspec.Struct, frozen=True, dict=True):
    """Every recorded batch judged again, and the budget that follows. The first of `plans` is the gate's own."""

    dataset: str
    plans: tuple[BudgetPlan, ...]
    runs: tuple[ReplayedBatch, ...]

    @cached_property
    def judged_batches(self) -> tuple[ReplayedBatch, ...]:
        """Those with enough accepted runs before them."""
        return tuple(each for each in self.runs if not each.early)

    @property
    def early_batches(self) -> int:
        """How many batches have too few accepted runs before them; they count in no rate."""
        return len(self.runs) - len(self.judged_batches)

    def _of_quality(self, quality: KnownQuality) -> list[ReplayedBatch]:
        return [each for each in self.judged_batches if each.quality is quality]

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
        """The result of each budget, the smallest first."""
        whole = [at for at, plan in enumerate(self.plans) if plan.learners == self.plans[0].learners]
        return tuple(sorted(map(self._result, whole), key=lambda each: each.plan.budget))

    @cached_property
    def learner_results(self) -> dict[str, BudgetResult]:
        """The result of each learner alone, with the whole budget of the gate."""
        index_of_learner = {plan.learners[0].value: at for at, plan in enumerate(self.plans) if len(plan.learners) == 1}
        own = self.plans[0]
        return {name: self._result(at) for name, at in index_of_learner.items() if self.plans[at].budget == own.budget}

    def _result(self, at: int) -> BudgetResult:
        return BudgetResult.of(self.plans[at], at, self.judged_batches)

    @property
    def recommended_budget(self) -> float | None:
        """The budget that catches the most issues among those that were kept; None if the history is too short.

        Of two that catch as many, the smaller.
        """
        best = self._best_result
        return None if best is None else best.plan.budget

    @property
    def _best_result(self) -> BudgetResult | None:
        candidates = [each for each in self.results if each.keeps_budget and each.injected]
        if len(self._of_quality(KnownQuality.GOOD)) < ENOUGH or not candidates:
            return None
        return max(candidates, key=lambda each: (each.caught, -each.plan.budget))

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
        qualities = ", ".join(f"{counts[quality]} {quality}" for quality in KnownQuality if counts[quality])
        judged = f"{len(self.judged_batches)} judged" + (f" ({qualities})" if qualities else "")
        return f"{self.dataset}: {len(self.runs)} batches replayed, {judged}, {self.early_batches} too early to judge"

    def table(self) -> Table:
        """A row for each budget."""
        own, best = self.plans[0].budget, self.recommended_budget
        rows = []
        for result in self.results:
            marks = {"this gate": result.plan.budget == own, "recommended": result.plan.budget == best}
            labels = ", ".join(mark for mark, is_so in marks.items() if is_so)
            rows.append((f"{result.plan.budget:.2%}", *result.cells(), labels))
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
        counts_by_kind: dict[str, dict[str, int]] = {}
        for issue in sorted(
            (each for run in self.judged_batches for each in run.injected_issues), key=lambda each: each.kind
        ):
            counts = counts_by_kind.setdefault(issue.kind, {"injected": 0, **dict.fromkeys(names, 0)})
            counts["injected"] += 1
            for name, at in names.items():
                counts[name] += issue.caught[at]
        return counts_by_kind

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
            **{quality.value: counts[quality] for quality in KnownQuality},
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
        held = self.held_table()
        if held.rows:
            more = f", the first {_SHOWN} of {len(held.rows)}" if len(held.rows) > _SHOWN else ""
            shown = msgspec.structs.replace(held, rows=held.rows[:_SHOWN])
            tones = tuple(Mark(_choose_tone(row[2])) for row in shown.rows)
            yield Grid(shown, f"Held or missed{more}", 32, 100, tones, marked=2)


_HEADERS = ("good held", "95% interval", "bad held", "issues caught", "stated")
_WORDS = {KnownQuality.GOOD: "a false hold", KnownQuality.BAD: "held", KnownQuality.OPEN: "held, nobody has said"}


def _choose_tone(label: str) -> Tone:
    return Tone.BAD if label == "missed" else Tone.UNSURE if label.startswith("a false hold") else Tone.PLAIN


def _batch_cells(batch: ReplayedBatch) -> tuple[str, ...]:
    label = "missed" if not batch.is_held else _WORDS[batch.quality] + (", early" if batch.early else "")
    more = f" (and {len(batch.causes) - 1} more)" if len(batch.causes) > 1 else ""
    return batch.partition, batch.decision or "", label, (batch.causes[0] if batch.causes else "") + more


def _batch_to_dict(batch: ReplayedBatch) -> dict[str, Any]:
    return {
        "partition": batch.partition,
        "revision": batch.number,
        "decision": batch.decision,
        "standing": batch.quality.value,
        "early": batch.early,
        "by": list(batch.by),
        "causes": list(batch.causes),
    }
