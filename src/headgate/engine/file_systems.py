"""The file system of an address, as Arrow opens it: local, S3, Google Cloud Storage and what else Arrow knows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from headgate.engine.file_errors import make_read_error
from headgate.values.errors import EngineError, SourceUnavailable

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_ARROW_SCHEMES = {"s3a": "s3", "s3n": "s3"}  # names of Hadoop and of Arrow
_CONNECT_SECONDS, _REQUEST_SECONDS, _RETRY_SECONDS = 10, 30, 60  # of one request to an object store, and of all


def is_s3(scheme: str) -> bool:
    """Whether a scheme, of Hadoop or of Arrow, is that of S3.

    >>> is_s3("s3a"), is_s3("gs")
    (True, False)
    """
    return _ARROW_SCHEMES.get(scheme, scheme) == "s3"


def open_file_system(scheme: str, bucket: str, hint: str) -> FileSystem:
    """The file system of a scheme and a bucket. Credentials come from the environment.

    Args:
        scheme: The part of an address before `://`; `file` is the local file system.
        bucket: The part after it, up to the first slash.
        hint: What to do if Arrow knows no such file system.
    """
    from pyarrow import fs

    if scheme == "file":
        return fs.LocalFileSystem()
    try:
        if is_s3(scheme):
            return _open_s3(bucket)
        limit = f"?retry_limit_seconds={_RETRY_SECONDS}" if scheme in ("gs", "gcs") else ""
        return fs.FileSystem.from_uri(f"{scheme}://{bucket}{limit}")[0]
    except Exception as error:  # of many types; some messages hold credentials of the environment
        made = make_read_error(f"{scheme}://{bucket} cannot be opened", error)
        if isinstance(made, SourceUnavailable):
            raise made from None
        raise EngineError(f"{scheme}:// cannot be read by this process ({type(error).__name__}).", hint) from None


def _open_s3(bucket: str) -> FileSystem:
    """The file system of a bucket. Its region is looked for where neither the environment nor an endpoint names one."""
    from pyarrow import fs

    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    scheme, _, host = endpoint.rpartition("://")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return fs.S3FileSystem(
        region=region if region or endpoint else fs.resolve_s3_region(bucket),
        endpoint_override=host.rstrip("/") or None,
        scheme=scheme or "https",
        connect_timeout=_CONNECT_SECONDS,
        request_timeout=_REQUEST_SECONDS,
    )
