"""The headers in which members of the network send Entity Access Tokens."""

from collections.abc import Iterable, Sequence
from typing import Final

from mudra.client.errors import TokenMalformed, TokenMissing
from mudra.client.grant import BEARER
from mudra.client.verification.compact import WAY_OUT

AUTHORIZATION: Final = "Authorization"
TOKEN_HEADERS: Final = (AUTHORIZATION, "client_api_key", "aa_api_key", "fip_api_key")
"""All that are in use: the first toward the operator, the others between members."""
_SCHEMES: Final = ("bearer ", "dpop ")


def header_value(header: str, token: str, scheme: str = BEARER) -> str:
    """Return the value that sends `token` in this header: only Authorization has a scheme."""
    return f"{scheme} {token}" if header.lower() == AUTHORIZATION.lower() else token


def presented_token(values: Iterable[str]) -> str:
    """Return the one token in the values of all token headers of a request.

    A word `Bearer` or `DPoP` before it is allowed everywhere. Raises TokenMissing without any
    token, and TokenMalformed for two that differ: another program on the way may have checked the
    other one.
    """
    found: Sequence[str] = list(dict.fromkeys(filter(None, map(_bare, values))))
    if not found:
        raise TokenMissing(
            f"no token in {', '.join(TOKEN_HEADERS)} (a server on the way may have dropped a "
            "header with an underscore)",
            WAY_OUT,
        )
    if len(found) > 1:
        raise TokenMalformed("the request has more than one token", WAY_OUT)
    return found[0]


def _bare(value: str) -> str:
    value = value.strip()
    scheme = next((one for one in _SCHEMES if value.lower().startswith(one)), "")
    return value[len(scheme) :].strip()
