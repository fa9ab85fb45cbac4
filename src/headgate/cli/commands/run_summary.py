"""What `headgate run` prints: a line for a batch that passed, the explanation of one that did not, and the totals.

Tested by `tests/cli/commands/test_run.py`.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from headgate.cli.shell_page import make_shell_page

if TYPE_CHECKING:
    from headgate.cli.context import CommandContext
    from headgate.cli.judge_batches import BatchResult
    from headgate.cli.report_files import WrittenPages
    from headgate.project.dataset import Dataset


def print_batch(context: CommandContext, result: BatchResult) -> None:
    """Print one batch: a line if it passed, else its explanation."""
    if result.verdict is None:
        assert result.error is not None
        from headgate.cli.command import report_error

        context.echo_err(f"✗ {f'{result.dataset.name} {result.partition}'.strip()} was not judged:", "red")
        report_error(context, result.error)
    elif result.verdict.passed and result.verdict.action == "publish":
        if not context.quiet or result.verdict.warnings:
            context.echo(_format_line(result))
            for cause in result.verdict.warnings:
                context.echo(f"    warning: {cause.title}")
        if context.verbose:
            context.echo(make_shell_page(context, result.verdict))
    else:
        context.echo("")
        # In a run of several batches, the last lines of the run name the commands instead.
        context.echo(make_shell_page(context, result.verdict, commands=result.alone))
        context.echo("")
        _print_read_hint(context, result)
    if result.alert_failure:
        context.echo_err(
            f"warning: the alert on {result.dataset.name} {result.partition} was not delivered: {result.alert_failure}"
        )


def _print_read_hint(context: CommandContext, result: BatchResult) -> None:
    """Print which command shows why a batch could not be read. The error itself may quote values of the data."""
    error = None if result.verdict is None else result.verdict.read_error
    if error is not None:
        command = f"headgate profile {shlex.quote(result.dataset.name)} --partition {shlex.quote(result.partition)}"
        hint = getattr(error, "hint", "")
        context.echo_err(f"{hint} What was said may quote values of the data; {command} shows it.".strip())


def _format_line(result: BatchResult) -> object:
    from rich.text import Text

    from headgate.display.text import escape_line

    assert result.verdict is not None
    rows = "" if result.row_count is None else f"{result.row_count:>10,} rows"
    warned = f", {len(result.verdict.warnings)} warned" if result.verdict.warnings else ""
    name = f"{result.dataset.name} {result.partition:<{result.width}}"
    done = "was judged before, published now" if result.judged_before else f"passed{warned}, published"
    line = f"{name}  {done}{rows}  {result.seconds:6.2f} s"
    learning = result.verdict.learning
    return Text.assemble(("✓ ", "green"), escape_line(f"{line}  {learning}" if learning else line))


def count_results(results: Sequence[BatchResult]) -> dict[str, int]:
    """The numbers of batches: all, published, held, and not judged."""
    actions = Counter(each.verdict.action.value for each in results if each.verdict is not None)
    return {
        "batches": len(results),
        "published": actions["publish"],
        "held": actions["hold"],
        "not_judged": sum(each.verdict is None for each in results),
    }


def print_summary(
    context: CommandContext, results: Sequence[BatchResult], idle: Sequence[Dataset], written: WrittenPages
) -> list[str]:
    """Print the last lines of a run: totals, held batches, report. Returns the datasets that have no batch at all."""
    counts = {dataset.name: len(dataset.partitions()) for dataset in idle}
    # staging is empty when all is judged; but a place that is not there, or never had a batch, is more likely wrong
    quiet = [each for each in idle if counts[each.name] or each.is_judged_elsewhere or each.is_quiet]
    empty = [each for each in idle if each not in quiet]
    for dataset in empty:
        context.echo_err(f"error: {dataset.name} has no batch: {_explain_no_batch(dataset)}", "red")
    if not context.quiet:
        for dataset in idle:
            if dataset.is_judged_elsewhere:
                context.echo(f"{dataset.name}: is judged elsewhere.")
            elif dataset not in empty:
                count = counts[dataset.name]
                judged = f"; all {count:,} batches are judged" if count else ""
                context.echo(f"{dataset.name}: nothing waits{judged}.")
        context.echo(*_summary_lines(results, written))
    return [each.name for each in empty]


def _explain_no_batch(dataset: Dataset) -> str:
    source = dataset.settings.source
    if dataset.publishes_table:
        name = shlex.quote(dataset.name)
        return f"nothing is staged in {source.table}. headgate learn {name} judges what it has already."
    hint = " Paths in headgate.yml are relative to its folder." if source.path else ""
    return f"nothing is at {source.path or source.table}.{hint}"


def _summary_lines(results: Sequence[BatchResult], written: WrittenPages) -> Iterator[str]:
    if results:
        yield format_total(results)
    if len(results) > 1:
        yield from _held_lines(results)
    if written.start_page is not None:
        yield f"Report: {written.start_page}"


def _held_lines(results: Sequence[BatchResult]) -> Iterator[str]:
    """Which command explains each held batch. Of several that failed for the same causes, the last speaks for all."""
    from headgate.explain.batches_alike import group_batches_alike

    held = [each.verdict for each in results if each.verdict is not None and each.verdict.action == "hold"]
    for dataset in dict.fromkeys(each.dataset for each in held):
        verdicts = [each for each in held if each.dataset == dataset]
        groups = {group[-1]: group for group in group_batches_alike(verdicts)}
        spoken_for = {partition for group in groups.values() for partition in group[:-1]}
        for partition in (each.partition for each in verdicts if each.partition not in spoken_for):
            count = f", {len(groups[partition])} batches for the same reason" if partition in groups else ""
            yield f"  held{count}: headgate explain {shlex.quote(dataset)} {shlex.quote(partition)}"


def format_total(results: Sequence[BatchResult]) -> str:
    """The numbers of batches and the time in one line."""
    count = count_results(results)
    parts = [f"{count['published']:,} published", f"{count['held']:,} held"]
    parts += [f"{count['not_judged']:,} not judged"] if count["not_judged"] else []
    datasets = len({each.dataset.name for each in results})
    of = f" of {datasets} datasets" if datasets > 1 else ""
    total = f"{count['batches']:,} batch{'es' * (count['batches'] != 1)}{of}"
    return f"{total}: {', '.join(parts)}, in {sum(each.seconds for each in results):,.1f} s."
