"""`headgate accept`, `reject`, `release` and `discard` are one act: a person's word on a batch."""

from __future__ import annotations

import getpass
from typing import TYPE_CHECKING, Annotated

import typer

from headgate.cli.output import Answer

if TYPE_CHECKING:
    from headgate.cli.call import Call
    from headgate.values.run import Ruling

Note = Annotated[
    str, typer.Option("--note", "-m", metavar="TEXT", help="Why; it is kept in the history.", show_default=False)
]
Who = Annotated[
    str | None,
    typer.Option(
        "--who", metavar="NAME", help="Who says so; else the name you are logged in with.", show_default=False
    ),
]

_THEN = {
    "accept": "It teaches what is normal, and is published.",
    "reject": "It teaches nothing. Repair the batch, then: headgate run {dataset} --partition {partition}",
    "release": "It is published as it is, and teaches nothing.",
    "discard": "It is dropped, and teaches nothing.",
}


def rule(call: Call, act: str, dataset: str, partition: str, note: str, who: str | None, number: int | None) -> Answer:
    """Record what a person says of a batch, and carry it out."""
    import shlex

    from headgate.cli.runs import verdict_of

    chosen = call.project().dataset(dataset)
    number = verdict_of(chosen, partition, number).revision.number
    ruling = getattr(chosen.gate, act)(partition, note=note, who=who or login(), number=number)
    then = _THEN[act].format(dataset=shlex.quote(dataset), partition=shlex.quote(partition))
    said = f" ({ruling.note})" if ruling.note else ""
    if not call.quiet:
        call.say(f"{dataset} {partition} was {ruling.decision.value} by {ruling.who}{said}.", then)
    return Answer(ruling=told(ruling))


def told(ruling: Ruling) -> dict[str, object]:
    """A ruling as data."""
    return {
        "dataset": ruling.dataset,
        "partition": ruling.partition,
        "revision": ruling.number,
        "decision": ruling.decision.value,
        "who": ruling.who,
        "note": ruling.note,
        "at": ruling.at,
    }


def login() -> str:
    """The name of the person at the keyboard; a container may have none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
