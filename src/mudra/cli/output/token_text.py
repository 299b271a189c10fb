"""Look into a token without believing it, and list tokens for people."""

import binascii
import json
from collections.abc import Sequence

import msgspec
from joserfc.errors import JoseError
from joserfc.jws import extract_compact

from mudra.cli.client.api import Answer
from mudra.cli.output.shown import Shown, table
from mudra.shared.secret_text import SecretText


def header_of(token: SecretText) -> dict[str, object]:
    """The header of a compact JWT; raises ValueError when it is none."""
    return dict(_extracted(token)[0])


def claims_of(token: SecretText) -> dict[str, object]:
    """The claims of a compact JWT, unverified; raises ValueError when it is none."""
    return _extracted(token)[1]


def expiry_of(token: SecretText) -> int:
    """The expiry of a compact JWT in seconds since 1970, unverified; 0 when it names none."""
    try:
        return msgspec.convert(claims_of(token), _Expiry).exp
    except msgspec.ValidationError:
        return 0


class _Expiry(msgspec.Struct):
    exp: int = 0


def shown_tokens(tokens: Sequence[Answer]) -> Shown:
    """Show a user's tokens as the service lists them."""
    return table(
        ["TOKEN", "STATE", "ISSUED", "EXPIRES", "LAST USED", "FROM"],
        [
            [
                *(one["jti"], one["state"], one["issuedAt"], one["expiresAt"]),
                *(one.get("lastUsedAt", ""), one.get("lastAddress", "")),
            ]
            for one in tokens
        ],
        tokens,
    )


def _extracted(token: SecretText) -> tuple[dict[str, object], dict[str, object]]:
    try:
        signed = extract_compact(token.reveal().strip().encode())
        claims = json.loads(signed.payload)
    except (JoseError, ValueError, binascii.Error):
        raise ValueError("this is no token (a compact JWT of three parts)") from None
    if not isinstance(claims, dict):
        raise ValueError("this is no token (its claims are no JSON object)")  # noqa: TRY004  # of text
    return dict(signed.headers()), claims
