"""A metrics receiver and token endpoint that misbehaves on purpose.

Every fault comes from one seeded generator, so a failure is repeated with the
seed that `describe` prints. What it accepts it keeps by the service's
rules: same window and content is a duplicate, other content under the same
txnId is 409, other content under another txnId replaces.
"""

import asyncio
import contextlib
import random
import urllib.parse
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime

import httpx2
import msgspec

from mudra.metrics.payload.validation import CheckedReport, check_report

GARBAGE = [
    b"",
    b"{",
    b"<html>ok</html>",
    b'{"status": 5}',
    b"\xff\xfe",
    b"null",
    b"[" * 5000,
    b'{"status":"accepted","receiptId":""}',
]
MOST_DELAY = 15.0
"""Seconds."""
PUSH = "/metrics/perf/v1/push"
TOKEN = "/iam/v1/entity/token/generate"


class Fault(Exception):
    """The connection breaks instead of an answer."""


@dataclass
class Reply:
    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    half: bool = False
    """The connection ends in the middle of the body."""
    after: float = 0.0
    """Seconds that the answer takes."""


@dataclass
class HostileOperator:
    seed: int
    rate: float = 0.0
    """Share of pushes that are answered with a fault."""
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    pass_time: Callable[[int], None] | None = None
    """Moves the clock of the test while an answer is late; without it, real time passes."""
    hurry: float = 60.0
    """How much sooner a late answer comes in real time."""
    secret: str = "s3cret"
    old_secret: str | None = None
    token_life: int = 86_400
    down: bool = False
    refuse_windows: set[str] = field(default_factory=set)
    stored: dict[tuple[str, str], CheckedReport] = field(default_factory=dict)
    replaced: list[tuple[str, str]] = field(default_factory=list)
    refused: list[bytes] = field(default_factory=list)
    pushes: list[datetime] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    tokens: list[datetime] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    faults: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.good: set[str] = set()

    def describe(self) -> str:
        return (
            f"hostile operator: seed={self.seed}, faults={self.faults}, stored={len(self.stored)}"
        )

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> Reply:
        if self.down:
            raise Fault("down")
        if path == TOKEN:
            return self._token(body)
        if path != PUSH:
            return Reply(404, b"{}")
        if headers.get("authorization", "").removeprefix("Bearer ") not in self.good:
            return Reply(401, b'{"errorCode":"Unauthorized"}')
        self.pushes.append(self.now())
        if "mudra-agent-note" in headers:
            self.notes.append(headers["mudra-agent-note"])
        if self.random.random() >= self.rate:
            return self._store(body)
        kind = self.random.choice(
            [
                "500",
                "502",
                "503",
                "429",
                "408",
                "425",
                "reset",
                "half",
                "garbage",
                "redirect",
                "wrong type",
                "late reset",
                "delay",
                "401",
            ]
        )
        self.faults[kind] = self.faults.get(kind, 0) + 1
        return self._fault(kind, body)

    def _fault(self, kind: str, body: bytes) -> Reply:
        if kind == "401":
            self.good.clear()
            return Reply(401, b'{"errorCode":"TokenRevoked"}')
        if kind.isdigit():
            headers = (
                {"retry-after": str(self.random.randint(0, 20))} if kind in {"429", "503"} else {}
            )
            return Reply(int(kind), b'{"errorCode":"ServiceUnavailable"}', headers)
        if kind == "reset":
            raise Fault("reset")
        if kind == "redirect":
            return Reply(307, b"", {"location": "http://elsewhere.invalid/"})
        stored = self._store(body)
        if kind == "delay":
            stored.after = self.random.uniform(0, MOST_DELAY)
            return stored
        if kind == "late reset":
            raise Fault("reset after storing")
        if kind == "half":
            return Reply(stored.status, stored.body, stored.headers, half=True)
        if kind == "wrong type":
            return Reply(200, b"accepted", {"content-type": "text/plain"})
        return Reply(200, self.random.choice(GARBAGE))

    def _store(self, body: bytes) -> Reply:
        checked = check_report(body, self.now())
        if not isinstance(checked, CheckedReport):
            self.refused.append(body)
            sentences = [finding.sentence() for finding in checked.findings[:3]]
            return Reply(
                400,
                msgspec.json.encode({"errorCode": "InvalidRequest", "errorMsg": str(sentences)}),
            )
        window = checked.report.from_date_time
        if window in self.refuse_windows:
            return Reply(422, b'{"errorCode":"InvalidRequest"}')
        key = (checked.tag.value, window)
        former = self.stored.get(key)
        status = "accepted"
        if former is not None:
            if former.content_hash == checked.content_hash:
                status = "duplicate"
            elif former.report.txn_id == checked.report.txn_id:
                return Reply(409, b'{"errorCode":"IdempotencyError"}')
            else:
                status = "replaced"
                self.replaced.append(key)
        self.stored[key] = checked
        self.order.append(window)
        return Reply(
            200,
            msgspec.json.encode(
                {
                    "ver": "1.0.0",
                    "txnId": checked.report.txn_id,
                    "status": status,
                    "receiptId": f"r-{len(self.order)}",
                    "findings": [],
                }
            ),
        )

    def _token(self, body: bytes) -> Reply:
        form = dict(urllib.parse.parse_qsl(body.decode()))
        secret = form.get("secret")
        if form.get("id") != "AA-1" or secret not in {self.secret, self.old_secret}:
            return Reply(401, b'{"errorCode":"Unauthorized","errorMsg":"no"}')
        self.tokens.append(self.now())
        token = f"token-{len(self.tokens)}"
        self.good.add(token)
        answer: dict[str, object] = {
            "accessToken": token,
            "expiresIn": self.token_life,
            "tokenType": "Bearer",
        }
        if secret == self.old_secret:
            answer["message"] = "this secret is in its grace period, which ends soon"
        return Reply(200, msgspec.json.encode(answer))

    @property
    def transport(self) -> "OperatorTransport":
        return OperatorTransport(self)


class OperatorTransport(httpx2.AsyncBaseTransport):
    """The operator without a network, for tests in moved time."""

    def __init__(self, operator: HostileOperator) -> None:
        self._operator = operator

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        operator = self._operator
        operator.in_flight += 1
        operator.most_in_flight = max(operator.most_in_flight, operator.in_flight)
        try:
            body = await request.aread()
            await asyncio.sleep(0)
            try:
                reply = operator.answer(request.url.path, dict(request.headers), body)
            except Fault as fault:
                raise httpx2.ReadError(str(fault)) from None
            if operator.pass_time is not None:
                operator.pass_time(int(reply.after * 1000))
            headers = {"date": format_datetime(operator.now(), usegmt=True), **reply.headers}
            if reply.half:
                return httpx2.Response(reply.status, headers=headers, stream=_Half(reply.body))
            return httpx2.Response(reply.status, headers=headers, content=reply.body)
        finally:
            operator.in_flight -= 1


class _Half(httpx2.AsyncByteStream):
    def __init__(self, body: bytes) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body[: len(self._body) // 2]
        raise httpx2.RemoteProtocolError("the answer ended in its middle")


@contextlib.asynccontextmanager
async def listening(operator: HostileOperator) -> AsyncIterator[str]:
    """The operator on a socket, for tests with a real agent; gives its address."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                first, *rest = head.decode("latin-1").split("\r\n")
                headers = {
                    name.lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in rest if line)
                }
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                try:
                    reply = operator.answer(first.split(" ")[1], headers, body)
                except Fault:
                    break
                await asyncio.sleep(reply.after / operator.hurry)
                lines = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
                text = f"HTTP/1.1 {reply.status} X\r\ncontent-length: {len(reply.body)}\r\ndate: {format_datetime(operator.now(), usegmt=True)}\r\n{lines}\r\n"
                writer.write(
                    text.encode()
                    + (reply.body[: len(reply.body) // 2] if reply.half else reply.body)
                )
                await writer.drain()
                if reply.half:
                    break
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
