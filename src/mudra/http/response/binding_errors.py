"""Rows of errors.py for credentials that are bound to listed addresses."""

from collections.abc import Callable, Sequence
from typing import Final

from mudra.http.response.problem import Problem, conflict, error_row, retry_after, unauthorized
from mudra.shared.refusal import WAIT_TEXT, ErrorCode, Refusal
from mudra.tokens.secrets.address_binding import (
    MAX_SWITCHES,
    WATCHED_DAYS,
    AddressesInUse,
    AddressNotListed,
    ExemptionByOperator,
    NoListedAddresses,
    TooManySwitches,
)

_MAX_NAMED: Final = 5

BINDING_ROWS: Final[Sequence[tuple[type[Refusal], Callable[[Refusal], Problem]]]] = (
    error_row(
        AddressNotListed,
        lambda r: Problem(
            401,
            ErrorCode.ADDRESS_NOT_LISTED,
            f"{r.address} is not among the ips of the registry entry of {r.entity_id}: add it "
            "there, or, unless the network requires the binding, switch it off (mudra registry "
            "binding, or the console)",
        ),
    ),
    error_row(
        NoListedAddresses,
        lambda r: conflict(
            f"the live registry entry of {r.entity_id} lists no address in ips, so nothing could "
            "get a token: add addresses first"
        ),
    ),
    error_row(
        AddressesInUse,
        lambda r: conflict(
            f"{_named(r.addresses)} got tokens in the last {WATCHED_DAYS} days and would be "
            "refused: list what is yours in the entry's ips, or send evenSo"
        ),
    ),
    error_row(
        TooManySwitches,
        lambda r: Problem(
            429,
            ErrorCode.TOO_MANY_ATTEMPTS,
            f"an entity's admins switch its binding at most {MAX_SWITCHES} times in 24 hours: ask "
            f"the operator of the network; {WAIT_TEXT}",
            retry_after(r.retry_at, r.now),
        ),
    ),
    error_row(
        ExemptionByOperator,
        lambda _: unauthorized(
            "binding watch exempts an entity from the network's setting: only an operator may"
        ),
    ),
)


def _named(addresses: Sequence[str]) -> str:
    more = len(addresses) - _MAX_NAMED
    return ", ".join(addresses[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
