"""The rows of the table of errors (errors.py) that are about the body of a request."""

from collections.abc import Callable
from typing import Final

from mudra.http.request.body.body_errors import (
    BodyReadLate,
    BodyTooLarge,
    BodyTooSlow,
    ClientGone,
    MalformedBody,
    UnsupportedEncoding,
    UnsupportedMediaType,
)
from mudra.http.response.problem import ErrorCode, Problem, error_row, invalid
from mudra.shared.refusal import Refusal

_CLOSE: Final = {"Connection": "close"}

BODY_ROWS: Final[tuple[tuple[type[Refusal], Callable[[Refusal], Problem]], ...]] = (
    error_row(MalformedBody, lambda r: invalid(r.sentence, 400, _CLOSE if r.unread else {})),
    error_row(ClientGone, lambda _: invalid("the body ended early", 400, _CLOSE)),
    error_row(
        BodyTooSlow,
        lambda r: invalid(f"the body must arrive within {r.limit_s:g} seconds", 408, _CLOSE),
    ),
    error_row(
        BodyReadLate,
        lambda _: Problem(
            503,
            ErrorCode.SERVICE_UNAVAILABLE,
            "this node is too busy and read the body late; try again",
            {"Retry-After": "2", **_CLOSE},
        ),
    ),
    error_row(
        BodyTooLarge,
        lambda r: Problem(
            413,
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"the body must be at most {r.limit} bytes",
            _CLOSE,
        ),
    ),
    error_row(
        UnsupportedMediaType,
        lambda r: Problem(
            415, ErrorCode.UNSUPPORTED_MEDIA_TYPE, f"Content-Type must be {r.allowed}"
        ),
    ),
    error_row(
        UnsupportedEncoding,
        lambda _: Problem(
            415, ErrorCode.UNSUPPORTED_MEDIA_TYPE, "Content-Encoding is not supported here"
        ),
    ),
)
