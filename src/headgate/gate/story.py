"""The story of a verdict as a person needs it at 3am: what was done, the causes, how rare, what changed, what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from headgate.gate.causes import SHOWN, Cause
from headgate.gate.commands import Language, python_commands, shell_commands
from headgate.gate.titles import Sort, told
from headgate.gate.verification import TONES
from headgate.learn.history.program import rarity
from headgate.values.account import Action, Mode
from headgate.values.errors import MisuseError
from headgate.values.expectation import Judgement, Source, Status
from headgate.values.page import Block, Command, Commands, Fact, Facts, Grid, Mark, Page, Point, Points, Tone
from headgate.values.run import Decision
from headgate.values.shown import shown
from headgate.values.table import Table

if TYPE_CHECKING:
    from headgate.gate.batch_verdict import BatchVerdict

ALSO = 3  # broken expectations of a cause that are told beside the first
_DONE = {Action.PUBLISH: "published", Action.HOLD: "held"}
_SHOWN = 200  # judgements that a notebook cell shows


def headline(verdict: BatchVerdict) -> str:
    """One sentence: dataset, batch, verdict, what was done."""
    name, done = f"{verdict.dataset} {verdict.partition}", _DONE[verdict.action]
    count = len(verdict.causes)
    decided = decided_by_a_person(verdict)
    if decided is not None:
        return f"{name} was {decided.value} by a person."
    if verdict.status is Status.ERROR:
        return f"{name} could not be judged in full and was {done}."
    if count:
        wrong = "one thing is wrong" if count == 1 else f"{count} things are wrong"
        return f"{name} failed and was {done}: {wrong}."
    if verdict.status is Status.SKIP:
        return f"nothing could be judged of {name}, so it was {done}."
    return f"{name} passed and was {done}."


def decided_by_a_person(verdict: BatchVerdict) -> Decision | None:
    return None if verdict.decision in (None, Decision.PUBLISHED, Decision.HELD) else verdict.decision


def page_of(verdict: BatchVerdict, commands: Language = "python") -> Page:
    """The whole story, with commands of Python or of the shell."""
    if commands not in ("python", "shell"):
        raise MisuseError(f"there are no commands of {commands!r}.", hint='Write commands="python" or "shell".')
    decided = decided_by_a_person(verdict)
    tone = TONES[verdict.status]
    if decided is not None:
        tone = Tone.GOOD if verdict.action is Action.PUBLISH else Tone.BAD
    return Page(headline(verdict), tone, (decided or verdict.status).value.upper(), tuple(_blocks(verdict, commands)))


def _blocks(verdict: BatchVerdict, commands: Language) -> Iterator[Block]:
    points = [
        Point(each.title, tuple(details(verdict, each)), f"{number}.")
        for number, each in enumerate(verdict.causes[:SHOWN], 1)
    ]
    more = len(verdict.causes) - SHOWN
    if points:
        where = ": verdict.causes" if commands == "python" else ""
        yield Points(tuple(points), f"... and {more} more{where}" if more > 0 else "")
    warnings = [Point(each.title, mark="warning:", tone=Tone.UNSURE) for each in verdict.warnings[:SHOWN]]
    if warnings:
        yield Points(tuple(warnings))
    yield Facts(tuple(_facts(verdict)))
    if verdict.causes and offered(verdict):
        asked = python(verdict) if commands == "python" else shell(verdict)[1:]  # this is the explanation
        yield Commands(asked, shell=commands == "shell")
    yield judged_grid(verdict)


def _facts(verdict: BatchVerdict) -> Iterator[Fact]:
    if verdict.changes and verdict.causes:
        yield Fact("What changed", "; ".join(verdict.changes))
    yield Fact("Budget", _spending(verdict))
    learned = "; ".join(f"{name}: {what}" for name, what in verdict.account.learners.items())
    why = "the batch could not be read" if verdict.revision.unread else "only what was declared is judged"
    yield Fact("Learned", learned or f"nothing: {why}")
    if verdict.owner:
        yield Fact("Owner", verdict.owner)


def _spending(verdict: BatchVerdict) -> str:
    account, lately = verdict.account, verdict.lately
    held = f"; {lately.held} of the last {lately.runs} runs were held" if lately.runs else ""
    mode = " It observes, and holds nothing." if account.mode is Mode.OBSERVE else ""
    spent = f"{account.spent:.2%} of them are spent" if account.spent else "nothing of that is spent yet"
    return f"{account.budget:.2%} of good batches may be held, {spent}{held}.{mode}"


# --- what to do


def offered(verdict: BatchVerdict) -> bool:
    """Whether there is anything to do about the batch."""
    return not (verdict.action is Action.PUBLISH and verdict.account.mode is Mode.GUARD)


def python(verdict: BatchVerdict) -> tuple[Command, ...]:
    return python_commands(verdict.partition, verdict.revision.unread) if offered(verdict) else ()


def shell(verdict: BatchVerdict) -> tuple[Command, ...]:
    rows = any(map(verdict.blamed_rows, verdict.failures))
    return shell_commands(verdict.dataset, verdict.partition, rows, verdict.revision.unread) if offered(verdict) else ()


# --- the causes, and all judgements


def details(verdict: BatchVerdict, cause: Cause) -> Iterator[str]:
    """What is known of a cause beyond its title."""
    lead = cause.lead
    found = [each for each in cause.found if each not in cause.title]
    if found:
        yield "; ".join(found)
    said = "; ".join(filter(None, [origin(verdict, lead), _how_rare(cause), verdict.blamed_rows(lead)]))
    if said:
        yield said
    others = [told(each) for each in cause.judgements if told(each) not in cause.title]
    if others and cause.sort is not Sort.SHAPE:
        more = f" and {len(others) - ALSO} more" if len(others) > ALSO else ""
        yield f"broken: {'; '.join(others[:ALSO])}{more}"


def origin(verdict: BatchVerdict, judgement: Judgement) -> str:
    """Where the range of a learned expectation comes from."""
    note = verdict.account.notes.get(str(judgement.expectation.metric), "")
    if not note or judgement.expectation.source is Source.DECLARED:
        return ""
    if note.startswith("in "):
        return f"it was so {note}"
    return f"learned from {note}" if note[0].isdigit() else f"it was {note}" if " in " in note else f"by its {note}"


def _how_rare(cause: Cause) -> str:
    if cause.rarity in ("", "declared", "no accepted run did this"):
        return cause.rarity
    return f"a false alarm {cause.rarity}"


def table_of(judgements: tuple[Judgement, ...], most: int | None = None) -> Table:
    """All judgements (the first `most`): what could not be told first, then what failed, then the rest."""
    order = (Status.ERROR, Status.FAIL, Status.SKIP, Status.PASS)
    rows = tuple(
        (
            each.status.value,
            each.expectation.source.value,
            each.expectation.subject,
            "" if each.value is None else shown(each.value),
            str(each.expectation.predicate),
            rarity(each.expectation.false_alarm),
        )
        for each in sorted(judgements, key=lambda each: order.index(each.status))[:most]
    )
    return Table(("status", "from", "metric", "value", "expected", "false alarm"), rows, numeric=frozenset({3}))


def judged_grid(verdict: BatchVerdict) -> Grid:
    """The first of all judgements, for a notebook."""
    count = len(verdict.judgements)
    words = f"{count:,} expectation{'s' * (count != 1)} judged"
    if count > _SHOWN:
        words += f"; the first {_SHOWN}, verdict.table() has them all"
    kept = table_of(verdict.judgements, _SHOWN)
    return Grid(kept, marks=tuple(Mark(TONES[Status(row[0])]) for row in kept.rows), folded=words)
