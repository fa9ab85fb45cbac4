"""Writes HTML pages, to the folder `reports:` of the configuration or to a given file.

Tested by `tests/cli/commands/test_run.py` and `tests/cli/commands/test_report.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headgate.cli.failing_rows import examples_of

if TYPE_CHECKING:
    from headgate.cli.context import CommandContext
    from headgate.cli.judge_batches import BatchResult
    from headgate.gate.batch_verdict import BatchVerdict
    from headgate.project.dataset import Dataset
    from headgate.project.project import Project
    from headgate.report.site import Site

FOLDER = "reports"
FEW_DATASETS = 50
"""With at most this many datasets, the page of all is written after every run; with more, after a run of all."""


class WrittenPages:
    """The pages that were written, and whether writing one failed."""

    def __init__(self, context: CommandContext) -> None:
        self.paths: list[Path] = []
        self.has_failed = False
        self._context = context

    @property
    def start_page(self) -> Path | None:
        """The page to open first: the last one written, which links to the others."""
        return self.paths[-1] if self.paths else None

    def add_page(self, what: str, write: Callable[[], Path]) -> None:
        """Write a page. A failure is reported as a warning and changes no verdict."""
        from headgate.cli.command import report_error

        try:
            self.paths.append(write())
        except Exception as error:
            self.has_failed = True
            self._context.echo_err(f"warning: the page of {what} could not be written:", "yellow")
            report_error(self._context, error)


def write_run_pages(
    context: CommandContext,
    project: Project,
    chosen: Sequence[Dataset],
    results: Sequence[BatchResult],
    output: Path | None,
) -> WrittenPages:
    """Write the pages of a run: of batches that did not pass and the newest, of their datasets, and of all."""
    written = WrittenPages(context)
    if output is not None:
        _write_output_page(written, results, output)
    folder = project.reports
    if folder is not None and results:
        from headgate.report.site import Site

        site = Site(folder)
        for dataset in chosen:
            _write_dataset_pages(written, site, dataset, [each for each in results if each.dataset is dataset])
        if len(chosen) == len(project.names) or len(project.names) <= FEW_DATASETS:
            written.add_page(
                "all datasets", lambda: site.write_fleet([project.dataset(name).gate for name in project.names])
            )
    return written


def _write_dataset_pages(written: WrittenPages, site: Site, dataset: Dataset, results: Sequence[BatchResult]) -> None:
    verdicts = [each.verdict for each in results if each.verdict is not None]
    for verdict in verdicts:
        if not verdict.passed or verdict.warnings or verdict is verdicts[-1]:
            write_batch_page(written, site, dataset, verdict)
    if verdicts:
        written.add_page(dataset.name, lambda: site.write_dataset(dataset.gate))


def write_batch_page(written: WrittenPages, site: Site, dataset: Dataset, verdict: BatchVerdict) -> None:
    """Write the page of one batch into a site."""
    examples = examples_of(dataset, verdict)
    written.add_page(
        f"{dataset.name} {verdict.partition}", lambda: site.write_batch(dataset.gate, verdict, examples=examples)
    )


def write_page_to(written: WrittenPages, dataset: Dataset, verdict: BatchVerdict, output: Path) -> None:
    """Write the page of one batch to one file."""
    from headgate.report.html import Report

    examples = examples_of(dataset, verdict)
    name = f"{dataset.name} {verdict.partition}"
    written.add_page(name, lambda: Report.of(dataset.gate, verdict, examples=examples).save(output))


def _write_output_page(written: WrittenPages, results: Sequence[BatchResult], output: Path) -> None:
    """Write the page of `--output-html`: of the newest batch that did not pass, else of the newest."""
    judged = [each for each in results if each.verdict is not None]
    bad = [each for each in judged if each.verdict is not None and not each.verdict.passed]
    for result in (bad or judged)[-1:]:
        assert result.verdict is not None
        write_page_to(written, result.dataset, result.verdict, output)
