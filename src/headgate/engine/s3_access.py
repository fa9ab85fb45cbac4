"""How tasks open files on S3 themselves: with the keys and the endpoint that the Spark session has for `s3a://`."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import msgspec

Setting = Callable[[str], str | None]

_CLASS = "org.apache.hadoop.fs.s3a."
_STATIC = (f"{_CLASS}TemporaryAWSCredentialsProvider", f"{_CLASS}SimpleAWSCredentialsProvider")
_ANONYMOUS = f"{_CLASS}AnonymousAWSCredentialsProvider"
_FOREIGN = {
    "impl": re.compile(rf"(?!{re.escape(_CLASS)}S3AFileSystem$)."),
    "proxy.host": re.compile("."),
    "accesspoint.arn": re.compile("."),
    "requester.pays.enabled": re.compile("true", re.IGNORECASE),
    "encryption.algorithm": re.compile("SSE-C|CSE", re.IGNORECASE),
    "server-side-encryption-algorithm": re.compile("SSE-C|CSE", re.IGNORECASE),
}
"""Settings of `fs.s3a` with values that pyarrow has no word for."""


class S3Access(msgspec.Struct, frozen=True):
    """The keys and the endpoint of a bucket. It travels to the tasks as Spark's own settings do, and prints no key."""

    bucket: str
    access_key: str = ""
    secret_key: str = ""
    session_token: str = ""
    endpoint: str = ""
    scheme: str = "https"
    region: str = ""
    anonymous: bool = False

    def __repr__(self) -> str:
        return f"S3Access(bucket={self.bucket!r})"

    def open_file(self, path: str) -> Any:
        return _open_bucket(self).open_input_file(f"{self.bucket}{path}")


def read_access(bucket: str, setting: Setting) -> S3Access | None:
    """The access that a session has to a bucket; None if its settings do not say all that it takes.

    >>> settings = {"fs.s3a.access.key": "somebody", "fs.s3a.secret.key": "secret", "fs.s3a.endpoint": "http://127.0.0.1:9000"}
    >>> read_access("lake", settings.get)
    S3Access(bucket='lake')
    >>> read_access("lake", {}.get) is None
    True

    Args:
        bucket: The bucket.
        setting: A function that gives the value of a setting of Hadoop.
    """

    def read(name: str) -> str:
        return (setting(f"fs.s3a.bucket.{bucket}.{name}") or setting(f"fs.s3a.{name}") or "").strip()

    if setting("hadoop.security.credential.provider.path") or read("security.credential.provider.path"):
        return None
    if any(pattern.match(read(name)) for name, pattern in _FOREIGN.items()):
        return None
    providers = [name.strip() for name in read("aws.credentials.provider").split(",") if name.strip()]
    anonymous = providers == [_ANONYMOUS]
    has_keys = bool(read("access.key") and read("secret.key")) and (not providers or providers[0] in _STATIC)
    if not (anonymous or has_keys):
        return None
    plain = read("connection.ssl.enabled").lower() == "false"
    address = read("endpoint")
    parts = urlsplit(address if "://" in address else f"//{address}")
    return S3Access(
        bucket=bucket,
        access_key="" if anonymous else read("access.key"),
        secret_key="" if anonymous else read("secret.key"),
        session_token="" if anonymous else read("session.token"),
        endpoint=parts.netloc,
        scheme=parts.scheme or ("http" if plain else "https"),
        region=read("endpoint.region"),
        anonymous=anonymous,
    )


@cache
def _open_bucket(access: S3Access) -> Any:
    from pyarrow import fs

    region = access.region
    if not region:
        region = "us-east-1" if access.endpoint else fs.resolve_s3_region(access.bucket)
    return fs.S3FileSystem(
        access_key=access.access_key or None,
        secret_key=access.secret_key or None,
        session_token=access.session_token or None,
        anonymous=access.anonymous,
        region=region,
        endpoint_override=access.endpoint or None,
        scheme=access.scheme,
    )
