"""The answer to a caller whose token is not accepted (spec 7, RFC 6750 section 3)."""

import json
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import msgspec

from mudra.client import clock
from mudra.client.errors import (
    MudraClientError,
    ProofRefused,
    TokenMissing,
    TokenRefused,
    TooManyProofs,
)
from mudra.shared.dpop_proof import ALGORITHMS

RETRY_AFTER_S: Final = 5


class RefusalResponse(msgspec.Struct, frozen=True):
    """Status, headers and JSON body of the answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def refusal_response(error: MudraClientError, wall: clock.Seconds = clock.wall) -> RefusalResponse:
    """Return 401 for a token that is refused, 503 when the issuer could not be asked.

    429 for a caller with more proofs than are remembered. The text is the diagnosis, which never
    contains the token or a claim that its bearer chose.
    """
    status, code, challenge = _kind(error)
    now = datetime.fromtimestamp(wall(), UTC)
    body = {
        "ver": "1.0.0",
        "timestamp": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "txnId": str(uuid.uuid4()),
        "errorCode": code,
        "errorMsg": error.diagnosis,
    }
    answer = json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(answer))}
    return RefusalResponse(status, {**headers, **challenge}, answer)


def _kind(error: MudraClientError) -> tuple[int, str, Mapping[str, str]]:
    """Return status, `errorCode` and what the caller is to do, as a header."""
    later = {"Retry-After": str(RETRY_AFTER_S)}
    match error:
        case TooManyProofs():
            return 429, "TooManyAttempts", later
        case ProofRefused():
            algorithms = " ".join(ALGORITHMS)
            challenge = f'DPoP error="invalid_dpop_proof", algs="{algorithms}"'
            return 401, "Unauthorized", {"WWW-Authenticate": challenge}
        case TokenMissing():  # RFC 6750 3.1: no error code for one who presented nothing
            return 401, "Unauthorized", {"WWW-Authenticate": "Bearer"}
        case TokenRefused():
            return 401, "Unauthorized", {"WWW-Authenticate": 'Bearer error="invalid_token"'}
        case _:
            return 503, "ServiceUnavailable", later
