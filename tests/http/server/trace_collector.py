"""A collector of OpenTelemetry traces on loopback (OTLP over HTTP) that keeps what it gets."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass
class Collector:
    """What came; `wait` returns the first span that is like this."""

    url: str
    raw: list[bytes] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    came: threading.Condition = field(default_factory=threading.Condition)

    def wait(self, name: str, txn_id: str = "", within_s: float = 30) -> Span:
        """Wait for a span of this name, of this transaction if one is named."""
        with self.came:
            assert self.came.wait_for(lambda: self._like(name, txn_id), within_s), name
            return self._like(name, txn_id)[0]

    def _like(self, name: str, txn_id: str) -> list[Span]:
        return [
            one
            for one in self.spans
            if one.name == name and (not txn_id or facts(one).get("mudra.txn_id") == txn_id)
        ]

    def take(self, body: bytes) -> None:
        """Keep a body."""
        message = ExportTraceServiceRequest.FromString(body)
        with self.came:
            self.raw.append(body)
            for resource in message.resource_spans:
                for scope in resource.scope_spans:
                    self.spans.extend(scope.spans)
            self.came.notify_all()


def facts(span: Span) -> dict[str, str]:
    """The attributes of a span, as texts."""
    return {one.key: one.value.string_value or str(one.value.int_value) for one in span.attributes}


@contextmanager
def trace_collector() -> Iterator[Collector]:
    """Collect until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            packed = self.headers.get("Content-Encoding") == "gzip"
            collector.take(gzip.decompress(body) if packed else body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its shape
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector = Collector(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
