"""What a person can do about a batch, as commands to copy: of Python, and of the shell."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Literal, TypeAlias

from headgate.display.blocks import Command

Language: TypeAlias = Literal["python", "shell"]

_ACCEPT = "expected: teaches, and is published"
_AGAIN = "judge it again, when it can be read"
_ACCEPT_ALL = "the new normal: {} teach, and are published"
_REJECT_ALL = "wrong: {} are to be repaired"
_RELEASE = "publish it as it is, learn nothing from it"


def python_commands(
    partition: str, number: int, unread: bool = False, together: Sequence[str] = (), repairs: Sequence[str] = ()
) -> tuple[Command, ...]:
    """The gate's methods for revision `number` of a batch; one that could not be read cannot be accepted.

    >>> print(python_commands("2026-11-14", 1)[1].whole)
    gate.release('2026-11-14', number=1, note="...")
    >>> print(python_commands("2026-11-14", 1, together=("2026-11-12", "2026-11-14"))[0].whole)
    gate.accept('2026-11-12', to='2026-11-14', note="why it is right")

    Args:
        partition: The name of the batch.
        number: The revision that the person reads about.
        unread: Whether the batch could not be read.
        together: The held batches that can be decided about together, in their order; this one is the last.
        repairs: What repairing the batch does, if that is known.
    """
    name = repr(partition)
    first = Command(f"gate.accept({name}, number={number},", 'note="why it is right")', _ACCEPT)
    return (
        *(_python_range_commands(together) if together else ()),
        Command(f"gate.judge(df, partition={name})", note=_AGAIN) if unread else first,
        Command(f"gate.release({name}, number={number},", 'note="...")', _RELEASE),
        *([Command("verdict.repair(df)", note=_describe_repair(repairs))] if repairs else []),
        Command(f"gate.reject({name}, number={number},", 'note="...")', f"wrong: repair it and judge {name} again"),
    )


def _python_range_commands(together: Sequence[str]) -> tuple[Command, ...]:
    ends = f"{together[0]!r}, to={together[-1]!r},"
    return (
        Command(f"gate.accept({ends}", 'note="why it is right")', _ACCEPT_ALL.format(_count_all(together))),
        Command(f"gate.reject({ends}", 'note="...")', _REJECT_ALL.format(_count_all(together))),
    )


def shell_commands(
    dataset: str,
    partition: str,
    number: int,
    *,
    rows: bool = True,
    unread: bool = False,
    together: Sequence[str] = (),
    repairs: Sequence[str] = (),
) -> tuple[Command, ...]:
    """The same for a shell, and how to look closer.

    >>> for each in shell_commands("orders", "2026-11-14", 2):
    ...     print(each.whole)
    headgate explain orders 2026-11-14
    headgate rows orders 2026-11-14
    headgate accept orders 2026-11-14 --revision 2 --note "why it is right"
    headgate release orders 2026-11-14 --revision 2 --note "..."
    headgate reject orders 2026-11-14 --revision 2 --note "..."
    headgate run orders --partition 2026-11-14

    Args:
        dataset: The name of the dataset.
        partition: The name of the batch.
        number: The revision that the person reads about.
        rows: Whether there are failing rows to list.
        unread: Whether the batch could not be read.
        together: The held batches that can be decided about together, in their order; this one is the last.
        repairs: What repairing the batch does, if that is known.
    """
    batch = (dataset, partition)
    again = f"--partition {quote_for_shell(partition)}"
    look = [_make_command("explain", batch, note="what is wrong with it")]
    release = _make_command("release", batch, f'--revision {number} --note "..."', _RELEASE)
    if unread:
        return (
            *look,
            _make_command("profile", (dataset,), again, "read it now, and see what is wrong"),
            _make_command("run", (dataset,), again, _AGAIN),
            release,
        )
    if rows:
        look.append(_make_command("rows", batch, note="the rows that break a check"))
    return (
        *look,
        *(shell_range_commands(dataset, together) if together else ()),
        _make_command("accept", batch, f'--revision {number} --note "why it is right"', _ACCEPT),
        release,
        *([_make_command("repair", batch, note=_describe_repair(repairs))] if repairs else []),
        _make_command("reject", batch, f'--revision {number} --note "..."', "wrong: it is to be repaired"),
        _make_command("run", (dataset,), again, "judge it again, when it is repaired"),
    )


def shell_range_commands(dataset: str, together: Sequence[str]) -> tuple[Command, Command]:
    """The commands that accept and reject held batches together."""
    batches = (dataset, f"{together[0]}..{together[-1]}")
    return (
        _make_command("accept", batches, '--note "why it is right"', _ACCEPT_ALL.format(_count_all(together))),
        _make_command("reject", batches, '--note "..."', _REJECT_ALL.format(_count_all(together))),
    )


def _describe_repair(repairs: Sequence[str]) -> str:
    more = f", and {len(repairs) - 1} more" if len(repairs) > 1 else ""
    return f"wrong: {repairs[0]}{more}; judge the result"


def _count_all(batches: Sequence[str]) -> str:
    return "both" if len(batches) == 2 else f"all {len(batches)}"


def _make_command(verb: str, names: Sequence[str], option: str = "", note: str = "") -> Command:
    words = " ".join(map(quote_for_shell, names))
    if any(each.startswith("-") for each in names):  # it would be taken for an option
        return Command(f"headgate {verb}", f"{option} -- {words}".lstrip(), note)
    return Command(f"headgate {verb} {words}", option, note)


def quote_for_shell(name: str) -> str:
    """One word for a shell; characters that move the cursor are spelled, so that what is copied is what is seen.

    >>> print(quote_for_shell("orders"), quote_for_shell("it's"), quote_for_shell("a\\x1bb"))
    orders 'it'"'"'s' $'a\\x1bb'
    """
    if name.isprintable():
        return shlex.quote(name)
    spelled = (char if char.isprintable() and char not in "'\\\\" else _escape_character(char) for char in name)
    return f"$'{''.join(spelled)}'"


def _escape_character(char: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))
