"""An S3 server on loopback that keeps its objects in a folder: it can be killed, and started again with what it had.

It is S3Proxy, which has the conditional puts that the store commits with.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.store.s3 import Address


class DiskServer(Address):
    """Runs until the block is left, but while it is killed. `jars` is the folder of its jars."""

    def __init__(self, folder: Path, jars: str) -> None:
        super().__init__()
        self.folder = folder
        self._jars = jars
        self._settings = folder.with_suffix(".properties")
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> DiskServer:
        self.folder.mkdir(parents=True)
        lines = [
            f"s3proxy.endpoint={self.url}",
            "s3proxy.authorization=none",
            "jclouds.provider=filesystem-nio2",
            f"jclouds.filesystem.basedir={self.folder}",
        ]
        self._settings.write_text("\n".join(lines), encoding="utf-8")
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Start it, with the buckets that its folder has."""
        command = ["java", "-Xmx256m", "-cp", f"{self._jars}/*", "org.gaul.s3proxy.Main"]
        self._process = subprocess.Popen(
            [*command, "--properties", str(self._settings)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.make_bucket(self._process)

    def kill(self) -> None:
        """End it at once, in whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
