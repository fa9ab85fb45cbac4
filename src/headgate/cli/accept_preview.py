"""Shows what accepting batches does to the next ranges, and asks whether to do it.

Tested by `tests/cli/commands/test_rulings.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headgate.cli.context import CommandContext

if TYPE_CHECKING:
    from headgate.gate.gate import Gate
    from headgate.values.range_change import RangeChange


def show_preview(
    context: CommandContext, gate: Gate, partition: str, to: str | None, number: int | None
) -> tuple[RangeChange, ...] | None:
    """Print what accepting does to the ranges of the next batch, and return it; None if nobody reads it.

    It is also None if runs that are learned from cannot be read: a batch can be accepted all the same.

    Args:
        context: The call.
        gate: The gate of the dataset.
        partition: Which batch; or the first partition of a range.
        to: The last partition of the range; None for one batch.
        number: Which revision of the partition.
    """
    from headgate.explain.range_wording import describe_range_changes
    from headgate.values.errors import StoredDataError

    if context.quiet and context.output_json is None:
        return None
    try:
        changes = gate.preview_accept(partition, to=to, number=number)
    except StoredDataError as error:
        context.echo_err(f"What it does to the next ranges cannot be told: {error}")
        return None
    if not context.quiet:
        context.echo(*describe_range_changes(changes))
    return changes


def confirm_accept(context: CommandContext, *, is_range: bool) -> bool:
    """Whether to go on: a person at a terminal is asked, unless they read no text."""
    if context.is_silent or not context.has_terminal_input:
        return True
    if context.ask(f"Accept {'them' if is_range else 'it'}?"):
        return True
    context.echo_err("Nothing was accepted: no decision is recorded.")
    return False


def preview_to_list(changes: Sequence[RangeChange]) -> list[dict[str, object]]:
    """A preview as it is in the JSON document."""
    return [
        {
            "metric": str(each.metric),
            "before": None if each.before is None else str(each.before),
            "after": None if each.after is None else str(each.after),
            "accepted_values": each.accepted_values,
        }
        for each in changes
    ]
