"""Reads one response of the token service: what was granted, or why not (spec 2.2, 4.4)."""

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

import msgspec

from mudra.client.errors import (
    PAUSE_SECONDS,
    SecretRefused,
    ServiceUnavailable,
    TooManyRequests,
    UnexpectedResponse,
)
from mudra.shared.secret_text import SecretText
from mudra.shared.text.undecodable import UNDECODABLE

BEARER: Final = "Bearer"
DPOP: Final = "DPoP"
RENEW_AT: Final = 0.8
JITTER: Final = 0.05
_MAX_PAUSE_SECONDS = 3600.0
_CODE = re.compile(r"[A-Za-z]{1,40}")


class GraceWarning(msgspec.Struct, frozen=True):
    """The secret in use was replaced and ends soon."""

    message: str
    """What the service says of it."""
    ends: datetime | None
    """When it ends; None when unknown."""


class Grant(msgspec.Struct, frozen=True):
    """A token to use until `ends_at` and to renew from `renew_at` (seconds, steady clock)."""

    token: SecretText
    obtained_at: float
    renew_at: float
    ends_at: float
    warning: GraceWarning | None


class _TokenResponse(msgspec.Struct):
    accessToken: str  # noqa: N815 -- the wire name
    expiresIn: int  # noqa: N815 -- the wire name
    tokenType: str = ""  # noqa: N815 -- the wire name
    message: str = ""


class _ErrorResponse(msgspec.Struct):
    errorCode: str = ""  # noqa: N815 -- the wire name


def read_response(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    sent_at: float,
    chance: float,
    *,
    bound: bool = False,
) -> Grant:
    """Return what was granted to a request sent at `sent_at`; raises a MudraClientError.

    Renewal is due at 80 % of the life, earlier or later by up to 5 % by `chance`
    (0 to 1), so that a member's programs do not ask in step.
    """
    if status != HTTPStatus.OK:
        _raise_refusal(status, headers, body)
    try:
        answer = msgspec.json.decode(body, type=_TokenResponse)
    except UNDECODABLE as error:
        raise UnexpectedResponse("200 without a token in it", _CHECK_ADDRESS) from error
    if not answer.accessToken or answer.expiresIn <= 0:
        raise UnexpectedResponse("200 with an empty or expired token", _CHECK_ADDRESS)
    if bound and answer.tokenType.lower() != DPOP.lower():
        raise UnexpectedResponse(
            "the token service does not bind tokens to keys", "leave dpop out, or have it upgraded"
        )
    share = RENEW_AT + JITTER * (2 * chance - 1)
    return Grant(
        token=SecretText(answer.accessToken),
        obtained_at=sent_at,
        renew_at=sent_at + answer.expiresIn * share,
        ends_at=sent_at + answer.expiresIn,
        warning=GraceWarning(answer.message, _sunset(headers)) if answer.message else None,
    )


_CHECK_ADDRESS = (
    "check that base_url is the address of the token service, and that no proxy answers instead"
)


_OTHERWISE: Final = "an admin can read or reset the secret; put it where the program reads it"
_NOT_THE_SECRET: Final = {
    "AddressNotListed": "call from an address in the ips of the registry entry, or add this one to"
    " it; the secret is right",
    "ProofInvalid": "compare this machine's clock with the token service's (NTP), and base_url with"
    " the address that the token service has for itself; the secret is right",
}


def _raise_refusal(status: int, headers: Mapping[str, str], body: bytes) -> None:
    code = _error_code(body)
    pause = retry_after(headers)
    if status == HTTPStatus.UNAUTHORIZED:
        way_out = _NOT_THE_SECRET.get(code, _OTHERWISE)
        raise SecretRefused(f"the token service refused this entity and secret ({code})", way_out)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        raise TooManyRequests(
            f"too many requests for tokens ({code})",
            f"wait {pause:.0f} seconds; share one token among all requests of a program",
            pause,
        )
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise ServiceUnavailable(
            f"the token service answered {status} ({code})", "try again later", pause
        )
    raise UnexpectedResponse(f"the token service answered {status} ({code})", _CHECK_ADDRESS)


def _error_code(body: bytes) -> str:
    """Return the service's error code (spec 7) if there is one, and nothing else."""
    try:
        code = msgspec.json.decode(body, type=_ErrorResponse).errorCode
    except UNDECODABLE:
        return "no errorCode"
    return code if _CODE.fullmatch(code) else "no errorCode"


def retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds to wait that an answer asks for, an hour at most; 5 if it does not."""
    text = headers.get("retry-after", "")
    return min(float(text), _MAX_PAUSE_SECONDS) if text.isdecimal() else PAUSE_SECONDS


def _sunset(headers: Mapping[str, str]) -> datetime | None:
    try:
        return parsedate_to_datetime(headers.get("sunset", ""))
    except (ValueError, OverflowError):
        return None
