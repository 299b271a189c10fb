"""The answer to a caller whose token is not accepted (spec 7, RFC 6750 section 3)."""

import json
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import msgspec

from mudra.client import clock
from mudra.client.errors import MudraClientError, ProofRefused, TokenRefused
from mudra.shared.dpop_proof import ALGORITHMS

RETRY_AFTER_S: Final = 5


class RefusalResponse(msgspec.Struct, frozen=True):
    """Status, headers and JSON body of the answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def refusal_response(error: MudraClientError, wall: clock.Seconds = clock.wall) -> RefusalResponse:
    """Return 401 for a token that is refused, 503 when the issuer could not be asked.

    The text is the diagnosis, which never contains the token or a claim that its bearer chose.
    """
    refused = isinstance(error, TokenRefused)
    now = datetime.fromtimestamp(wall(), UTC)
    body = {
        "ver": "1.0.0",
        "timestamp": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "txnId": str(uuid.uuid4()),
        "errorCode": "Unauthorized" if refused else "ServiceUnavailable",
        "errorMsg": error.diagnosis,
    }
    answer = json.dumps(body).encode()
    challenge = {"Retry-After": str(RETRY_AFTER_S)}
    if refused:
        challenge = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
    if isinstance(error, ProofRefused):
        algorithms = " ".join(ALGORITHMS)
        challenge = {"WWW-Authenticate": f'DPoP error="invalid_dpop_proof", algs="{algorithms}"'}
    headers = {"Content-Type": "application/json", "Content-Length": str(len(answer))}
    return RefusalResponse(401 if refused else 503, headers | challenge, answer)
