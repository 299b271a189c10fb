"""Look into a token without believing it, and list tokens for people."""

import binascii
import json
from collections.abc import Mapping, Sequence

from joserfc.errors import JoseError
from joserfc.jws import extract_compact

from mudra.cli.output.output import show_json, show_table
from mudra.shared.secret_text import SecretText


def header_of(token: SecretText) -> dict[str, object]:
    """The header of a compact JWT; raises ValueError when it is none."""
    return dict(_extracted(token)[0])


def claims_of(token: SecretText) -> dict[str, object]:
    """The claims of a compact JWT, unverified; raises ValueError when it is none."""
    return _extracted(token)[1]


def show_tokens(rows: Sequence[Mapping[str, object]], *, as_json: bool) -> None:
    """Show a user's tokens as the service lists them."""
    if as_json:
        show_json(list(rows))
        return
    names = ("jti", "state", "issuedAt", "expiresAt", "lastUsedAt", "lastAddress")
    show_table(
        ["TOKEN", "STATE", "ISSUED", "EXPIRES", "LAST USED", "FROM"],
        [[str(row.get(name, "")) for name in names] for row in rows],
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
