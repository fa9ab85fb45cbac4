"""Licences as SPDX expressions: read from the metadata of a package, and compared with the lists of allowed ones."""

from __future__ import annotations

import re
from collections.abc import Collection
from importlib.metadata import PackageMetadata

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.utils import canonicalize_name

UNKNOWN = "unknown"

# Compatible with Apache-2.0, without conditions beyond notices.
ALLOWED = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC0-1.0",
        "ISC",
        "MIT",
        "MIT-0",
        "PSF-2.0",
        "Unlicense",
        "Zlib",
    }
)

# Allowed in extras, because whoever installs one can decide: what the licence asks of those who pass the library on.
NOTED = {
    "LGPL-3.0-only": "If you pass the library on, your users must be able to replace it by their own version of it.",
    "MPL-2.0": "If you pass on changed files of the library, pass on their source too.",
}

CLASSIFIERS = {
    "License :: OSI Approved :: ISC License (ISCL)": "ISC",
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}

# The metadata of these name no SPDX licence ("BSD License"). Each was read in the licence file of the package.
READ_BY_HAND = {
    "datasketches": "Apache-2.0",
    "jinja2": "BSD-3-Clause",
    "pandas": "BSD-3-Clause",
    "patsy": "BSD-2-Clause AND PSF-2.0",
    "protobuf": "BSD-3-Clause",
    "py4j": "BSD-3-Clause",
    "python-dateutil": "Apache-2.0 OR BSD-3-Clause",
    "scipy": "BSD-3-Clause",
}


def read_licence(metadata: PackageMetadata) -> str:
    """The licence that a package declares, or that was read by hand where it declares none that SPDX knows."""
    declared = find_declared(metadata)
    if declared is not None:
        return declared
    return READ_BY_HAND.get(canonicalize_name(metadata["Name"]), UNKNOWN)


def find_declared(metadata: PackageMetadata) -> str | None:
    for field in ("License-Expression", "License"):
        try:
            return canonicalize_license_expression(" ".join(metadata.get_all(field, [])))
        except InvalidLicenseExpression:
            continue
    named = {text for text in metadata.get_all("Classifier", []) if text.startswith("License ::")}
    # Two classifiers may mean both licences or a choice.
    return CLASSIFIERS.get(named.pop()) if len(named) == 1 else None


def is_allowed(expression: str, allowed: Collection[str] = ALLOWED) -> bool:
    """Whether an expression can be met with these licences alone.

    >>> is_allowed("MIT AND GPL-3.0-only"), is_allowed("MIT OR GPL-3.0-only")
    (False, True)

    A choice inside of parentheses is not weighed: there every licence must be allowed.
    """
    choices = [expression] if "(" in expression else expression.split(" OR ")
    return any(all(name in allowed for name in list_licences(choice)) for choice in choices)


def list_licences(expression: str) -> list[str]:
    """The licences of an expression, each with its exception.

    >>> list_licences("MIT AND (ISC OR Apache-2.0 WITH LLVM-exception)")
    ['MIT', 'ISC', 'Apache-2.0 WITH LLVM-exception']
    """
    return [part.strip("() ") for part in re.split(" AND | OR ", expression)]
