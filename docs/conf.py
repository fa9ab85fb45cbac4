"""How the site is built: `make site` writes it into build/site; a warning, a broken link or a lost page fails it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from docs.api import api_blocks, readable  # noqa: E402
from headgate import __version__  # noqa: E402

project = "Headgate"
author = "Headgate contributors"
project_copyright = author
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_static"]
highlight_language = "text"
# What a lexer does not know (Grafana's macros in SQL) it passes over.
suppress_warnings = ["misc.highlighting_failure"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

# Docstrings are short plain text with `code` in single backticks.
default_role = "code"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90

pygments_style = "tango"
pygments_dark_style = "github-dark"
html_theme = "furo"
html_title = f"Headgate {release}"
html_static_path = ["_static"]
html_css_files = ["headgate.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
copybutton_exclude = ".linenos, .gp, .go"  # a copied doctest runs: neither prompts nor answers

# Files outside docs/ that are pages too, and where their links lead on the site.
LINKS_OF_ROOT = (
    (re.compile(r"\]\(docs/"), "]("),
    (re.compile(r"\]\(examples/flights/README\.md"), "](flights.md"),
    (re.compile(r"\]\(CHANGELOG\.md"), "](changelog.md"),
    (re.compile(r"\]\(CONTRIBUTING\.md"), "](contributing.md"),
    (re.compile(r"\]\(SECURITY\.md"), "](vulnerabilities.md"),
    (re.compile(r"\]\(LICENSE\)"), "](license.md)"),
    (re.compile(r"\]\(SOURCE\.md\)"), "](#where-the-days-come-from)"),
)
# A link that is written as the name of a file shows the title of the page.
FILE_NAMED = re.compile(r"\[[\w./-]+\.md\](?=\([\w./-]+\.md(?:#[\w-]+)?\))")


def _relink(app: Any, relative_path: Path, parent: str, content: list[str]) -> None:
    for link, on_the_site in LINKS_OF_ROOT:
        content[0] = link.sub(on_the_site, content[0])
    content[0] = FILE_NAMED.sub("[]", content[0])


def _fill(app: Any, docname: str, content: list[str]) -> None:
    content[0] = FILE_NAMED.sub("[]", content[0])
    if docname == "reference/python":
        content[0] = api_blocks(content[0])
    elif docname == "decisions/README":  # read as a plain list elsewhere, so the tree is not written there
        content[0] += "\n```{toctree}\n:hidden:\n:glob:\n\n0*\n```\n"


def _plain(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = readable(lines)


def _signed(
    app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """A port is not called; and what a field is made by is not Python that could be read."""
    if signature == "(*args, **kwargs)":
        return "", returns
    return signature and signature.replace("<factory>", "..."), returns


def setup(app: Any) -> None:
    app.connect("include-read", _relink)
    app.connect("source-read", _fill)
    app.connect("autodoc-process-docstring", _plain)
    app.connect("autodoc-process-signature", _signed)
