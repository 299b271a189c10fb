"""Answers of the registry in the form that the network published, for clients written for it.

By a setting: `responseCode` is a number there and `responseText` a word of its own, also in
refusals, whose body of part 7 stays whole. Reads that succeed are the entries, in both forms.
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

import msgspec
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from litestar.types.asgi_types import HTTPResponseStartEvent

_JSON: Final = b"application/json"
_TEXTS: Final = {
    HTTPStatus.NOT_FOUND: "Entity not found",
    HTTPStatus.CONFLICT: "Entity already exist",
}
"""What the description of the network's registry says; for others code and name of the status."""
_BAD: Final = 400


def with_published_answers(app: ASGIApp, prefixes: Sequence[str]) -> ASGIApp:
    """Let `app` answer writes and refusals below these prefixes in the published form."""
    starts = tuple(f"{prefix}/" for prefix in prefixes)

    async def answering(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == ScopeType.HTTP and scope["path"].startswith(starts):
            await app(scope, receive, _Published(send, writes=_writes(scope["method"])))
        else:
            await app(scope, receive, send)

    return answering


def _writes(method: str) -> bool:
    return method in {"POST", "PUT", "DELETE"}


class _Published:
    """Holds the head of an answer back until its body is rewritten."""

    def __init__(self, send: Send, *, writes: bool) -> None:
        self._send, self._writes = send, writes
        self._start: HTTPResponseStartEvent | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            is_json = dict(message["headers"]).get(b"content-type", b"").startswith(_JSON)
            if is_json and (message["status"] >= _BAD or self._writes):
                self._start = message
                return
        elif message["type"] == "http.response.body" and self._start is not None:
            self._body += message["body"]
            if message.get("more_body"):
                return
            message["body"] = published(self._start["status"], self._body)
            kept = [pair for pair in self._start["headers"] if pair[0] != b"content-length"]
            length = (b"content-length", b"%d" % len(message["body"]))
            self._start["headers"] = [*kept, length]
            await self._send(self._start)
        await self._send(message)


def published(status: int, body: bytes) -> bytes:
    """Return the body with the published fields; what has none of ours, as it is."""
    fields: object = msgspec.json.decode(body) if body else None
    if not isinstance(fields, dict) or (status < _BAD and "responseCode" not in fields):
        return body
    known = HTTPStatus(status)
    text = _TEXTS.get(known) or f"{status} {known.name}"
    return msgspec.json.encode({**fields, "responseCode": status, "responseText": text})


def describe_published(schemas: dict[str, object]) -> None:
    """Describe the written form of `responseCode` in the schemas of the OpenAPI document."""
    written = schemas["WriteResponse"]
    assert isinstance(written, dict)
    written["properties"] |= {
        "responseCode": {"type": "integer", "description": "the status", "examples": [200]},
        "responseText": {"type": "string", "examples": ["200 OK"]},
    }
