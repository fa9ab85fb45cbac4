"""Rows of the tables of the page."""

from __future__ import annotations

from collections.abc import Iterator


def header(*names: str) -> Iterator[str]:
    yield table_row(*names)
    yield "|---" * len(names) + "|"


def table_row(*each: str) -> str:
    return f"| {' | '.join(each)} |"


def bold(value: float, best: float) -> str:
    return f"**{value:.3f}**" if value == best else f"{value:.3f}"
