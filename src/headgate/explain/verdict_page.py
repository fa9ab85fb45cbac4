"""Writes the page of a verdict for the person on call: what was done, the causes, what changed, what to do.

Tested by `tests/gate/test_batch_verdict.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from headgate.display.blocks import Block, Command, Commands, Fact, Facts, Grid, Mark, Point, Points, Tone
from headgate.display.numbers import format_number
from headgate.display.page import Page
from headgate.display.table import Table
from headgate.evaluate.verification import TONES
from headgate.explain.batches_alike import find_batches_alike
from headgate.explain.cause import Cause
from headgate.explain.causes import MAX_CAUSES
from headgate.explain.change_wording import describe_change, is_beside_past
from headgate.explain.drift_wording import describe_drift
from headgate.explain.level_wording import describe_duration, describe_held
from headgate.explain.next_steps import Language, python_commands, shell_commands
from headgate.explain.subject import Subject
from headgate.explain.wording import CauseKind, describe, format_segment
from headgate.learn.history.coarse_bands import COARSE_NOTE
from headgate.learn.history.forecast import MIN_RUNS
from headgate.learn.history.program import format_rarity
from headgate.learn.learned import Learner
from headgate.learn.rarity_limit import find_working_budget
from headgate.learn.surprises import find_excused
from headgate.values.account import Account, Action, Mode
from headgate.values.errors import MisuseError
from headgate.values.expectation import GRAVEST, Judgement, Source, Status
from headgate.values.key import MetricKey
from headgate.values.rarity_memory import RarityMemory
from headgate.values.run import BY_GATE, Decision

MAX_OTHER_FAILURES = 3  # failed expectations of a cause that are shown beside the first
_ACTION_WORDS = {Action.PUBLISH: "published", Action.HOLD: "held"}
_MAX_ROWS = 200  # judgements that a notebook cell shows


def write_headline(verdict: Subject) -> str:
    """One sentence: dataset, batch, verdict, what was done."""
    name, done = f"{verdict.dataset} {verdict.partition}", _ACTION_WORDS[verdict.action]
    count = len(verdict.causes)
    decided = find_human_decision(verdict)
    if decided is not None:
        return f"{name} was {decided.value} by a person."
    if verdict.decision is Decision.WITHDRAWN:
        done = "passed, but was not published" if verdict.passed else "did not pass"
        number = verdict.revision.number
        return f"{name} {done}: its staged input is gone, or was replaced. Revision {number} was withdrawn."
    if verdict.status is Status.ERROR:
        return f"{name} could not be judged in full and was {done}."
    if count:
        return f"{name} failed and was {done}: {_describe_wrong(verdict)}{_describe_repetition(verdict)}."
    if verdict.status is Status.SKIP:
        return f"nothing could be judged of {name}, {'so' if verdict.action is Action.HOLD else 'yet'} it was {done}."
    return f"{name} passed and was {done}."


def _describe_wrong(verdict: Subject) -> str:
    """What happened, if a fault explains the first cause; else how many things are wrong."""
    first, count = verdict.causes[0], len(verdict.causes)
    if first.diagnosis is None:
        return "one thing is wrong" if count == 1 else f"{count} things are wrong"
    more = count - 1
    others = "" if not more else "; one more thing is wrong" if more == 1 else f"; {more} more things are wrong"
    return f"{first.diagnosis.sentence}{others}"


def _describe_repetition(verdict: Subject) -> str:
    """For how long all causes have been there; empty if one of them is new."""
    count = 1 + min(len(cause.held_before) for cause in verdict.causes)
    return f", {describe_duration(count, verdict.account.held.step)}" if count > 1 else ""


def find_human_decision(verdict: Subject) -> Decision | None:
    return None if verdict.decision is None or verdict.decision in BY_GATE else verdict.decision


def choose_tone(verdict: Subject) -> Tone:
    """Good, bad, or unsure: an error is not a failure, and what a person lets through as it is does not become good."""
    match find_human_decision(verdict):
        case None if verdict.decision is Decision.WITHDRAWN:
            return Tone.UNSURE
        case None:
            return TONES[verdict.status]
        case Decision.ACCEPTED:
            return Tone.GOOD
        case Decision.RELEASED:
            return Tone.UNSURE
        case _:
            return Tone.BAD


def write_page(verdict: Subject, commands: Language = "python") -> Page:
    """The whole story, with commands of Python or of the shell."""
    if commands not in ("python", "shell"):
        raise MisuseError(f"there are no commands of {commands!r}.", hint='Write commands="python" or "shell".')
    decided = verdict.decision if verdict.decision is Decision.WITHDRAWN else find_human_decision(verdict)
    return Page(
        write_headline(verdict),
        choose_tone(verdict),
        (decided or verdict.status).value.upper(),
        tuple(_write_blocks(verdict, commands)),
    )


def _write_blocks(verdict: Subject, commands: Language) -> Iterator[Block]:
    points = [
        Point(each.title, tuple(describe_details(verdict, each)), f"{number}.")
        for number, each in enumerate(verdict.causes[:MAX_CAUSES], 1)
    ]
    more = len(verdict.causes) - MAX_CAUSES
    if points:
        where = ": verdict.causes" if commands == "python" else ""
        yield Points(tuple(points), f"... and {more} more{where}" if more > 0 else "")
    warnings = [Point(each.title, mark="warning:", tone=Tone.UNSURE) for each in verdict.warnings[:MAX_CAUSES]]
    if warnings:
        yield Points(tuple(warnings))
    yield Facts(tuple(_write_facts(verdict)))
    if needs_action(verdict):
        asked = python_steps(verdict) if commands == "python" else shell_steps(verdict)[1:]  # this is the explanation
        yield Commands(asked, shell=commands == "shell")
    yield fold_judgements(verdict)


def _write_facts(verdict: Subject) -> Iterator[Fact]:
    if verdict.account.repaired:
        yield Fact("Repaired", "; ".join(verdict.account.repaired))
    if verdict.changes and verdict.causes:
        yield Fact("What changed", "; ".join(verdict.changes))
    if verdict.account.drifts:
        yield Fact("Drift", "; ".join(map(describe_drift, verdict.account.drifts)))
    if excused := find_excused(verdict.judgements):
        yield Fact("Accepted before", _describe_excused(excused))
    yield Fact("Budget", _describe_budget(verdict))
    learned = "; ".join(f"{name}: {what}" for name, what in verdict.account.learners.items())
    why = "the batch could not be read" if verdict.revision.unread else "only what was declared is judged"
    yield Fact("Learned", learned or f"nothing: {why}")
    if verdict.account.scope:
        yield Fact("Set", verdict.account.scope)
    if verdict.account.mutes:
        yield Fact("Muted", "; ".join(each.describe() for each in verdict.account.mutes))
    if verdict.owner:
        yield Fact("Owner", verdict.owner)


def _describe_excused(excused: Sequence[Judgement]) -> str:
    """What would have failed but for a batch that was accepted, in the words of the first judgement."""
    more = f"; and {len(excused) - 1} more" if len(excused) > 1 else ""
    return f"{excused[0].reason}{more}"


def describe_learning(account: Account) -> str:
    """How many runs of those that ranges take were there; empty if there were enough, or nothing is learned."""
    if Learner.HISTORY not in account.learners or account.runs >= MIN_RUNS:
        return ""
    return f"learning, {account.runs} of {MIN_RUNS} runs"


def _describe_budget(verdict: Subject) -> str:
    account, recent = verdict.account, verdict.recent
    held = f"; {recent.held} of the last {recent.runs} runs were held" if recent.runs else ""
    mode = " It observes, and holds nothing." if account.mode is Mode.OBSERVE else ""
    spent = f"what was learned spends {account.spent:.2%}" if account.spent else "nothing of that is spent yet"
    return f"{account.budget:.2%} of good batches may be held, {spent}{held}{describe_working(account)}.{mode}"


def summarize_budget(budget: float, memory: RarityMemory, source: str = "") -> str:
    """The budget that is stated, how many good batches were held so far, and the budget that limits are found with."""
    stated = f"{budget:.2%} of good batches may be held{f' ({source})' if source else ''}"
    alarms, runs = round(memory.alarms), round(memory.runs)
    if not runs:
        return stated
    working = find_working_budget(budget, memory)
    lowered = f", which is more, so limits are those of {working:.2%}" if working < budget else ""
    return f"{stated}; of {runs} that learned limits have judged, {alarms} held and accepted{lowered}"


def describe_working(account: Account) -> str:
    """Why limits are higher than the budget says, if they are."""
    if account.working_budget is None:
        return ""
    alarms, runs = round(account.rarities.alarms), round(account.rarities.runs)
    return (
        f"; {alarms} of {runs} good ones were held, which is more, so limits are those of {account.working_budget:.2%}"
    )


# --- what to do


def needs_action(verdict: Subject) -> bool:
    """Whether there is anything to do about the batch: it is held, or was let through though it did not pass."""
    if verdict.decision in (Decision.SPLIT, Decision.DISCARDED, Decision.WITHDRAWN):  # it is no longer there as a whole
        return False
    observed = verdict.decision in (None, Decision.OBSERVED) and not verdict.passed
    return verdict.action is Action.HOLD or observed


def python_steps(verdict: Subject) -> tuple[Command, ...]:
    if not needs_action(verdict):
        return ()
    revision = verdict.revision
    together = find_batches_alike(verdict)
    return python_commands(verdict.partition, revision.number, revision.unread, together, verdict.repairs)


def shell_steps(verdict: Subject) -> tuple[Command, ...]:
    if not needs_action(verdict):
        return ()
    rows, revision = any(map(verdict.count_failing_rows, verdict.failures)), verdict.revision
    return shell_commands(
        verdict.dataset,
        verdict.partition,
        revision.number,
        rows=rows,
        unread=revision.unread,
        together=find_batches_alike(verdict),
        repairs=verdict.repairs,
    )


# --- the causes, and all judgements


def describe_details(verdict: Subject, cause: Cause) -> Iterator[str]:
    """What is known of a cause beyond its title."""
    lead = cause.lead
    if cause.held_before:
        yield describe_held(cause.held_before)
    others = list_other_judgements(cause)
    if changes := list_further_changes(cause, others[:MAX_OTHER_FAILURES]):
        yield "; ".join(changes)
    origin = "; ".join(
        filter(
            None,
            [
                describe_origin(verdict, lead),
                _describe_rarity(cause),
                describe_failing_rows(verdict, lead, verdict.hides_values),
            ],
        )
    )
    if origin:
        yield origin
    if others:
        more = f" and {len(others) - MAX_OTHER_FAILURES} more" if len(others) > MAX_OTHER_FAILURES else ""
        words = (describe_in_segment(each, verdict.hides_values, cause) for each in others[:MAX_OTHER_FAILURES])
        yield f"broken: {'; '.join(words)}{more}"


def list_other_judgements(cause: Cause, beside: Collection[Judgement] = ()) -> list[Judgement]:
    """What else the cause broke, beside its title and what is shown anyway."""
    if cause.kind is CauseKind.SHAPE:
        return []
    return [each for each in cause.judgements if not _is_in_title(cause, each) and each not in beside]


def list_further_changes(cause: Cause, shown: Iterable[Judgement] = ()) -> list[str]:
    """How the columns of a cause changed, without what the title says and what is shown with the judgements."""
    metrics = {cause.title_metric, *(str(each.expectation.metric) for each in shown)} & cause.metric_changes.keys()
    said = tuple(describe_change(MetricKey.parse(each), cause.metric_changes[each]) for each in metrics)
    was_title = cause.found[:1] if cause.diagnosis is not None else ()
    others = cause.found[len(was_title) :]
    return [*was_title, *(each for each in others if each not in cause.title and not each.endswith(said))]


def describe_in_segment(each: Judgement, hidden: bool, cause: Cause) -> str:
    """A failed expectation of a cause, with the part of the batch that it was judged on."""
    words = describe(each, cause.metric_changes, with_factor=cause.factor is None)
    return f"{format_segment(each.segment, hidden)}: {words}" if each.segment else words


def describe_failing_rows(verdict: Subject, each: Judgement, hidden: bool) -> str:
    """How many rows fail, and in which segment; empty where that is not known."""
    rows = verdict.count_failing_rows(each)
    return f"{rows} of {format_segment(each.segment, hidden)}" if rows and each.segment else rows


def _is_in_title(cause: Cause, each: Judgement) -> bool:
    if each.segment:  # the title counts them and names none
        return False
    if describe(each, cause.metric_changes) in cause.title:
        return True
    is_rows = cause.kind is CauseKind.VOLUME and each.expectation.metric.name == "size"
    return is_rows or (cause.kind is not CauseKind.DECLARED and str(each.expectation.metric) == cause.title_metric)


def describe_origin(verdict: Subject, judgement: Judgement) -> str:
    """Where the range of a learned expectation comes from; empty if its past range is shown and says it."""
    note = verdict.account.notes.get(str(judgement.expectation.metric), "")
    if not note or judgement.expectation.source is Source.DECLARED:
        return ""
    if note.startswith(COARSE_NOTE):
        return note
    is_level = note[0].isdigit() or note.startswith("equal in ")
    if is_level and is_beside_past(judgement, verdict.account.metric_changes):
        return ""
    if note.startswith("in "):
        return f"it was so {note}"
    if note.startswith("by "):
        return note
    return f"learned from {note}" if note[0].isdigit() else f"it was {note}" if " in " in note else f"by its {note}"


def _describe_rarity(cause: Cause) -> str:
    if cause.rarity in ("", "declared", "no accepted run did this"):
        return cause.rarity
    return f"a false alarm {cause.rarity}"


def tabulate_judgements(judgements: tuple[Judgement, ...], most: int | None = None) -> Table:
    """All judgements, or the first `most`: errors first, then failures, then the rest."""
    rows = tuple(
        (
            each.status.value,
            each.expectation.source.value,
            each.expectation.subject,
            "" if each.value is None else format_number(each.value),
            str(each.expectation.predicate),
            format_rarity(each.expectation.false_alarm),
        )
        for each in sorted(judgements, key=lambda each: GRAVEST.index(each.status))[:most]
    )
    return Table(("status", "from", "metric", "value", "expected", "false alarm"), rows, numeric=frozenset({3}))


def fold_judgements(verdict: Subject) -> Grid:
    """The first of all judgements, for a notebook."""
    count = len(verdict.judgements)
    words = f"{count:,} expectation{'s' * (count != 1)} judged"
    if count > _MAX_ROWS:
        words += f"; the first {_MAX_ROWS}, verdict.table() has them all"
    kept = tabulate_judgements(verdict.judgements, _MAX_ROWS)
    return Grid(kept, marks=tuple(Mark(TONES[Status(row[0])]) for row in kept.rows), folded=words)
