"""Traces by OpenTelemetry, sent to a collector by OTLP over HTTP; loaded only where it is set.

Names and attributes are those of the semantic conventions for HTTP servers and databases. A span
has method, path, route, status and `txnId` of a request, the text of a statement without its
values, or the name of a job: never a client's address, a header, a body or a token. A caller's
`traceparent` (W3C Trace Context) is continued, but never decides whether a request is sampled.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final
from uuid import uuid4

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send
from msgspec.structs import replace
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Span, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from mudra.bootstrap.observability.logging import shown_path
from mudra.http.server.instrumentation import ObserveRequest
from mudra.jobs.scheduler import Job
from mudra.shared.build_version import version
from mudra.shared.clock import Clock

EXPORT_S: Final = 2.0
"""A collector that does not answer costs a stop no more; spans that wait are dropped then."""
MAX_WAITING: Final = 4096
"""Spans in memory; more are dropped, requests never wait."""
MAX_STATEMENT: Final = 2000
_FAULT: Final = 500
_OTHER: Final = "_OTHER"
"""What the conventions call a method or a fault without a name of its own."""
_METHODS: Final = frozenset(
    {"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"}
)
_TRACEPARENT: Final = b"traceparent"
_propagator: Final = TraceContextTextMapPropagator()


class Tracing:
    """The traces of one process; made after it was forked, since it sends from a thread."""

    def __init__(
        self, otlp_url: str, share: float, process: str, scheme: str, clock: Clock
    ) -> None:
        """`share` of requests and jobs are traced; `process` names this one, `clock` is real.

        `scheme` is that of the public address: the proxy that ends TLS calls by plain HTTP.
        """
        self._clock = clock
        self._scheme = scheme
        chosen = TraceIdRatioBased(share)
        facts = {
            "service.name": "mudra",
            "service.version": version(),
            "service.instance.id": str(uuid4()),
        }
        self._provider = TracerProvider(
            resource=Resource.create({**facts, "mudra.process": process}),
            sampler=ParentBased(
                chosen, remote_parent_sampled=chosen, remote_parent_not_sampled=chosen
            ),
            shutdown_on_exit=False,
        )
        exporter = OTLPSpanExporter(f"{otlp_url}/v1/traces", timeout=EXPORT_S)
        self._provider.add_span_processor(
            BatchSpanProcessor(exporter, MAX_WAITING, schedule_delay_millis=1000)
        )
        self._tracer = self._provider.get_tracer("mudra")

    def traced(self, app: ASGIApp) -> ASGIApp:
        """Have a span for each request that `app` answers; `observing` gives it name and facts."""

        async def tracing(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != ScopeType.HTTP:
                await app(scope, receive, send)
                return
            parent = _parent(scope["headers"])
            with self._tracer.start_as_current_span(
                "request",
                parent,
                SpanKind.SERVER,
                record_exception=False,
                set_status_on_exception=False,
            ):
                await app(scope, receive, send)

        return tracing

    def observing(self, observe: ObserveRequest) -> ObserveRequest:
        """Write the facts of each observed request to its span.

        A request that was answered without `traced`, on the hot path, gets a span of its own.
        """

        def observing(  # the shape of http/server/instrumentation.py
            method: str,
            path: str,
            route: str,
            status: int,
            seconds: float,
            address: str,
            txn_id: str,
        ) -> None:
            span = trace.get_current_span()
            if span.get_span_context().is_valid:
                observe(method, path, route, status, seconds, address, txn_id)
                self._describe(span, method, path, route, status, txn_id)
                return
            now = int(self._clock().timestamp() * 1e9)
            begun = now - int(seconds * 1e9)
            alone = self._tracer.start_span("request", kind=SpanKind.SERVER, start_time=begun)
            with trace.use_span(alone):
                observe(method, path, route, status, seconds, address, txn_id)
            self._describe(alone, method, path, route, status, txn_id)
            alone.end(now)

        return observing

    def statement_begun(self, statement: str) -> object:
        """Begin the span of a database statement, of which only the text is shown."""
        operation = statement.split(maxsplit=1)[0].upper() if statement.strip() else ""
        span = self._tracer.start_span(operation or "postgresql", kind=SpanKind.CLIENT)
        if span.is_recording():
            span.set_attribute("db.system.name", "postgresql")
            if operation:
                span.set_attribute("db.operation.name", operation)
            span.set_attribute("db.query.text", statement[:MAX_STATEMENT])
        return span

    def statement_ended(self, begun: object, *, failed: bool) -> None:
        """End the span of a statement."""
        assert isinstance(begun, Span)
        if failed:
            begun.set_status(StatusCode.ERROR)
            begun.set_attribute("error.type", _OTHER)
        begun.end()

    def jobs(self, jobs: Sequence[Job]) -> list[Job]:
        """Have a span for each run of these jobs."""
        return [replace(job, run=self._run(job.name, job.run)) for job in jobs]

    def _run(self, name: str, run: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
        async def traced() -> None:
            with self._tracer.start_as_current_span(
                f"job {name}", record_exception=False, set_status_on_exception=False
            ) as span:
                try:
                    await run()
                except Exception as error:
                    # Its kind alone: the text may have what a span must not.
                    span.set_status(StatusCode.ERROR)
                    span.set_attribute("error.type", type(error).__name__)
                    raise

        return traced

    def ids(self) -> Mapping[str, str]:
        """Return the IDs of the current span, as a line of the log has them."""
        context = trace.get_current_span().get_span_context()
        if not context.is_valid:
            return {}
        return {
            "trace_id": trace.format_trace_id(context.trace_id),
            "span_id": trace.format_span_id(context.span_id),
        }

    def _describe(
        self, span: Span, method: str, path: str, route: str, status: int, txn_id: str
    ) -> None:
        if not span.is_recording():
            return
        known = method if method in _METHODS else _OTHER
        named = known if known is not _OTHER else "HTTP"
        span.update_name(f"{named} {route}" if route else named)
        facts: dict[str, str | int] = {
            "http.request.method": known,
            "url.path": shown_path(path),
            "url.scheme": self._scheme,
            "http.response.status_code": status,
        }
        if route:
            facts["http.route"] = route
        if txn_id:
            facts["mudra.txn_id"] = txn_id
        if status >= _FAULT:
            facts["error.type"] = str(status)
            span.set_status(StatusCode.ERROR)
        span.set_attributes(facts)

    def close(self) -> None:
        """Send what waits, within `EXPORT_S`, and stop."""
        self._provider.shutdown()


def _parent(headers: Iterable[tuple[bytes, bytes]]) -> Context | None:
    for name, value in headers:
        if name == _TRACEPARENT:
            return _propagator.extract({"traceparent": value.decode("latin-1")})
    return None
