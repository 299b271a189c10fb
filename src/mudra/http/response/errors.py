"""The one table from a refusal to status, `errorCode`, sentence and `Retry-After` (spec 7).

`errorCode` is a stable word of decisions.md part 3. Sentences name the field
and never hold anything secret.
"""

import enum
import math
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from mudra.http.request.body_errors import (
    BodyTooLarge,
    BodyTooSlow,
    ClientGone,
    MalformedBody,
    UnsupportedEncoding,
    UnsupportedMediaType,
)
from mudra.http.request.envelope import EnvelopeFault, iso_ms
from mudra.identity.accounts.email_link import LinkRefusal
from mudra.identity.accounts.password_rules import PasswordRefusal
from mudra.identity.ports import HashingBusy
from mudra.identity.sign_in.sign_in import SignInRefused, TooManyAttempts
from mudra.tokens.authentication.secret_check import SecretExpired, SecretGraceEnded, SecretUnknown
from mudra.tokens.authentication.token_check import TokenExpired, TokenInvalid, TokenRevoked
from mudra.tokens.secrets.manage_secret import NothingInGrace, NotYourEntity
from mudra.tokens.secrets.reset_rule import MAX_RESETS, ResetLimitReached, ResetTooSoon


class ErrorCode(enum.StrEnum):
    """The stable words of `errorCode`."""

    INVALID_REQUEST = "InvalidRequest"
    UNAUTHORIZED = "Unauthorized"
    TOKEN_EXPIRED = "TokenExpired"  # noqa: S105  # a word of the interface
    TOKEN_REVOKED = "TokenRevoked"  # noqa: S105
    SECRET_EXPIRED = "SecretExpired"  # noqa: S105
    SECRET_GRACE_ENDED = "SecretGraceEnded"  # noqa: S105
    RESET_TOO_SOON = "ResetTooSoon"
    RESET_LIMIT_REACHED = "ResetLimitReached"
    TOO_MANY_ATTEMPTS = "TooManyAttempts"
    NOT_FOUND = "NotFound"
    CONFLICT = "Conflict"
    PAYLOAD_TOO_LARGE = "PayloadTooLarge"
    UNSUPPORTED_MEDIA_TYPE = "UnsupportedMediaType"
    IDEMPOTENCY_ERROR = "IdempotencyError"
    INTERNAL_ERROR = "InternalError"
    SERVICE_UNAVAILABLE = "ServiceUnavailable"


class Problem(Struct, frozen=True):
    """An error as the wire shows it."""

    status: int
    code: ErrorCode
    sentence: str
    headers: Mapping[str, str] = field(default_factory=dict)


class InvalidField(Struct, frozen=True):
    """A member of the request is wrong: the sentence names it and what is allowed."""

    sentence: str


class NoAuthorization(Struct, frozen=True):
    """The Authorization header is missing or cannot be read."""


class RateLimited(Struct, frozen=True):
    """Too many requests of this kind; try again after `retry_after_s` seconds."""

    retry_after_s: int


class NoSuchAddress(Struct, frozen=True):
    """No resource at this path."""


class MethodNotAllowed(Struct, frozen=True):
    """The resource exists; this method does not apply to it."""

    allowed: tuple[str, ...]


class Unavailable(Struct, frozen=True):
    """The database or a part that is needed did not answer."""

    retry_after_s: int = 2


class Unexpected(Struct, frozen=True):
    """A fault of ours: the detail is in the log under the transaction ID."""


_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="mudra"'}
_WRONG_SECRET: Final = "id or secret is wrong, or the entity is not active"  # noqa: S105
_WRONG_PASSWORD: Final = "username or password is wrong, or the account is not active"  # noqa: S105
_NOT_ADMIN: Final = "the token gives no admin right on this entityId"


def retry_after(until: datetime, now: datetime) -> dict[str, str]:
    """Write `Retry-After`: whole seconds, never earlier than `until` (RFC 9110 10.2.3)."""
    return {"Retry-After": str(max(1, math.ceil((until - now).total_seconds())))}


def _invalid(sentence: str, status: int = 400, **headers: str) -> Problem:
    return Problem(status, ErrorCode.INVALID_REQUEST, sentence, headers)


def _unauthorized(sentence: str) -> Problem:
    return Problem(401, ErrorCode.UNAUTHORIZED, sentence, _CHALLENGE)


def _too_soon(r: ResetTooSoon) -> Problem:
    return Problem(
        429,
        ErrorCode.RESET_TOO_SOON,
        f"a reset is permitted 5 minutes after the last one: again from {_after(r.retry_at)}",
        {**retry_after(r.retry_at, r.now), **_rate(r.retry_at, r.now)},
    )


def _limit_reached(r: ResetLimitReached) -> Problem:
    return Problem(
        429,
        ErrorCode.RESET_LIMIT_REACHED,
        f"{MAX_RESETS} resets in 24 hours are reached: the next is permitted from "
        f"{_after(r.retry_at)}",
        {**retry_after(r.retry_at, r.now), **_rate(r.retry_at, r.now)},
    )


def _rate(until: datetime, now: datetime) -> dict[str, str]:
    seconds = retry_after(until, now)["Retry-After"]
    return {
        "RateLimit-Policy": f'"reset";q={MAX_RESETS};w=86400',
        "RateLimit": f'"reset";r=0;t={seconds}',
    }


def _after(at: datetime) -> str:
    return iso_ms(at)


def _busy(seconds: int, sentence: str) -> Problem:
    return Problem(503, ErrorCode.SERVICE_UNAVAILABLE, sentence, {"Retry-After": str(seconds)})


_LINK_SENTENCES: Final[Mapping[LinkRefusal, str]] = {
    LinkRefusal.UNKNOWN: "token is not a valid link; ask for a new one with 'forgot password'",
    LinkRefusal.EXPIRED: "token has expired; ask for a new link with 'forgot password'",
    LinkRefusal.USED: "token was used already; ask for a new link with 'forgot password'",
    LinkRefusal.VOIDED: "token was replaced by a newer link; use the latest mail",
}

R = TypeVar("R")
_TABLE: Final[dict[type, Callable[..., Problem]]] = {}


def add_row(refusal: type[R], problem: Callable[[R], Problem]) -> None:
    """Add a row to the table, for an area that keeps its rows in a file of its own."""
    _TABLE[refusal] = problem


add_row(InvalidField, lambda r: _invalid(r.sentence))
add_row(EnvelopeFault, lambda r: _invalid(r.sentence))
add_row(
    MalformedBody,
    lambda r: _invalid(r.sentence, 400, **({"Connection": "close"} if r.unread else {})),
)
add_row(PasswordRefusal, lambda r: _invalid(r.sentence))
add_row(LinkRefusal, lambda r: _unauthorized(_LINK_SENTENCES[r]))
add_row(NoSuchAddress, lambda _: Problem(404, ErrorCode.NOT_FOUND, "there is nothing at this path"))
add_row(
    MethodNotAllowed,
    lambda r: _invalid(
        f"this path takes {', '.join(r.allowed)} only", 405, Allow=", ".join(r.allowed)
    ),
)
add_row(
    BodyTooLarge,
    lambda r: Problem(
        413,
        ErrorCode.PAYLOAD_TOO_LARGE,
        f"the body must be at most {r.limit} bytes",
        {"Connection": "close"},
    ),
)
add_row(
    BodyTooSlow,
    lambda r: _invalid(
        f"the body must arrive within {r.limit_s:g} seconds", 408, Connection="close"
    ),
)
add_row(ClientGone, lambda _: _invalid("the body ended early", 400, Connection="close"))
add_row(
    UnsupportedMediaType,
    lambda r: Problem(415, ErrorCode.UNSUPPORTED_MEDIA_TYPE, f"Content-Type must be {r.allowed}"),
)
add_row(
    UnsupportedEncoding,
    lambda _: Problem(
        415, ErrorCode.UNSUPPORTED_MEDIA_TYPE, "Content-Encoding is not supported here"
    ),
)
add_row(
    NoAuthorization,
    lambda _: _unauthorized("Authorization must hold 'Bearer' and a token"),
)
add_row(TokenInvalid, lambda _: _unauthorized("the token in Authorization is not valid here"))
add_row(
    TokenExpired,
    lambda r: Problem(
        401,
        ErrorCode.TOKEN_EXPIRED,
        f"the token in Authorization expired at {iso_ms(r.expired_at)}; generate a new one",
        _CHALLENGE,
    ),
)
add_row(
    TokenRevoked,
    lambda _: Problem(
        401,
        ErrorCode.TOKEN_REVOKED,
        "the token in Authorization was revoked; generate a new one",
        _CHALLENGE,
    ),
)
add_row(NotYourEntity, lambda _: _unauthorized(_NOT_ADMIN))
add_row(SecretUnknown, lambda _: _unauthorized(_WRONG_SECRET))
add_row(
    SecretExpired,
    lambda r: Problem(
        401,
        ErrorCode.SECRET_EXPIRED,
        f"the secret expired at {iso_ms(r.expired_at)}; reset it with a User Access Token",
        _CHALLENGE,
    ),
)
add_row(
    SecretGraceEnded,
    lambda r: Problem(
        401,
        ErrorCode.SECRET_GRACE_ENDED,
        f"the grace period of this old secret ended at {iso_ms(r.ended_at)}; use the new one",
        _CHALLENGE,
    ),
)
add_row(ResetTooSoon, _too_soon)
add_row(ResetLimitReached, _limit_reached)
add_row(
    NothingInGrace,
    lambda _: Problem(409, ErrorCode.CONFLICT, "no old secret of entityId is in its grace period"),
)
add_row(SignInRefused, lambda _: _unauthorized(_WRONG_PASSWORD))
add_row(
    TooManyAttempts,
    lambda r: Problem(
        429,
        ErrorCode.TOO_MANY_ATTEMPTS,
        "too many failed sign-ins; wait as Retry-After says",
        retry_after(r.retry_at, r.now),
    ),
)
add_row(
    RateLimited,
    lambda r: Problem(
        429,
        ErrorCode.TOO_MANY_ATTEMPTS,
        "too many requests for this entity from this address; wait as Retry-After says",
        {"Retry-After": str(r.retry_after_s)},
    ),
)
add_row(HashingBusy, lambda r: _busy(r.retry_after_s, "too many sign-ins at once; try again"))
add_row(
    Unavailable,
    lambda r: _busy(r.retry_after_s, "the service cannot reach its database; try again"),
)
add_row(
    Unexpected,
    lambda _: Problem(
        500,
        ErrorCode.INTERNAL_ERROR,
        "an unexpected fault; tell the operator the txnId of this answer",
    ),
)


def problem_of(refusal: object) -> Problem:
    """Find how a refusal is told; raises KeyError for one that the table lacks."""
    problem = _TABLE[type(refusal)](refusal)
    if problem.status == 401 and not problem.headers:  # noqa: PLR2004
        return replace(problem, headers=_CHALLENGE)  # RFC 9110 15.5.2: every 401 names a scheme
    return problem


def is_refusal(outcome: object) -> bool:
    """Tell whether a use case's outcome is a refusal that this table knows."""
    return type(outcome) in _TABLE


def refusals() -> frozenset[type]:
    """List the refusals that the table knows, for the test that proves it complete."""
    return frozenset(_TABLE)
