"""A receiver of alerts on loopback that answers as it is told to, and notices to send to it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from headgate.gate.notification import Notification, NotificationCause


class Request(NamedTuple):
    path: str
    headers: dict[str, str]
    content: Any


class Answer(NamedTuple):
    status: int = 200
    body: bytes = b"ok"
    headers: tuple[tuple[str, str], ...] = ()
    delay: float = 0.0
    drip: float = 0.0  # seconds between bytes of the headers


class Receiver:
    """Gives the answers in turn, the last one for ever."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers) or [Answer()]
        self.requests: list[Request] = []
        self.url = ""

    def taken(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def receiving(*answers: Answer) -> Iterator[Receiver]:
    receiver = Receiver(*answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = receiver.taken()
            receiver.requests.append(Request(self.path, dict(self.headers.items()), content))
            time.sleep(answer.delay)
            with suppress(OSError):  # the sender may not have waited
                self.answer(answer)

        def answer(self, answer: Answer) -> None:
            if answer.drip:
                for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"y" * 200:
                    self.wfile.write(bytes([byte]))
                    time.sleep(answer.drip)
            self.send_response(answer.status)
            for name, value in (*answer.headers, ("Content-Length", str(len(answer.body)))):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_: object) -> None: ...

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

    with Server(("127.0.0.1", 0), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()


def notice(
    partition: str = "2026-11-14", status: str = "fail", previous: str | None = "pass", **other: Any
) -> Notification:
    is_trouble = status != "pass"
    given: dict[str, Any] = {
        "dataset": "orders",
        "partition": partition,
        "revision": 1,
        "kind": "held" if is_trouble else "recovered",
        "status": status,
        "action": "held" if is_trouble else "published",
        "headline": f"orders {partition}: {'failed and was held' if is_trouble else 'passed and was published'}.",
        "at": 1_794_636_000.0,
        "previous_status": previous,
        **other,
    }
    return Notification(**given)


FULL = notice(
    causes=(
        NotificationCause(
            "mean(price) is 1.2", "allowed 5 to 500, learned from 30 runs; before 41.3", "1 in 4,000 runs"
        ),
        NotificationCause("completeness(id) is 0.97", "declared: 1"),
    ),
    owner="payments@",
    commands=("headgate explain orders 2026-11-14", "headgate accept orders 2026-11-14 --note '...'"),
    changed=("new column: tariff <b> & more",),
    link="https://dq.example.org/orders?day=2026-11-14&v=1",
)
