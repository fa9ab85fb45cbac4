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
_SIMPLE = f"{_CLASS}SimpleAWSCredentialsProvider"
_STATIC = (f"{_CLASS}TemporaryAWSCredentialsProvider", _SIMPLE)
_AWS = "s3.amazonaws.com"
_AWS_HOST = re.compile(r"\.amazonaws\.com(?:\.cn)?(?::\d+)?$")
_AWS_REGION = re.compile(r"\bs3(?:-fips)?(?:\.dualstack)?[.-]([a-z]{2}(?:-[a-z]+)+-\d)\.amazonaws\.com")
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

    >>> settings = {"fs.s3a.access.key": "me", "fs.s3a.secret.key": "secret", "fs.s3a.endpoint.region": "eu-west-1"}
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
    endpoint = "" if parts.netloc == _AWS else parts.netloc
    region = read("endpoint.region") or _find_region(endpoint)
    if not region:
        return None  # to look it up may take long, and each task would
    is_static = bool(providers) and providers[0] == _SIMPLE
    return S3Access(
        bucket=bucket,
        access_key="" if anonymous else read("access.key"),
        secret_key="" if anonymous else read("secret.key"),
        session_token="" if anonymous or is_static else read("session.token"),
        endpoint=endpoint,
        scheme=parts.scheme or ("http" if plain else "https"),
        region=region,
        anonymous=anonymous,
    )


def _find_region(endpoint: str) -> str:
    """The region in the name of a host of AWS, which "" stands for too; any does for another server.

    >>> _find_region("s3.eu-west-1.amazonaws.com"), _find_region("127.0.0.1:9000"), _find_region("")
    ('eu-west-1', 'us-east-1', '')
    """
    if not endpoint or _AWS_HOST.search(endpoint):
        found = _AWS_REGION.search(endpoint)
        return found[1] if found else ""
    return "us-east-1"


@cache
def _open_bucket(access: S3Access) -> Any:
    from pyarrow import fs

    return fs.S3FileSystem(
        access_key=access.access_key or None,
        secret_key=access.secret_key or None,
        session_token=access.session_token or None,
        anonymous=access.anonymous,
        region=access.region,
        endpoint_override=access.endpoint or None,
        scheme=access.scheme,
    )
