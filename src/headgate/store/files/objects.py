"""Objects on S3, Google Cloud Storage or Azure: put only if absent, and read back where an answer was lost."""

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
from headgate.store.files.places import object_name
from headgate.values.errors import MisuseError, StoreUnavailable

try:
    import obstore
    from obstore.exceptions import AlreadyExistsError, BaseError, PermissionDeniedError, UnauthenticatedError
    from obstore.store import from_url
except ImportError:
    raise MisuseError("object stores need the package obstore.", hint='pip install "headgate[objects]"') from None

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_THREADS = 16
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_STATUS = re.compile(r"\b([45][0-9]{2}) [A-Z][a-z]")


class Objects:
    """A prefix of a bucket. Credentials come from the environment, the way the library reads it (AWS_*, GOOGLE_*, ...).

    Every request is one try of ours: the library's own retries would hide which answer was lost.
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
        except (BaseError, ValueError) as trouble:
            raise StoreUnavailable(f"{url} cannot be opened: {type(trouble).__name__}.", _CREDENTIALS) from None

    def put(self, path: str, data: bytes) -> bool:
        trying = _Retry(path, self.patience)
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
            except (BaseError, OSError) as trouble:
                fault_point("objects.unknown")
                trying.fail_if_final(trouble)
                if self.read(path, 0, 1) is not None:
                    return False
                trying.pause_or_fail(trouble)

    def read(self, path: str, start: int = 0, size: int | None = None) -> bytes | None:
        if size == 0:
            return b""
        wanted: Any = None
        if start or size is not None:
            wanted = {"range": {"offset": start} if size is None else (start, start + size)}
        trying = _Retry(path, self.patience)
        while True:
            try:
                fault_point("objects.get")
                return bytes(obstore.get(self._store, path, options=wanted).bytes())
            except FileNotFoundError:
                return None
            except (BaseError, OSError) as trouble:
                if _find_status(trouble) == "416":
                    return b""
                trying.pause_or_fail(trouble)

    def read_parts(self, path: str, parts: Sequence[tuple[int, int]]) -> list[bytes]:
        if not parts:
            return []
        trying = _Retry(path, self.patience)
        starts, lengths = [start for start, _ in parts], [size for _, size in parts]
        while True:
            try:
                fault_point("objects.get")
                return list(map(bytes, obstore.get_ranges(self._store, path, starts=starts, lengths=lengths)))
            except (BaseError, OSError) as trouble:
                trying.pause_or_fail(trouble)

    def names(self, folder: str, after: int) -> list[str]:
        last = f"{folder}/{object_name(after)}"
        found = self._list_patiently(lambda: obstore.list(self._store, f"{folder}/", offset=last).collect(), folder)
        return [each["path"].rpartition("/")[2] for each in found]

    def folders(self) -> list[str]:
        found = self._list_patiently(lambda: obstore.list_with_delimiter(self._store)["common_prefixes"], "the store")
        return [each.rstrip("/").rpartition("/")[2] for each in found]

    def settle(self, path: str) -> None:
        pass

    def each(self, call: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
        every = list(items)
        if len(every) < 2:
            return map(call, every)
        if self._pool is None:
            self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="headgate-objects")
        return self._pool.map(call, every)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def _list_patiently(self, call: Callable[[], Sequence[Any]], folder: str) -> Sequence[Any]:
        trying = _Retry(folder, self.patience)
        while True:
            try:
                fault_point("objects.list")
                return call()
            except FileNotFoundError:
                return []
            except (BaseError, OSError) as trouble:
                trying.pause_or_fail(trouble)


_CREDENTIALS = "Check the address, and the credentials in the environment."


class _Retry:
    """One request tried again until it is answered or the time is up.

    The library's words are kept out of ours: they may quote addresses that are signed.
    """

    def __init__(self, path: str, patience: float) -> None:
        self._path = path
        self._end = time.monotonic() + patience
        self._pause = 0.05

    def fail_if_final(self, trouble: Exception) -> None:
        if isinstance(trouble, (PermissionDeniedError, UnauthenticatedError)):
            raise StoreUnavailable(f"{self._path}: access was denied.", _CREDENTIALS) from None

    def pause_or_fail(self, trouble: Exception) -> None:
        self.fail_if_final(trouble)
        if time.monotonic() >= self._end:
            status = _find_status(trouble)
            what = f"status {status}" if status else type(trouble).__name__
            raise StoreUnavailable(f"{self._path}: the object store does not answer ({what}).", _CREDENTIALS) from None
        time.sleep(random.uniform(0, self._pause))
        self._pause = min(2 * self._pause, 5.0)


def _find_status(trouble: Exception) -> str:
    found = _STATUS.search(str(trouble))
    return found.group(1) if found else ""
