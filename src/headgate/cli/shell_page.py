"""The page of a verdict for the command line, with commands that can be copied to a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING

from headgate.cli.options import CONFIG

if TYPE_CHECKING:
    from headgate.cli.context import CommandContext
    from headgate.display.page import Page
    from headgate.gate.batch_verdict import BatchVerdict

_VERB = re.compile(r"^headgate [a-z]+")


def make_shell_page(context: CommandContext, verdict: BatchVerdict, commands: bool = True) -> Page:
    """The explanation of a verdict. Its commands name the configuration if that is not headgate.yml.

    `commands=False` leaves the commands out.
    """
    from msgspec.structs import replace

    from headgate.display.blocks import Commands

    page = verdict.page("shell")
    if not commands:
        return replace(page, blocks=tuple(block for block in page.blocks if not isinstance(block, Commands)))
    if context.config == CONFIG:
        return page
    config = f" --config {shlex.quote(context.config)}"
    blocks = [
        replace(
            block, items=tuple(replace(each, code=_VERB.sub(_insert_option(config), each.code)) for each in block.items)
        )
        if isinstance(block, Commands)
        else block
        for block in page.blocks
    ]
    return replace(page, blocks=tuple(blocks))


def _insert_option(option: str) -> Callable[[re.Match[str]], str]:
    """A substitution that puts the option right after the verb: what follows may stand behind a `--`."""
    return lambda match: match.group() + option
