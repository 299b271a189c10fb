"""The form of a refusal on the wire: its status, `errorCode`, text and headers (spec 7)."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from mudra.server_protocol.refusal_status import STATUS_OF, HttpRefusal
from mudra.shared.dpop_proof import ALGORITHMS as PROOF_ALGORITHMS
from mudra.shared.finding import Finding
from mudra.shared.refusal import ErrorCode, Refusal, RefusalKind
from mudra.tokens.secrets.reset_rule import MAX_RESETS

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
    status, code = STATUS_OF[refusal.kind]
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
