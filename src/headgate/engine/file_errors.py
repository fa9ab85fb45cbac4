"""Errors of files and object stores, in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from headgate.values.errors import EngineError, SourceUnavailable

_ACCESS = "Check the address, and the credentials in the environment."
_CODE = re.compile(r"AWS Error ([A-Z0-9_]+)|google::cloud::Status\(([A-Z_]+)")
_STATUS = re.compile(r"HTTP status ([0-9]{3})")
_NOT_THERE = {"NO_SUCH_KEY", "RESOURCE_NOT_FOUND", "NOT_FOUND", "404"}
_REASONS = {
    **dict.fromkeys(
        ("ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "SIGNATURE_DOES_NOT_MATCH", "PERMISSION_DENIED", "403", "401"),
        "access was denied",
    ),
    **dict.fromkeys(("EXPIRED_TOKEN", "TOKEN_EXPIRED", "UNAUTHENTICATED"), "the credentials are not valid"),
    "NO_SUCH_BUCKET": "there is no such bucket",
}


def make_read_error(what: str, error: Exception, hint: str = "") -> EngineError:
    """The error of files that could not be read or listed: `SourceUnavailable` if the object store is to blame.

    >>> lost = OSError("When listing: AWS Error NETWORK_CONNECTION during HeadObject operation: curlCode: 7")
    >>> str(make_read_error("orders cannot be listed", lost)).partition(". ")[0]
    'orders cannot be listed: the object store does not answer (NETWORK_CONNECTION)'
    >>> str(make_read_error("the files could not be read", OSError("Corrupt snappy compressed data.")))
    'the files could not be read: Corrupt snappy compressed data.'
    """
    text = " ".join(str(error).split())
    code = _find_code(text) if _is_of_system(error) else ""
    if code and code not in _NOT_THERE:
        reason = _REASONS.get(code, f"the object store does not answer ({code})")
        return SourceUnavailable(f"{what}: {reason}.", hint=_ACCESS)
    reason = getattr(error, "strerror", None) or text or type(error).__name__
    return EngineError(f"{what}: {reason[:300].rstrip('.')}.", hint=hint)


@contextmanager
def raise_outages(what: str) -> Iterator[None]:
    """An object store that fails inside the block is raised as `SourceUnavailable`; other errors stay as they are."""
    try:
        yield
    except OSError as error:
        made = make_read_error(what, error)
        if isinstance(made, SourceUnavailable):
            raise made from None
        raise


def _is_of_system(error: Exception) -> bool:
    """Whether a file system raised it: the message of any other error may quote the data."""
    return isinstance(error, OSError) and not isinstance(error, pa.ArrowException)


def _find_code(text: str) -> str:
    """What an object store says, in a word; empty if it says nothing. An answer without a body has only a status."""
    if "resolving region" in text:
        return "NETWORK_CONNECTION"
    found = _CODE.search(text)
    if found is None:
        return ""
    code = found[1] or found[2]
    status = _STATUS.search(text)
    return status[1] if code == "UNKNOWN" and status else code
