"""Answers as the wire carries them, and the errors of every kind in one shape (spec 7)."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from http import HTTPStatus
from typing import Final, TypeAlias

import msgspec
from litestar import Response
from litestar.types import Send

from mudra.http.request.request_context import Envelope
from mudra.http.response.errors import Problem, problem_of
from mudra.http.response.response_body import (
    CsvText,
    ErrorBody,
    FindingsErrorBody,
    PdfFile,
    ResponseBody,
)
from mudra.server_protocol.raw_response import status_line
from mudra.shared.refusal import Refusal

_PRIVATE: Final = {
    "Cache-Control": "no-store",
    "Pragma": "no-cache",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
"""Also on answers that no layer of the framework sees: the hot path and its own refusals."""


HandlerResult: TypeAlias = ResponseBody | CsvText | PdfFile | Refusal
"""What a handler returns: the body of a success, or a refusal."""


class JsonResponse(msgspec.Struct, frozen=True):
    """One answer before it is framed as HTTP."""

    status: int
    body: bytes
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)

    def response(self) -> Response[bytes]:
        """Frame it for Litestar."""
        return Response(
            content=self.body,
            status_code=self.status,
            media_type="application/json",
            headers=dict(self.headers),
        )

    def whole(self, first: Iterable[tuple[bytes, bytes]], last: bytes) -> bytes:
        """Give the whole HTTP/1.1 message: `first` before its own headers, lines `last` behind."""
        lines = [
            _LINES.get(pair) or b"%s: %s\r\n" % _encoded(pair) for pair in self.headers.items()
        ]
        before = [b"%s: %s\r\n" % pair for pair in first]
        length = b"content-length: %d\r\n" % len(self.body)
        head = (status_line(self.status), *before, _JSON_LINE, *lines, length, last, b"\r\n")
        return b"".join((*head, self.body))

    async def send(self, send: Send) -> None:
        """Send it without a framework between, as the hot paths do."""
        headers = [(b"content-type", b"application/json")]
        headers += [_ENCODED.get(pair) or _encoded(pair) for pair in self.headers.items()]
        if self.status != HTTPStatus.NOT_MODIFIED:
            headers.append((b"content-length", b"%d" % len(self.body)))
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": False})


@lru_cache(maxsize=64)
def _header_name(name: str) -> bytes:
    return name.lower().encode()


def _encoded(pair: tuple[str, str]) -> tuple[bytes, bytes]:
    return _header_name(pair[0]), pair[1].encode()


_ENCODED: Final = {pair: _encoded(pair) for pair in _PRIVATE.items()}
_LINES: Final = {pair: b"%s: %s\r\n" % encoded for pair, encoded in _ENCODED.items()}
_JSON_LINE: Final = b"content-type: application/json\r\n"


def success(
    envelope: Envelope,
    body: ResponseBody,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> JsonResponse:
    """Return a success with its envelope; never cached, since it may carry a token."""
    return JsonResponse(
        status,
        envelope.encode(body),
        {**_PRIVATE, "X-Request-Id": envelope.txn_id, **(headers or {})},
    )


def refusal(envelope: Envelope, outcome: Refusal) -> JsonResponse:
    """Returns the error body of a refusal."""
    return response_body(envelope, problem_of(outcome))


async def finished(
    envelope: Envelope, outcome: HandlerResult, status: int = 200
) -> Response[bytes]:
    """Return the response for what a handler returned, once its transaction has ended."""
    if not isinstance(outcome, PdfFile):
        return response_of(envelope, outcome, status)
    made = await outcome.make()
    if isinstance(made, Refusal):
        return response_of(envelope, made, status)
    return _file(envelope, made, "application/pdf")


def _file(envelope: Envelope, content: bytes, media_type: str) -> Response[bytes]:
    return Response(
        content,
        media_type=media_type,
        headers={"Cache-Control": "no-store", "X-Request-Id": envelope.txn_id},
    )


def response_of(
    envelope: Envelope, outcome: ResponseBody | CsvText | Refusal, status: int = 200
) -> Response[bytes]:
    """Return the response for what a handler returned; `status` is that of a success.

    `X-Request-Id` is the transaction ID of the request, or that of the document it sent.
    """
    if isinstance(outcome, Refusal):
        return refusal(envelope, outcome).response()
    if isinstance(outcome, CsvText):
        return _file(envelope, outcome.text.encode(), "text/csv")
    if outcome.txn_id_of_document:
        envelope = msgspec.structs.replace(envelope, txn_id=outcome.txn_id_of_document)
    return success(envelope, outcome, status=status).response()


def response_body(envelope: Envelope, problem: Problem) -> JsonResponse:
    """Return the error body of spec 7, with the findings in a document if there are any."""
    fields = {"error_code": problem.code.value, "error_msg": problem.sentence}
    body: ErrorBody = ErrorBody(**fields)
    if problem.findings:
        body = FindingsErrorBody(**fields, findings=problem.findings)
    return JsonResponse(
        problem.status,
        envelope.encode(body),
        {**_PRIVATE, "X-Request-Id": envelope.txn_id, **problem.headers},
    )
