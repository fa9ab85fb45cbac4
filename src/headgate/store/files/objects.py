"""Objects on S3, Google Cloud Storage or Azure: put only if absent, and read back if the response was lost."""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlsplit

from headgate.store.fault_points import fault_point
from headgate.store.files.blobs import ByteSpan
from headgate.store.files.places import object_name
from headgate.values.errors import MisuseError, StoreUnavailable
from headgate.values.extras import import_extra

import_extra("obstore", "object stores need the package obstore.", "objects")

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import from_url

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_THREADS = 16
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_STATUS = re.compile(r"\b([45][0-9]{2}) [A-Z][a-z]")


class Objects:
    """A prefix of a bucket. The library reads credentials from the environment (AWS_*, GOOGLE_*, ...).

    The library's own retries are off, because they would hide that a response was lost.
    """

    kind: ClassVar = "objects"
    patience_by_default: ClassVar = 60.0
    timeout: ClassVar = timedelta(seconds=60)  # of one request, with its body

    def __init__(self, store: Any) -> None:
        self.patience = self.patience_by_default
        self._store = store
        self._pool: ThreadPoolExecutor | None = None

    @classmethod
    def at(cls, url: str) -> Objects:
        parts = urlsplit(url)
        if not parts.netloc or parts.query or "@" in parts.netloc:
            raise MisuseError(
                f"{parts.scheme}: needs a bucket and a folder, and nothing else.",
                hint="Write s3://bucket/folder; credentials belong into the environment.",
            )
        endpoint = urlsplit(os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or "")
        plain = endpoint.scheme == "http" and endpoint.hostname in _LOOPBACK
        try:
            return cls(
                from_url(
                    url,
                    client_options={"timeout": cls.timeout, "allow_http": plain},
                    retry_config={"max_retries": 0},
                )
            )
        except (BaseError, ValueError) as error:
            raise StoreUnavailable(f"{url} cannot be opened: {type(error).__name__}.", _CREDENTIALS) from None

    def put(self, path: str, data: bytes) -> bool:
        retry = _Retry(path, self.patience)
        while True:
            try:
                fault_point("objects.put")
                obstore.put(self._store, path, data, mode="create", use_multipart=False)
                fault_point("objects.put_done")
                return True
            except AlreadyExistsError:
                return False
            except FileNotFoundError:
                raise StoreUnavailable(f"{path} cannot be written: there is no such bucket.") from None
            except (BaseError, OSError) as error:
                fault_point("objects.unknown")
                retry.fail_if_final(error)
                if self.read(path, 0, 1) is not None:
                    return False
                retry.pause_or_fail(error)

    def read(self, path: str, start: int = 0, size: int | None = None) -> bytes | None:
        if size == 0:
            return b""
        wanted: Any = None
        if start or size is not None:
            wanted = {"range": {"offset": start} if size is None else (start, start + size)}
        retry = _Retry(path, self.patience)
        while True:
            try:
                fault_point("objects.get")
                return bytes(obstore.get(self._store, path, options=wanted).bytes())
            except FileNotFoundError:
                return None
            except (BaseError, OSError) as error:
                if _find_status(error) == "416":
                    return b""
                retry.pause_or_fail(error)

    def read_parts(self, path: str, parts: Sequence[tuple[int, int]]) -> list[bytes]:
        if not parts:
            return []
        retry = _Retry(path, self.patience)
        starts, lengths = [start for start, _ in parts], [size for _, size in parts]
        while True:
            try:
                fault_point("objects.get")
                return list(map(bytes, obstore.get_ranges(self._store, path, starts=starts, lengths=lengths)))
            except (BaseError, OSError) as error:
                retry.pause_or_fail(error)

    def names(self, folder: str, after: int) -> list[str]:
        last = f"{folder}/{object_name(after)}"
        objects = self._list_with_retries(
            lambda: obstore.list(self._store, f"{folder}/", offset=last).collect(), folder
        )
        return [each["path"].rpartition("/")[2] for each in objects]

    def folders(self) -> list[str]:
        prefixes = self._list_with_retries(
            lambda: obstore.list_with_delimiter(self._store)["common_prefixes"], "the store"
        )
        return [each.rstrip("/").rpartition("/")[2] for each in prefixes]

    def settle(self, path: str) -> None:
        pass

    def each(
        self, call: Callable[[_Item], _Result], items: Iterable[_Item], reads: Iterable[ByteSpan] = ()
    ) -> Iterator[_Result]:
        listed = list(items)
        if len(listed) < 2:
            return map(call, listed)
        if self._pool is None:
            self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="headgate-objects")
        return self._pool.map(call, listed)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def _list_with_retries(self, call: Callable[[], Sequence[Any]], folder: str) -> Sequence[Any]:
        retry = _Retry(folder, self.patience)
        while True:
            try:
                fault_point("objects.list")
                return call()
            except FileNotFoundError:
                return []
            except (BaseError, OSError) as error:
                retry.pause_or_fail(error)


_CREDENTIALS = "Check the address, and the credentials in the environment."


class _Retry:
    """Retries of one request until it succeeds or the time is up.

    Messages do not quote the library's errors, which may contain signed addresses.
    """

    def __init__(self, path: str, patience: float) -> None:
        self._path = path
        self._end = time.monotonic() + patience
        self._pause = 0.05

    def fail_if_final(self, error: Exception) -> None:
        if isinstance(error, (PermissionDeniedError, UnauthenticatedError)):
            raise StoreUnavailable(f"{self._path}: access was denied.", _CREDENTIALS) from None

    def pause_or_fail(self, error: Exception) -> None:
        self.fail_if_final(error)
        if time.monotonic() >= self._end:
            status = _find_status(error)
            what = f"status {status}" if status else type(error).__name__
            raise StoreUnavailable(f"{self._path}: the object store does not answer ({what}).", _CREDENTIALS) from None
        time.sleep(random.uniform(0, self._pause))
        self._pause = min(2 * self._pause, 5.0)


def _find_status(error: Exception) -> str:
    match = _STATUS.search(str(error))
    return match.group(1) if match else ""
