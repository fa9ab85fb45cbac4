"""A server that speaks S3 on loopback, in a process of its own: `with Server() as s3: ... s3.environment ...`.

It is moto's. Moto honours `If-None-Match: *`, but looks and writes in two steps that another thread may come between;
so requests are answered one at a time here, as if S3 did nothing else. What is stored is lost when the process ends.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

ROOT = Path(__file__).parents[2]
BUCKET = "history"


class Address:
    """A free port of this machine, and the environment that leads clients of an object store to it."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "somebody",
            "AWS_SECRET_ACCESS_KEY": "s3-canary",
            "AWS_REGION": "us-east-1",
        }

    @contextlib.contextmanager
    def used(self) -> Iterator[None]:
        """This server is the one that the environment names."""
        before = {name: os.environ.get(name) for name in self.environment}
        os.environ.update(self.environment)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value

    def make_bucket(self, process: subprocess.Popen[bytes], name: str = BUCKET) -> None:
        """Make a bucket as soon as the server answers; it may be there already."""
        for _ in range(600):
            try:
                with urlopen(Request(f"{self.url}/{name}", method="PUT", data=b""), timeout=5):
                    return
            except HTTPError as error:
                if error.code == 409:
                    return
            except OSError:
                if process.poll() is not None:
                    break
            time.sleep(0.05)
        raise RuntimeError("the S3 server did not start")


class Server(Address):
    """Runs until the block is left. With `drop`, so many of the answers to puts are lost after the put was done."""

    def __init__(self, *, drop: float = 0.0, seed: int = 0) -> None:
        super().__init__()
        self._arguments = [str(self.port), str(drop), str(seed)]

    def __enter__(self) -> Server:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.store.s3", *self._arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self.make_bucket(self._process)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()

    def pause(self) -> None:
        """Answer nobody until `resume`."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)


class OneAtATime:
    """The application behind one lock; some answers to puts are dropped once the lock is let go."""

    def __init__(self, application: Any, drop: float, seed: int) -> None:
        self._application = application
        self._drop = drop
        self._chance = random.Random(seed)
        self._lock = Lock()

    def __call__(self, environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        with self._lock:
            answer = list(self._application(environ, start))
            lost = environ["REQUEST_METHOD"] == "PUT" and "log/" in environ["PATH_INFO"]
            lost = lost and self._chance.random() < self._drop
        if lost:
            environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
            raise ConnectionAbortedError("this answer is dropped on purpose")
        return answer


def main(port: int, drop: float, seed: int) -> None:
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
    from werkzeug.serving import make_server

    class Handler(MotoRequestHandler):
        protocol_version = "HTTP/1.1"

        def log(self, *_: object) -> None:
            pass

    application = OneAtATime(DomainDispatcherApplication(create_backend_app), drop, seed)
    make_server("127.0.0.1", port, application, threaded=True, request_handler=Handler).serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
