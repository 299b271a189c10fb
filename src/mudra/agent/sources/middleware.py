"""Middleware that reports to an agent the calls that a Python program makes and receives.

    httpx2.AsyncClient(transport=ReportingTransport(reporter, fip_of_host))
    app = ReportingApp(app, reporter, fip_of_request)

Only calls that count are read; no body is delayed or changed.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from typing import Final

import httpx2

from mudra.agent.sources.python_call import MAX_BODY, Reporter
from mudra.agent.sources.route import Routes
from mudra.metrics.payload.catalogue import NotificationType, RequestType

FipOfHost = Callable[[str], str]
"""The FIP at a host; empty when it is none."""
FipOfRequest = Callable[[Mapping[str, str], bytes], str]
"""The FIP that sent a request, by its headers (lower case) and body; empty when it is none."""

Message = MutableMapping[str, object]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, object], Receive, Send], Awaitable[None]]

_BODIES: Final = {RequestType.FI_REQUEST.value, RequestType.FI_FETCH.value}


class ReportingTransport(httpx2.AsyncBaseTransport):
    """An httpx2 transport that reports calls to FIPs and otherwise is the one it wraps."""

    def __init__(
        self,
        reporter: Reporter,
        fip_of_host: FipOfHost,
        inner: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._reporter, self._fip_of_host = reporter, fip_of_host
        self._inner = inner or httpx2.AsyncHTTPTransport()
        self._routes = Routes()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request; reporting it does not delay it."""
        code = self._routes.code(request.method, request.url.path, inbound=False)
        fip = self._fip_of_host(request.url.host) if code else ""
        if not fip:
            return await self._inner.handle_async_request(request)
        timing = _Timing(self._reporter, fip, request.method, request.url.path)
        try:
            response = await self._inner.handle_async_request(request)
        except BaseException:  # reported and raised again: a cancelled call had no answer either
            timing.finish(None)
            raise
        if code in _BODIES and response.is_closed:
            timing.finish(response.status_code, response.content)  # read already by the inner one
        elif code in _BODIES and isinstance(response.stream, httpx2.AsyncByteStream):
            timing.answered()
            response.stream = _Reading(response.stream, timing, response)
        else:
            timing.finish(response.status_code)
        return response

    async def aclose(self) -> None:
        """Close the wrapped transport."""
        await self._inner.aclose()


class _Timing:
    """Times one call and reports it once."""

    def __init__(self, reporter: Reporter, fip: str, method: str, path: str) -> None:
        self._reporter, self._fip, self._method, self._path = reporter, fip, method, path
        self._started = reporter.clock.monotonic()
        self._duration: int | None = None
        self._reported = False

    def answered(self) -> None:
        """Stop the time: the answer's headers are here."""
        self._duration = self._reporter.clock.monotonic() - self._started

    def finish(self, status: int | None, body: bytes = b"") -> None:
        """Report the call."""
        if self._reported:
            return
        self._reported = True
        duration = self._duration
        if duration is None:
            duration = self._reporter.clock.monotonic() - self._started
        self._reporter.call(
            self._fip, self._path, took_ms=duration, status=status, method=self._method,
            body=body,
        )  # fmt: skip  # the fields in their order


class _Reading(httpx2.AsyncByteStream):
    """A response body that is reported when it has been read or closed."""

    def __init__(
        self, inner: httpx2.AsyncByteStream, timing: _Timing, response: httpx2.Response
    ) -> None:
        self._inner, self._timing = inner, timing
        self._status = response.status_code
        self._coding = response.headers.get("content-encoding", "identity")
        self._seen = bytearray()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._inner:
            if len(self._seen) <= MAX_BODY:
                self._seen += part
            yield part

    async def aclose(self) -> None:
        self._timing.finish(self._status, self._decoded())
        await self._inner.aclose()

    def _decoded(self) -> bytes:
        headers = {"content-encoding": self._coding}
        try:
            return httpx2.Response(self._status, headers=headers, content=bytes(self._seen)).content
        except httpx2.DecodingError:
            return b""  # cut short, or no such coding: the call counts, its body does not


class ReportingApp:
    """ASGI middleware that reports notifications from FIPs and otherwise is the app it wraps."""

    def __init__(self, app: App, reporter: Reporter, fip_of_request: FipOfRequest) -> None:
        self._app, self._reporter, self._fip_of_request = app, reporter, fip_of_request
        self._routes = Routes()

    async def __call__(
        self, scope: MutableMapping[str, object], receive: Receive, send: Send
    ) -> None:
        """Serve the request; reporting it does not delay it."""
        method, path = str(scope.get("method", "")), str(scope.get("path", ""))
        code = self._routes.code(method, path, inbound=True) if scope["type"] == "http" else ""
        if not code:
            await self._app(scope, receive, send)
            return
        clock = self._reporter.clock
        started = clock.monotonic()
        seen = bytearray()
        statuses: list[int] = []

        async def watched_receive() -> Message:
            message = await receive()
            part = message.get("body", b"")
            if isinstance(part, bytes) and len(seen) <= MAX_BODY:
                seen.extend(part)
            return message

        async def watched_send(message: Message) -> None:
            status = message.get("status")
            if message["type"] == "http.response.start" and isinstance(status, int):
                statuses.append(status)
            await send(message)

        try:
            await self._app(scope, watched_receive, watched_send)
        finally:
            body = bytes(seen)
            fip = self._fip_of_request(_headers(scope.get("headers")), body)
            if fip:
                wanted = code == NotificationType.FI.value
                self._reporter.call(
                    fip, path, took_ms=clock.monotonic() - started,
                    status=statuses[0] if statuses else 500, method=method, inbound=True,
                    body=body if wanted else b"",
                )  # fmt: skip  # the fields in their order


def _headers(headers: object) -> dict[str, str]:
    if not isinstance(headers, list | tuple):
        return {}
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}
