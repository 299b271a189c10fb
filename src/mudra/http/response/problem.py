"""An error as the wire shows it (spec 7)."""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, TypeVar, cast

from msgspec import Struct, field

from mudra.shared.finding import Finding
from mudra.shared.refusal import ErrorCode, Refusal
from mudra.shared.time_text import iso_ms
from mudra.tokens.secrets.reset_rule import MAX_RESETS


class Problem(Struct, frozen=True):
    """An error as the wire shows it."""

    status: int
    code: ErrorCode
    sentence: str
    headers: Mapping[str, str] = field(default_factory=dict)
    findings: Sequence[Finding] = ()
    """Everything wrong with a document; the sentence names the first."""


R = TypeVar("R", bound=Refusal)


def error_row(
    refusal: type[R], problem: Callable[[R], Problem]
) -> tuple[type[Refusal], Callable[[Refusal], Problem]]:
    """Check at type-check time that a row's text reads only what its refusal has."""
    return refusal, cast("Callable[[Refusal], Problem]", problem)


def retry_after(until: datetime, now: datetime) -> dict[str, str]:
    """Write `Retry-After`: whole seconds, never earlier than `until` (RFC 9110 10.2.3)."""
    return {"Retry-After": str(max(1, math.ceil((until - now).total_seconds())))}


CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="mudra"'}


def invalid(text: str, status: int = 400, headers: Mapping[str, str] | None = None) -> Problem:
    """The request itself is wrong."""
    return Problem(status, ErrorCode.INVALID_REQUEST, text, headers or {})


def unauthorized(text: str) -> Problem:
    """Credentials, tokens or rights."""
    return Problem(401, ErrorCode.UNAUTHORIZED, text, CHALLENGE)


def not_found(text: str) -> Problem:
    """There is nothing by this name."""
    return Problem(404, ErrorCode.NOT_FOUND, text)


def conflict(text: str) -> Problem:
    """The present state does not permit it."""
    return Problem(409, ErrorCode.CONFLICT, text)


def busy(retry_after_s: int, text: str) -> Problem:
    """Not available now."""
    return Problem(503, ErrorCode.SERVICE_UNAVAILABLE, text, {"Retry-After": str(retry_after_s)})


def rate_limited(retry_after_s: int, text: str) -> Problem:
    """A limit other than that of resets is reached."""
    return Problem(429, ErrorCode.TOO_MANY_ATTEMPTS, text, {"Retry-After": str(retry_after_s)})


def reset_too_soon(retry_at: datetime, now: datetime) -> Problem:
    """The waiting period after a reset still runs (spec 8)."""
    return _reset_limit(
        ErrorCode.RESET_TOO_SOON,
        "a reset is permitted 5 minutes after the last one: again from",
        retry_at,
        now,
    )


def reset_limit_reached(retry_at: datetime, now: datetime) -> Problem:
    """All resets of 24 hours are used (spec 8)."""
    return _reset_limit(
        ErrorCode.RESET_LIMIT_REACHED,
        f"{MAX_RESETS} resets in 24 hours are reached: the next is permitted from",
        retry_at,
        now,
    )


def _reset_limit(code: ErrorCode, text: str, retry_at: datetime, now: datetime) -> Problem:
    wait = retry_after(retry_at, now)
    return Problem(
        429,
        code,
        f"{text} {iso_ms(retry_at)}",
        {
            **wait,
            "RateLimit-Policy": f'"reset";q={MAX_RESETS};w=86400',
            "RateLimit": f'"reset";r=0;t={wait["Retry-After"]}',
        },
    )
