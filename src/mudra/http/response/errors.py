"""How a refusal is shown on the wire: its status, `errorCode`, text and headers (spec 7)."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from mudra.http.response.http_refusals import HttpRefusal
from mudra.shared.dpop_proof import ALGORITHMS as PROOF_ALGORITHMS
from mudra.shared.finding import Finding
from mudra.shared.refusal import ErrorCode, Refusal, RefusalKind
from mudra.tokens.secrets.reset_rule import MAX_RESETS

_KINDS: Final[Mapping[RefusalKind, tuple[int, ErrorCode]]] = {
    RefusalKind.INVALID: (400, ErrorCode.INVALID_REQUEST),
    RefusalKind.UNAUTHORIZED: (401, ErrorCode.UNAUTHORIZED),
    RefusalKind.FORBIDDEN: (403, ErrorCode.UNAUTHORIZED),
    RefusalKind.NOT_FOUND: (404, ErrorCode.NOT_FOUND),
    RefusalKind.NOT_ALLOWED: (405, ErrorCode.INVALID_REQUEST),
    RefusalKind.TOO_SLOW: (408, ErrorCode.INVALID_REQUEST),
    RefusalKind.CONFLICT: (409, ErrorCode.CONFLICT),
    RefusalKind.TOO_LARGE: (413, ErrorCode.PAYLOAD_TOO_LARGE),
    RefusalKind.UNSUPPORTED: (415, ErrorCode.UNSUPPORTED_MEDIA_TYPE),
    RefusalKind.LIMITED: (429, ErrorCode.TOO_MANY_ATTEMPTS),
    RefusalKind.FAILED: (500, ErrorCode.INTERNAL_ERROR),
    RefusalKind.BUSY: (503, ErrorCode.SERVICE_UNAVAILABLE),
}
"""The status of each kind, and its `errorCode` where a refusal has none of its own."""
_CHALLENGES: Final = {
    ErrorCode.PROOF_INVALID: (
        f'DPoP error="invalid_dpop_proof", algs="{" ".join(PROOF_ALGORITHMS)}"'
    )
}
_BEARER: Final = 'Bearer realm="mudra"'
_RESETS: Final = frozenset({ErrorCode.RESET_TOO_SOON, ErrorCode.RESET_LIMIT_REACHED})


class Problem(Struct, frozen=True):
    """An error as the wire shows it."""

    status: int
    code: ErrorCode
    sentence: str
    headers: Mapping[str, str]
    findings: Sequence[Finding]
    """Everything wrong with a document; the sentence names the first."""


def problem_of(refusal: Refusal) -> Problem:
    """Returns how a refusal is shown."""
    status, code = _KINDS[refusal.kind]
    code = refusal.code or code
    headers: dict[str, str] = {}
    if refusal.kind is RefusalKind.UNAUTHORIZED:  # every 401 names a scheme (RFC 9110 15.5.2)
        headers["WWW-Authenticate"] = _CHALLENGES.get(code, _BEARER)
    if refusal.retry_after_s:
        headers["Retry-After"] = str(refusal.retry_after_s)
    if code in _RESETS:
        headers["RateLimit-Policy"] = f'"reset";q={MAX_RESETS};w=86400'
        headers["RateLimit"] = f'"reset";r=0;t={refusal.retry_after_s}'
    if isinstance(refusal, HttpRefusal):
        headers |= refusal.headers
    return Problem(status, code, refusal.sentence, headers, refusal.findings)
