"""How the registry's refusals are told: rows of the table in errors.py."""

from typing import Protocol

from msgspec import Struct

from mudra.http.response.errors import ErrorCode, Problem, add_row
from mudra.registry.lifecycle.refusal import (
    AlreadyHeld,
    DuplicateEntity,
    GoLiveTooFar,
    NeedsOperator,
    NotYours,
    ReasonMissing,
    UnknownEntity,
    UnknownVersion,
    VersionMoved,
    WrongState,
    WrongType,
)
from mudra.shared.finding import Finding


class PayloadRefused(Struct, frozen=True):
    """A payload with findings; the answer carries all of them."""

    findings: tuple[Finding, ...]


class TooManyWrites(Struct, frozen=True):
    """The writes of an hour are used up."""

    retry_after_s: int


def _findings(refused: PayloadRefused) -> Problem:
    more = len(refused.findings) - 1
    sentence = refused.findings[0].sentence()
    if more:
        sentence += f" (and {more} more in findings)"
    return Problem(400, ErrorCode.INVALID_REQUEST, sentence)


add_row(PayloadRefused, _findings)
add_row(
    TooManyWrites,
    lambda r: Problem(
        429,
        ErrorCode.TOO_MANY_ATTEMPTS,
        "the writes to the registry that one hour permits are used up; wait as Retry-After says",
        {"Retry-After": str(r.retry_after_s)},
    ),
)


class _Told(Protocol):
    def sentence(self) -> str: ...


def _told(status: int, code: ErrorCode, *refusals: type[_Told]) -> None:
    for refusal in refusals:
        add_row(refusal, lambda r: Problem(status, code, r.sentence()))


_told(401, ErrorCode.UNAUTHORIZED, NotYours, NeedsOperator)
_told(404, ErrorCode.NOT_FOUND, UnknownEntity, UnknownVersion)
_told(409, ErrorCode.CONFLICT, DuplicateEntity, AlreadyHeld, WrongState, VersionMoved)
_told(400, ErrorCode.INVALID_REQUEST, WrongType, ReasonMissing, GoLiveTooFar)
