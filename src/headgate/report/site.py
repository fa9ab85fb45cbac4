"""A folder of pages that link to each other: all datasets, each dataset, and single batches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from headgate.display.table import Table
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.gate.publish.publisher import folder_name
from headgate.report.html import batch_report, dataset_report, fleet_report
from headgate.values.local_path import to_local_path

INDEX = "index.html"


class Site:
    """Pages under one folder: `index.html`, `orders.html`, `orders/2026-11-14.html`."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = to_local_path(folder, "the folder of reports")

    def batch_path(self, dataset: str, partition: str) -> Path:
        """The path of the page of a batch."""
        return self.folder / folder_name(dataset) / f"{folder_name(partition)}.html"

    def dataset_path(self, dataset: str) -> Path:
        """The path of the page of a dataset."""
        return self.folder / f"{folder_name(dataset)}.html"

    def write_batch(self, gate: Gate, verdict: BatchVerdict, examples: Table | None = None) -> Path:
        """Write the page of a batch, with a link to the page of its dataset."""
        up = f"../{quote(self.dataset_path(gate.dataset).name)}"
        return batch_report(gate, verdict, examples=examples, up=up).save(
            self.batch_path(gate.dataset, verdict.partition)
        )

    def write_dataset(self, gate: Gate) -> Path:
        """Write the page of a dataset, with links to the pages of its batches that exist."""
        links = {
            partition: self._address_of(self.batch_path(gate.dataset, partition))
            for partition in {each.partition for each in gate.store.revisions(gate.dataset)}
            if self.batch_path(gate.dataset, partition).exists()
        }
        return dataset_report(gate, links=links, up=INDEX).save(self.dataset_path(gate.dataset))

    def write_fleet(self, gates: Sequence[Gate]) -> Path:
        """Write the page of all datasets, with links to the pages that exist."""
        links: dict[tuple[str, str | None], str] = {}
        for gate in gates:
            if self.dataset_path(gate.dataset).exists():
                links[gate.dataset, None] = self._address_of(self.dataset_path(gate.dataset))
            newest = gate.store.last(gate.dataset, 1)
            if newest and self.batch_path(gate.dataset, newest[0].partition).exists():
                links[gate.dataset, newest[0].partition] = self._address_of(
                    self.batch_path(gate.dataset, newest[0].partition)
                )
        return fleet_report(gates, links=links).save(self.folder / INDEX)

    def _address_of(self, page: Path) -> str:
        """The relative address of a page, as seen from the top of the folder.

        The leading `./` keeps a name with a colon from being read as a URL scheme.
        """
        return "./" + quote(page.relative_to(self.folder).as_posix())
