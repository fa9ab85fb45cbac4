"""What docs/reference/python.md shows of the public names: they are looked up where they live, and so is their text."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable

import headgate

MARK = re.compile(r"^<!-- names: (?P<rooms>[\w. ]+) -->$", re.MULTILINE)
CODE = re.compile(r"`+([^`]+)`+")
SPECIAL = re.compile(r"([\\*|_])")


def api_blocks(page: str) -> str:
    """The page, with the public names of the rooms in each mark in its place.

    >>> api_blocks("<!-- names: headgate.inject -->").split()[:4]
    ['```{eval-rst}', '..', 'autofunction::', 'headgate.inject_issue']
    """
    return MARK.sub(lambda mark: _block(names_in(mark["rooms"].split())), page)


def names_in(rooms: Iterable[str]) -> list[str]:
    """The public names that live in one of these rooms, in the order of `headgate/__init__.py`."""
    inside = tuple(rooms)
    return [name for name, home in headgate._HOME.items() if any(f"{home}.".startswith(f"{each}.") for each in inside)]


def rooms_of(page: str) -> list[str]:
    """Every room that the page names."""
    return [room for mark in MARK.finditer(page) for room in mark["rooms"].split()]


def _block(names: Iterable[str]) -> str:
    return "\n".join(["```{eval-rst}", *(_directive(name) for name in names), "```"])


def _directive(name: str) -> str:
    if not inspect.isclass(getattr(headgate, name)):
        return f".. autofunction:: headgate.{name}\n"
    members = "" if name == "Check" else "   :members:\n"
    return f".. autoclass:: headgate.{name}\n{members}"


def readable(lines: Iterable[str]) -> list[str]:
    """A docstring in plain words as reStructuredText: `code` is code, and no other character has a meaning.

    >>> readable(["The `mean` of |x| by `key`s."])
    ['The ``mean`` of \\\\|x\\\\| by ``key``\\\\ s.']
    """
    paragraphs = "\n".join(lines).split("\n\n")
    return "\n\n".join(map(_convert_paragraph, paragraphs)).split("\n")


def _convert_paragraph(paragraph: str) -> str:
    if ">>>" in paragraph:
        return paragraph
    return _list_parameters(paragraph) if paragraph.startswith("Args:\n") else _escaped(paragraph)


def _list_parameters(block: str) -> str:
    """A block `Args:` as a list of fields; a line that begins with a name and a colon begins a parameter.

    >>> print(_list_parameters("Args:\\n    by: Columns;\\n        or one.\\n    keep: Where."))
    :param by: Columns; or one.
    :param keep: Where.
    """
    fields: list[str] = []
    for line in inspect.cleandoc(block.removeprefix("Args:\n")).split("\n"):
        if line.startswith(" "):
            fields[-1] += f" {line.strip()}"
        else:
            name, _, text = line.partition(": ")
            fields.append(f":param {name}: {text}")
    return "\n".join(_escaped(field) for field in fields)


def _escaped(paragraph: str) -> str:
    pieces = CODE.split(paragraph)
    for place, piece in enumerate(pieces):
        if place % 2:
            pieces[place] = f"``{' '.join(piece.split())}``"
            if pieces[place + 1][:1].isalnum():
                pieces[place] += "\\ "
        else:
            pieces[place] = SPECIAL.sub(r"\\\1", piece)
    return "".join(pieces)
