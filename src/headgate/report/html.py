"""Pages as HTML: one file each, with styles and a short script inline, that loads nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import html
import os
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from headgate.display.table import Table
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.report.batch import batch_page
from headgate.report.dataset import dataset_page
from headgate.report.fleet import fleet_page
from headgate.values.local_path import to_local_path


class Report:
    """A page: `hg.Report.of(gate, "2026-11-14").save("batch.html")`. A notebook shows it in a frame of its own."""

    def __init__(self, title: str, text: str) -> None:
        self.title = title
        self.html = text

    @classmethod
    def of(cls, gate: Gate, verdict: BatchVerdict | str | None = None, *, examples: Table | None = None) -> Report:
        """The page of a batch, given its verdict or its partition; without either, the page of the dataset.

        `examples` is a table of rows to show. They contain values of the data, so none are shown by default.
        """
        if verdict is None:
            return dataset_report(gate)
        return batch_report(gate, gate.explain(verdict) if isinstance(verdict, str) else verdict, examples=examples)

    @classmethod
    def fleet(cls, gates: Sequence[Gate]) -> Report:
        """The page of all datasets."""
        return fleet_report(gates)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, atomically, and return its path."""
        target = to_local_path(path, "the file of a report")
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f".{target.name[:180]}.{os.getpid()}.tmp")
        try:
            draft.write_text(self.html, encoding="utf-8", errors="replace")
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
        return target

    def __repr__(self) -> str:
        return f"Report({self.title!r}, {len(self.html):,} characters); .save(path) writes it"

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{html.escape(self.title)}" sandbox="allow-scripts" width="100%" height="720" '
            f'style="border:1px solid #8886;border-radius:6px" srcdoc="{html.escape(self.html)}"></iframe>'
        )


def batch_report(gate: Gate, verdict: BatchVerdict, *, examples: Table | None = None, up: str = "") -> Report:
    """The page of a batch; `up` is the address of the dataset's page."""
    title = f"{verdict.dataset} {verdict.partition}"
    return _render_page("batch.html", title, {**batch_page(gate.store, verdict, examples), "up": up})


def dataset_report(gate: Gate, *, links: Mapping[str, str] | None = None, up: str = "") -> Report:
    """The page of a dataset; `links` are the addresses of its partitions' pages, `up` that of the fleet's."""
    known = links or {}
    facts = dataset_page(gate, lambda partition: known.get(partition, ""))
    return _render_page("dataset.html", gate.dataset, {**facts, "up": up})


def fleet_report(gates: Sequence[Gate], *, links: Mapping[tuple[str, str | None], str] | None = None) -> Report:
    """The page of all datasets; `links` are the addresses of their pages and of their newest partitions' pages."""
    known = links or {}
    return _render_page("fleet.html", "All datasets", fleet_page(gates, lambda name, at: known.get((name, at), "")))


def _render_page(template: str, title: str, facts: Mapping[str, Any]) -> Report:
    templates = _load_templates()
    style, script = _read_asset("style.css"), _read_asset("page.js")
    policy = (
        f"default-src 'none'; style-src '{_hash_text(style)}'; script-src '{_hash_text(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    shell = {"title": title, "policy": policy, "style": Markup(style), "script": Markup(script)}
    return Report(title, templates.get_template(template).render({**facts, **shell}))


@cache
def _load_templates() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_read_asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    environment.globals.clear()  # templates need none of Jinja's functions
    return environment


@cache
def _read_asset(name: str) -> str:
    return (files("headgate.report") / "templates" / name).read_text(encoding="utf-8")


def _hash_text(text: str) -> str:
    """The source expression by which a content security policy allows exactly this inline text."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
