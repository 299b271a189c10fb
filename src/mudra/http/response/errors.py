"""The one table from a refusal to status, `errorCode`, text and headers (spec 7).

Texts name the field and the way out, and never hold anything secret. A test
walks all refusals of Mudra and fails for one that has no row here.
"""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec.structs import replace

from mudra.http.response.http_refusals import HttpRefusal
from mudra.http.response.problem import (
    CHALLENGE,
    Problem,
    busy,
    conflict,
    error_row,
    invalid,
    not_found,
    rate_limited,
    reset_limit_reached,
    reset_too_soon,
    unauthorized,
)
from mudra.localization.language import translatable
from mudra.metrics.announcements.announcement import (
    MAX_A_DAY,
    MAX_UNENDED,
    AnnouncementRefused,
    NoSuchAnnouncement,
    TooManyAnnouncements,
)
from mudra.metrics.incidents.acts.act import (
    Acknowledged,
    ActRefused,
    IncidentNotOpen,
    IncidentNotOver,
)
from mudra.metrics.incidents.incident_service import NoSuchIncident
from mudra.metrics.incidents.silence import (
    MAX_OWN,
    SilenceRefused,
    TooManyMaintenances,
    TooMuchMaintenance,
)
from mudra.metrics.incidents.silence_service import NoSuchSilence
from mudra.metrics.notifications.preferences import NoOwnWebhook, PreferenceRefused
from mudra.metrics.notifications.webhook import (
    FipsRefused,
    MessageWaits,
    NoSuchWebhook,
    TooManyTests,
    TooManyWebhooks,
    UrlRefused,
)
from mudra.metrics.payload.ingest_rule import TxnIdReused
from mudra.metrics.payload.push_limits import TooBusyForPushes, TooManyPushes
from mudra.metrics.payload.push_report import NotYourMetrics
from mudra.metrics.payload.validation import ReportRefused
from mudra.metrics.ports import NotAMember
from mudra.metrics.subscriptions.subscription import SubscriptionGone
from mudra.shared.dpop_proof import ALGORITHMS as PROOF_ALGORITHMS
from mudra.shared.dpop_proof import ProofInvalid
from mudra.shared.refusal import WAIT_TEXT, ErrorCode, Kind, Refusal
from mudra.shared.time_text import iso_ms
from mudra.tokens.authentication.client_assertion import AssertionInvalid
from mudra.tokens.authentication.proof_guard import TooManyProofs
from mudra.tokens.authentication.secret_check import (
    RateLimited,
    SecretExpired,
    SecretGraceEnded,
    SecretUnknown,
)
from mudra.tokens.authentication.token_check import TokenExpired, TokenInvalid, TokenRevoked
from mudra.tokens.revocation.revocation_limit import TooManyRevocations
from mudra.tokens.revocation.revoke_token import AnotherClientsToken
from mudra.tokens.secrets.reset_rule import ResetLimitReached, ResetTooSoon
from mudra.tokens.secrets.secret_service import NothingInGrace, SecretChanged
from mudra.tokens.signing_keys.signing_key_service import UnknownKey

_WRONG_SECRET: Final = "id or secret is wrong, or the entity is not active"  # noqa: S105


_TABLE: Final[Mapping[type[Refusal], Callable[[Refusal], Problem]]] = dict(
    (
        # Tokens
        error_row(
            AssertionInvalid, lambda refused: unauthorized(f"client_assertion: {refused.problem}")
        ),
        error_row(UnknownKey, lambda _: not_found("kid: no signing key of this kind has this ID")),
        error_row(AnotherClientsToken, lambda _: invalid("token was issued to another client")),
        error_row(
            TooManyRevocations,
            lambda r: rate_limited(
                r.retry_after_s,
                "too many revoked tokens of this entity have not expired; "
                f"use one token for its 24 hours, and {WAIT_TEXT}",
            ),
        ),
        error_row(
            TokenInvalid, lambda _: unauthorized("the token in Authorization is not valid here")
        ),
        error_row(
            TokenExpired,
            lambda r: Problem(
                401,
                ErrorCode.TOKEN_EXPIRED,
                f"the token in Authorization expired at {iso_ms(r.expired_at)}; generate a new one",
            ),
        ),
        error_row(
            TokenRevoked,
            lambda _: Problem(
                401,
                ErrorCode.TOKEN_REVOKED,
                "the token in Authorization was revoked; generate a new one",
            ),
        ),
        error_row(
            ProofInvalid,
            lambda r: Problem(
                401,
                ErrorCode.PROOF_INVALID,
                f"DPoP: {r.problem}",
                {
                    "WWW-Authenticate": f'DPoP error="invalid_dpop_proof", '
                    f'algs="{" ".join(PROOF_ALGORITHMS)}"'
                },
            ),
        ),
        # Entity secrets
        error_row(
            SecretChanged,
            lambda r: conflict(
                "the secret was reset since this page was opened: "
                f"version {r.version} is the current one; nothing was changed now"
            ),
        ),
        error_row(SecretUnknown, lambda _: unauthorized(_WRONG_SECRET)),
        error_row(
            SecretExpired,
            lambda r: Problem(
                401,
                ErrorCode.SECRET_EXPIRED,
                f"the secret expired at {iso_ms(r.expired_at)}; reset it with a User Access Token",
            ),
        ),
        error_row(
            SecretGraceEnded,
            lambda r: Problem(
                401,
                ErrorCode.SECRET_GRACE_ENDED,
                f"the grace period of this old secret ended at {iso_ms(r.ended_at)}; "
                "use the new one",
            ),
        ),
        error_row(ResetTooSoon, lambda r: reset_too_soon(r.retry_at, r.now)),
        error_row(ResetLimitReached, lambda r: reset_limit_reached(r.retry_at, r.now)),
        error_row(
            NothingInGrace,
            lambda _: conflict(translatable("no old secret of entityId is in its grace period")),
        ),
        error_row(
            RateLimited,
            lambda r: rate_limited(
                r.retry_after_s,
                f"too many requests for this entity from this address; {WAIT_TEXT}",
            ),
        ),
        error_row(
            TooManyProofs,
            lambda r: rate_limited(
                r.retry_after_s, f"too many DPoP proofs of this entity; {WAIT_TEXT}"
            ),
        ),
        # Network metrics
        error_row(ReportRefused, lambda r: replace(invalid(r.sentence()), findings=r.findings)),
        error_row(
            TxnIdReused,
            lambda r: Problem(
                409,
                ErrorCode.IDEMPOTENCY_ERROR,
                f"$.txnId was used at {iso_ms(r.earlier.received_at)} for other content; "
                "use a new txnId for each payload",
            ),
        ),
        error_row(
            NotYourMetrics,
            lambda r: unauthorized(
                f"$.aaId must be {r.caller}, the entity of the token in Authorization"
            ),
        ),
        error_row(
            TooManyPushes,
            lambda r: rate_limited(
                r.retry_after_s,
                f"more pushes of this tag than are permitted; {WAIT_TEXT}",
            ),
        ),
        error_row(
            TooBusyForPushes,
            lambda r: busy(
                r.retry_after_s,
                "as many pushes are in progress as can be accepted at once; nothing was stored, "
                "try again",
            ),
        ),
        error_row(NoSuchIncident, lambda _: not_found("no incident of this ID")),
        error_row(ActRefused, lambda r: invalid(f"{r.field} {r.problem}")),
        error_row(
            IncidentNotOpen,
            lambda _: conflict("the incident is over or was closed before, so nothing was changed"),
        ),
        error_row(
            IncidentNotOver,
            lambda _: conflict(
                "the incident is open, withdrawn or part of another one: there is nothing to reopen"
            ),
        ),
        error_row(
            Acknowledged,
            lambda r: conflict(
                f"the incident was acknowledged by {r.by} in the meantime, so nothing was changed; "
                "open it again to take it over"
            ),
        ),
        error_row(NoSuchSilence, lambda _: not_found("no active or scheduled silence of this ID")),
        error_row(
            NoSuchAnnouncement,
            lambda _: not_found("no current or scheduled announcement of this ID"),
        ),
        error_row(AnnouncementRefused, lambda r: invalid(f"{r.field} {r.problem}")),
        error_row(
            TooManyAnnouncements,
            lambda _: conflict(
                f"{MAX_UNENDED} announcements are shown or scheduled, or {MAX_A_DAY} were made in "
                "24 hours: end one, or wait"
            ),
        ),
        error_row(SubscriptionGone, lambda _: not_found("no subscription has this link")),
        error_row(NoSuchWebhook, lambda _: not_found(translatable("no webhook of this ID"))),
        error_row(NotAMember, lambda r: not_found(f"no member has the entity ID {r.entity_id}")),
        error_row(SilenceRefused, lambda r: invalid(f"{r.field} {r.problem}")),
        error_row(
            TooManyMaintenances,
            lambda _: conflict(
                f"{MAX_OWN} maintenances are active or scheduled, or began within 24 hours: "
                "end one that has not begun, or wait"
            ),
        ),
        error_row(
            TooMuchMaintenance,
            lambda _: conflict(
                "the maintenances of some 7 days would be more than 24 hours: "
                "announce a shorter or later one"
            ),
        ),
        error_row(
            MessageWaits,
            lambda _: conflict(translatable("a test message of this webhook waits already")),
        ),
        error_row(
            TooManyTests,
            lambda r: rate_limited(
                r.retry_after_s,
                translatable("the test messages that one hour permits are used up")
                + f"; {WAIT_TEXT}",
            ),
        ),
        error_row(PreferenceRefused, lambda r: invalid(f"{r.field} {r.problem}")),
        error_row(
            NoOwnWebhook,
            lambda _: conflict(
                translatable("channel needs a webhook of your own: add its address first")
            ),
        ),
        # The form is right, but the network has no such FIP or the webhook is not of a FIU.
        error_row(FipsRefused, lambda r: conflict(f"fips {r.problem}")),
        error_row(UrlRefused, lambda r: invalid(f"url {r.problem}")),
        error_row(
            TooManyWebhooks,
            lambda r: conflict(f"there are {r.most} webhooks already: remove one first"),
        ),
    )
)


_KINDS: Final[Mapping[Kind, tuple[int, ErrorCode]]] = {
    Kind.INVALID: (400, ErrorCode.INVALID_REQUEST),
    Kind.UNAUTHORIZED: (401, ErrorCode.UNAUTHORIZED),
    Kind.FORBIDDEN: (403, ErrorCode.UNAUTHORIZED),
    Kind.NOT_FOUND: (404, ErrorCode.NOT_FOUND),
    Kind.NOT_ALLOWED: (405, ErrorCode.INVALID_REQUEST),
    Kind.TOO_SLOW: (408, ErrorCode.INVALID_REQUEST),
    Kind.CONFLICT: (409, ErrorCode.CONFLICT),
    Kind.TOO_LARGE: (413, ErrorCode.PAYLOAD_TOO_LARGE),
    Kind.UNSUPPORTED: (415, ErrorCode.UNSUPPORTED_MEDIA_TYPE),
    Kind.LIMITED: (429, ErrorCode.TOO_MANY_ATTEMPTS),
    Kind.FAILED: (500, ErrorCode.INTERNAL_ERROR),
    Kind.BUSY: (503, ErrorCode.SERVICE_UNAVAILABLE),
}


def problem_of(refusal: Refusal) -> Problem:
    """Return how a refusal is shown on the wire."""
    row = _TABLE.get(type(refusal))
    if row is not None:
        problem = row(refusal)
        if problem.status == 401 and not problem.headers:  # noqa: PLR2004
            return replace(problem, headers=CHALLENGE)
        return problem
    status, code = _KINDS[refusal.kind]
    return Problem(
        status,
        refusal.code or code,
        refusal.sentence,
        _headers(refusal),
        refusal.findings,
    )


def _headers(refusal: Refusal) -> Mapping[str, str]:
    headers: dict[str, str] = {}
    if refusal.kind is Kind.UNAUTHORIZED:  # every 401 names a scheme (RFC 9110 15.5.2)
        headers |= CHALLENGE
    if refusal.retry_after_s:
        headers["Retry-After"] = str(refusal.retry_after_s)
    if isinstance(refusal, HttpRefusal):
        headers |= refusal.headers
    return headers


def refusals() -> frozenset[type[Refusal]]:
    """List the refusals that the table knows, for the test that proves it complete."""
    return frozenset(_TABLE)
