"""What `headgate run` prints: a line for what passed, the story of what did not, and the sum of it all."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from headgate.cli.verdict_story import story

if TYPE_CHECKING:
    from headgate.cli.context import Call
    from headgate.cli.judge_batches import Judged
    from headgate.cli.report_files import Written
    from headgate.project.project import Dataset


def tell(call: Call, each: Judged) -> None:
    """One batch: a line if all is well, else everything that a person needs."""
    if each.verdict is None:
        assert each.trouble is not None
        from headgate.cli.command import tell as tell_error

        call.note(f"✗ {f'{each.dataset.name} {each.partition}'.strip()} was not judged:", "red")
        tell_error(call, each.trouble)
    elif each.verdict.passed and each.verdict.action == "publish":
        if not call.quiet or each.verdict.warnings:
            call.say(_line(each))
            for cause in each.verdict.warnings:
                call.say(f"    warning: {cause.title}")
        if call.verbose:
            call.say(story(call, each.verdict))
    else:
        call.say("")
        call.say(story(call, each.verdict, commands=each.alone))  # of many, the last lines say how to see them
        call.say("")
        _tell_why(call, each)
    if each.undelivered:
        call.note(f"warning: the alert on {each.dataset.name} {each.partition} was not delivered: {each.undelivered}")


def _tell_why(call: Call, each: Judged) -> None:
    """Where to see why a batch could not be read: the message may quote values of the data, so it is not told here."""
    trouble = None if each.verdict is None else each.verdict.trouble
    if trouble is not None:
        look = f"headgate profile {shlex.quote(each.dataset.name)} --partition {shlex.quote(each.partition)}"
        hint = getattr(trouble, "hint", "")
        call.note(f"{hint} What was said may quote values of the data; {look} shows it.".strip())


def _line(each: Judged) -> object:
    from rich.text import Text

    from headgate.cli.context import clean

    assert each.verdict is not None
    rows = "" if each.rows is None else f"{each.rows:>10,} rows"
    warned = f", {len(each.verdict.warnings)} warned" if each.verdict.warnings else ""
    words = (
        f"{each.dataset.name} {each.partition:<{each.width}}  passed{warned}, published{rows}  {each.seconds:6.2f} s"
    )
    return Text.assemble(("✓ ", "green"), clean(words))


def counts(found: Sequence[Judged]) -> dict[str, int]:
    """How many batches were judged, published, held, and could not be judged."""
    done = Counter(each.verdict.action.value for each in found if each.verdict is not None)
    return {
        "batches": len(found),
        "published": done["publish"],
        "held": done["hold"],
        "not_judged": sum(each.verdict is None for each in found),
    }


def conclude(call: Call, found: Sequence[Judged], idle: Sequence[Dataset], written: Written) -> list[str]:
    """The last lines: how many, which are held, where the pages are. Gives the datasets whose source has no batch."""
    there = {dataset.name: len(dataset.partitions()) for dataset in idle}
    for dataset in idle:
        if not there[dataset.name]:
            source = dataset.settings.source
            hint = " Paths in headgate.yml are relative to its folder." if source.path else ""
            call.note(f"error: {dataset.name} has no batch: nothing is at {source.path or source.table}.{hint}", "red")
    if not call.quiet:
        call.say(
            *(f"{name}: nothing waits; all {count:,} batches are judged." for name, count in there.items() if count)
        )
        call.say(*_last(found, written))
    return [name for name, count in there.items() if not count]


def _last(found: Sequence[Judged], written: Written) -> Iterator[str]:
    if found:
        yield _sum(found)
    held = [each for each in found if each.verdict is not None and each.verdict.action == "hold"]
    if held and len(found) > 1:
        for each in held:
            yield f"  held: headgate explain {shlex.quote(each.dataset.name)} {shlex.quote(each.partition)}"
    if written.start is not None:
        yield f"Report: {written.start}"


def _sum(found: Sequence[Judged]) -> str:
    count = counts(found)
    parts = [f"{count['published']:,} published", f"{count['held']:,} held"]
    parts += [f"{count['not_judged']:,} not judged"] if count["not_judged"] else []
    datasets = len({each.dataset.name for each in found})
    of = f" of {datasets} datasets" if datasets > 1 else ""
    total = f"{count['batches']:,} batch{'es' * (count['batches'] != 1)}{of}"
    return f"{total}: {', '.join(parts)}, in {sum(each.seconds for each in found):,.1f} s."
