"""Look into a token without believing it."""

import binascii
import json

from joserfc.errors import JoseError
from joserfc.jws import extract_compact

from mudra.secret_text import SecretText


def header_of(token: SecretText) -> dict[str, object]:
    """The header of a compact JWT; raises ValueError when it is none."""
    return dict(_extracted(token)[0])


def claims_of(token: SecretText) -> dict[str, object]:
    """The claims of a compact JWT, unverified; raises ValueError when it is none."""
    return _extracted(token)[1]


def _extracted(token: SecretText) -> tuple[dict[str, object], dict[str, object]]:
    try:
        signed = extract_compact(token.reveal().strip().encode())
        claims = json.loads(signed.payload)
    except (JoseError, ValueError, binascii.Error):
        raise ValueError("this is no token (a compact JWT of three parts)") from None
    if not isinstance(claims, dict):
        raise ValueError("this is no token (its claims are no JSON object)")  # noqa: TRY004  # of text
    return dict(signed.headers()), claims
