"""A listener on this machine: whoever calls it was made to by a page."""

from __future__ import annotations

import socket
import threading


class Beacon:
    """Counts connections and answers none of them usefully."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self.calls = 0
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> Beacon:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(5)

    def _listen(self) -> None:
        while True:
            try:
                caller, _ = self._socket.accept()
            except OSError:
                return
            self.calls += 1
            with caller:
                caller.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
