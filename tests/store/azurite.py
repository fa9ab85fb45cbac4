"""Azurite, the emulator of Azure's blobs, on loopback: `with Azurite(command) as azure: ... azure.environment ...`."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time

from tests.store.s3 import Address

CONTAINER = "history"
_ACCOUNT = "devstoreaccount1"
_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="  # of every emulator


class Azurite(Address):
    """Runs until the block is left. `command` is the path of `azurite-blob`."""

    def __init__(self, command: str) -> None:
        super().__init__()
        self.environment = {"AZURE_STORAGE_USE_EMULATOR": "true", "AZURITE_BLOB_STORAGE_URL": self.url}
        self._command = command
        self._folder = tempfile.mkdtemp(prefix="headgate-azurite-")

    def __enter__(self) -> Azurite:
        options = ["--blobHost", "127.0.0.1", "--blobPort", str(self.port), "--location", self._folder]
        self._process = subprocess.Popen(
            [self._command, *options, "--silent", "--skipApiVersionCheck"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self._make_container()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _make_container(self) -> None:
        from pyarrow.fs import AzureFileSystem

        place = f"127.0.0.1:{self.port}"
        for _ in range(100):
            try:
                AzureFileSystem(
                    account_name=_ACCOUNT,
                    account_key=_KEY,
                    blob_storage_authority=place,
                    dfs_storage_authority=place,
                    blob_storage_scheme="http",
                    dfs_storage_scheme="http",
                ).create_dir(CONTAINER)
                return
            except OSError:
                if self._process.poll() is not None:
                    break
                time.sleep(0.2)
        raise RuntimeError("Azurite did not start")
