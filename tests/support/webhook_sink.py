"""A real HTTP server that keeps what it is posted, and checks it: by its key, and by the reference."""

import base64
import hashlib
import hmac
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.documents.webhook_reference import FIELDS, check_message
from tests.support.until import PATIENCE_S


@dataclass(frozen=True)
class Posted:
    """One message as it came over the wire."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> dict[str, Any]:
        found = json.loads(self.body)
        assert isinstance(found, dict)
        return found

    @property
    def message_id(self) -> str:
        return self.headers["webhook-id"]

    def is_signed_by(self, secret: str) -> bool:
        """Check as Standard Webhooks 1 requires."""
        key = base64.b64decode(secret.removeprefix("whsec_"))
        signed = f"{self.message_id}.{self.headers['webhook-timestamp']}.".encode() + self.body
        wanted = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
        return f"v1,{wanted}" in self.headers["webhook-signature"].split(" ")


@dataclass
class WebhookSink:
    """Keeps messages; `answers` are the statuses of the next ones, 204 afterwards."""

    url: str = ""
    posted: list[Posted] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    location: str = ""
    answer: Callable[[Posted], bytes] = lambda _: b""
    """The body of what it answers."""
    may_answer: threading.Event = field(default_factory=threading.Event)
    """Cleared, a message is received and not answered."""

    def __post_init__(self) -> None:
        self.may_answer.set()

    def about(self, entity_id: str) -> list[Posted]:
        """Returns the requests about an entity."""
        return [one for one in self.posted if one.data["data"]["entityId"] == entity_id]

    def check(self) -> None:
        """Fail where a message in the standard format is not as the reference has it."""
        for one in self.posted:
            is_message = "webhook-signature" in one.headers and one.body.startswith(b'{"')
            if is_message and one.data.keys() == FIELDS:
                check_message(one.data)

    def events(self, entity_id: str) -> list[str]:
        """Returns the messages about an entity."""
        return [one.data["type"] for one in self.about(entity_id)]


@contextmanager
def webhook_sink(
    host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> Iterator[WebhookSink]:
    """Run the server on a free port of this machine; `host` is one of its addresses."""
    sink = WebhookSink()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            named = {name.lower(): value for name, value in self.headers.items()}
            sink.posted.append(Posted(self.path, named, body))
            sink.may_answer.wait(PATIENCE_S)
            self.send_response(sink.answers.pop(0) if sink.answers else 204)
            if sink.location:
                self.send_header("Location", sink.location)
            answer = sink.answer(sink.posted[-1])
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name there
            """Say nothing."""

        do_GET = do_POST  # noqa: N815 — its name there

    server = ThreadingHTTPServer((host, 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    sink.url = f"{'https' if tls else 'http'}://{host}:{server.server_port}/alarms"
    try:
        yield sink
        sink.check()
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
