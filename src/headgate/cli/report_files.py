"""Where HTML pages go: the folder `reports:` of the configuration, or a file that is named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headgate.cli.failing_rows import examples_of

if TYPE_CHECKING:
    from headgate.cli.context import CommandContext
    from headgate.cli.judge_batches import BatchResult
    from headgate.gate.batch_verdict import BatchVerdict
    from headgate.project.project import Dataset, Project
    from headgate.report.site import Site

FOLDER = "reports"
FEW_DATASETS = 50
"""Datasets whose common page is written after the run of any of them; that of more is, when all were run."""


class WrittenPages:
    """The pages that were written, and whether one could not be."""

    def __init__(self, context: CommandContext) -> None:
        self.paths: list[Path] = []
        self.has_failed = False
        self._context = context

    @property
    def start_page(self) -> Path | None:
        """Where a reader begins: the page that was written last leads to the others."""
        return self.paths[-1] if self.paths else None

    def add_page(self, what: str, write: Callable[[], Path]) -> None:
        """Write a page. One that cannot be written changes no verdict: it is told, and the run goes on."""
        from headgate.cli.command import report_error

        try:
            self.paths.append(write())
        except Exception as trouble:
            self.has_failed = True
            self._context.echo_err(f"warning: the page of {what} could not be written:", "yellow")
            report_error(self._context, trouble)


def write_run_pages(
    context: CommandContext,
    project: Project,
    chosen: Sequence[Dataset],
    results: Sequence[BatchResult],
    output: Path | None,
) -> WrittenPages:
    """After a run: pages of the batches that did not pass and of the newest, of their datasets, and of all."""
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
    shown = examples_of(dataset, verdict)
    written.add_page(
        f"{dataset.name} {verdict.partition}", lambda: site.write_batch(dataset.gate, verdict, examples=shown)
    )


def write_page_to(written: WrittenPages, dataset: Dataset, verdict: BatchVerdict, output: Path) -> None:
    """The page of one batch in one file."""
    from headgate.report.html import Report

    shown = examples_of(dataset, verdict)
    name = f"{dataset.name} {verdict.partition}"
    written.add_page(name, lambda: Report.of(dataset.gate, verdict, examples=shown).save(output))


def _write_output_page(written: WrittenPages, results: Sequence[BatchResult], output: Path) -> None:
    """`--output-html`: of several batches the one that most needs a reader, the newest that did not pass."""
    judged = [each for each in results if each.verdict is not None]
    bad = [each for each in judged if each.verdict is not None and not each.verdict.passed]
    for each in (bad or judged)[-1:]:
        assert each.verdict is not None
        write_page_to(written, each.dataset, each.verdict, output)
