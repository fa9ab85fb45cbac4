"""A PostgreSQL server of the tests' own: a new data folder, a free port of the loopback, gone at the end."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import subprocess
import tempfile
import uuid
from functools import cache
from pathlib import Path

import psycopg
import pytest

USER = "headgate"
PASSWORD = "not-to-be-seen"


def binaries() -> Path | None:
    """The folder with the server's programs, the newest version first."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("initdb")
    if found:
        return found[-1].parent
    return Path(on_path).parent if on_path else None


def required() -> Path:
    """As `binaries`; without them a test is skipped, but fails where all tests must run."""
    found = binaries()
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("PostgreSQL is not installed here")
        pytest.skip("PostgreSQL is not installed here")
    return found


class Server:
    """One server. `url` is the address of its first database; `database()` makes another."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        self._folder = Path(tempfile.mkdtemp(prefix="headgate-postgres-"))
        self._data = self._folder / "data"
        self.port = _free_port()
        if os.geteuid() == 0:  # the server refuses to be root
            shutil.chown(self._folder, "postgres")
        secret = self._folder / "password"
        secret.write_text(PASSWORD)
        self._run(
            "initdb", "-D", self._data, "-U", USER, "-E", "UTF8", "--locale=C.UTF-8", "-A", "scram-sha-256",
            f"--pwfile={secret}",
        )  # fmt: skip
        self.start()

    @property
    def url(self) -> str:
        return self.address("postgres")

    def address(self, database: str) -> str:
        return f"postgresql+psycopg://{USER}:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    def database(self) -> str:
        """The address of a new, empty database."""
        name = f"test_{uuid.uuid4().hex}"
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.address(name)

    def drop(self, url: str) -> None:
        with self.connect() as connection:
            connection.execute(f"DROP DATABASE {url.rpartition('/')[2]} WITH (FORCE)".encode())

    def connect(self, url: str | None = None) -> psycopg.Connection:
        """A connection past the store, which commits every statement."""
        return psycopg.connect((url or self.url).replace("+psycopg", ""), autocommit=True)

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=200"
        self._run("pg_ctl", "-D", self._data, "-l", self._folder / "log", "-o", options, "-w", "start")

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-D", self._data, "-m", mode, "-w", "stop")

    def restart(self, mode: str = "fast") -> None:
        """Cut all connections and come back; mode="immediate" as after a crash."""
        self.stop(mode)
        self.start()

    def remove(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self._programs / program), *map(str, arguments)]
        if os.geteuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        # Not a pipe: the server would keep it open.
        with (self._folder / "output").open("w+") as output:
            done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, cwd=self._folder, check=False)
            if done.returncode:
                output.seek(0)
                raise RuntimeError(f"{program} failed: {output.read()}")


@cache
def server() -> Server:
    """One for all tests, each of which has a database of its own in it."""
    started = Server(required())
    atexit.register(started.remove)
    return started


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
