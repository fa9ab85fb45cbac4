"""`python -m tests.typing.completions [PYTHON]`: what an editor offers after `hg.`, asked of pyright."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.typing.conftest import clean_environment


class LanguageServer:
    """One pyright, spoken to as an editor does (JSON-RPC over its standard input and output)."""

    def __init__(self, folder: Path, python: Path) -> None:
        command = [sys.executable, "-m", "pyright.langserver", "--stdio"]
        self._python = python
        self._number = 0
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env=clean_environment()
        )
        capabilities = {"workspace": {"configuration": True}}
        self.ask("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": capabilities})
        self.tell("initialized", {})

    def tell(self, method: str, parameters: dict[str, Any], **more: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": parameters, **more}).encode()
        self._write(body)

    def ask(self, method: str, parameters: dict[str, Any]) -> Any:
        """The answer to a question; what the server asks meanwhile is answered with the interpreter to look into."""
        self._number += 1
        self.tell(method, parameters, id=self._number)
        while True:
            message = self._read()
            if "method" in message and "id" in message:
                self._answer(message)
            elif message.get("id") == self._number:
                return message["result"]

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _answer(self, message: dict[str, Any]) -> None:
        items = message["params"].get("items", []) if message["method"] == "workspace/configuration" else []
        result = [{"pythonPath": str(self._python)} if item.get("section") == "python" else {} for item in items]
        self._write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode())

    def _write(self, body: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        length = 0
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        assert length, "the language server has ended"
        found: dict[str, Any] = json.loads(self._process.stdout.read(length))
        return found


def complete(text: str, python: Path, folder: Path) -> list[str]:
    """The names offered after `text` in a file that imports the package as hg."""
    file = folder / "program.py"
    file.write_text(f"import headgate as hg\n{text}\n", encoding="utf-8")
    server = LanguageServer(folder, python)
    try:
        document = {
            "uri": file.as_uri(),
            "languageId": "python",
            "version": 1,
            "text": file.read_text(encoding="utf-8"),
        }
        server.tell("textDocument/didOpen", {"textDocument": document})
        place = {"line": 1, "character": len(text)}
        found = server.ask("textDocument/completion", {"textDocument": {"uri": file.as_uri()}, "position": place})
    finally:
        server.close()
    return sorted(each["label"] for each in found["items"] if not each["label"].startswith("_"))


def main() -> None:
    python = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        names = complete("hg.", python, Path(folder).resolve())
    print(f"{len(names)} completions of hg.: {', '.join(names)}")


if __name__ == "__main__":
    main()
