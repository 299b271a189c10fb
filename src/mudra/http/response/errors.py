"""The one table from a refusal to status, `errorCode`, text and headers (spec 7).

Texts name the field and the way out, and never hold anything secret. A test
walks all refusals of Mudra and fails for one that has no row here.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeVar, cast

from msgspec.structs import replace

from mudra.http.request.body_errors import (
    BodyTooLarge,
    BodyTooSlow,
    ClientGone,
    MalformedBody,
    UnsupportedEncoding,
    UnsupportedMediaType,
)
from mudra.http.request.envelope import EnvelopeFault
from mudra.http.response.http_refusals import (
    InvalidField,
    MethodNotAllowed,
    NoAuthorization,
    NoSuchAddress,
    Unavailable,
    Unexpected,
)
from mudra.http.response.problem import (
    CHALLENGE,
    ErrorCode,
    Problem,
    busy,
    conflict,
    invalid,
    not_found,
    rate_limited,
    reset_limit_reached,
    reset_too_soon,
    retry_after,
    unauthorized,
)
from mudra.identity.accounts.email_link import LinkFault, LinkRefused
from mudra.identity.accounts.password_rules import PasswordRefusal
from mudra.identity.accounts.refusals import (
    AddressTaken,
    NoSuchUser,
    ValueRefused,
    WrongAccountKind,
)
from mudra.identity.memberships.admins import (
    LastAdmin,
    NoSuchEntity,
    NotAnAdmin,
)
from mudra.identity.memberships.member import NotYourEntity
from mudra.identity.memberships.member_status import EntryNotLive, RetiredForGood
from mudra.identity.memberships.onboard import MemberDiffers
from mudra.identity.operators.manage_operators import NotAnOperator
from mudra.identity.operators.operator import NoOperator, OwnScopes, ScopeMissing, ScopeNotYours
from mudra.identity.ports import HashingBusy
from mudra.identity.sign_in.sign_in import SignInRefused, TooManyAttempts
from mudra.metrics.incidents.incident_service import Acknowledged, NoSuchIncident
from mudra.metrics.incidents.silence import SilenceRefused
from mudra.metrics.incidents.silence_service import NoSuchSilence
from mudra.metrics.notifications.webhook import NoSuchWebhook, TooManyWebhooks, UrlRefused
from mudra.metrics.payload.ingest_rule import TxnIdReused
from mudra.metrics.payload.push_limits import TooBusyForPushes, TooManyPushes
from mudra.metrics.payload.push_report import NotYourMetrics
from mudra.metrics.payload.validation import ReportRefused
from mudra.metrics.ports import NotAMember
from mudra.overview.mail_queue import NoSuchMail
from mudra.registry.lifecycle.refusal import (
    AlreadyHeld,
    DuplicateEntity,
    GoLiveTooFar,
    NeedsOperator,
    NotYours,
    ReasonMissing,
    UnknownEntity,
    UnknownVersion,
    VersionMoved,
    WrongState,
    WrongType,
)
from mudra.registry.payload.refusals import PayloadRefused, TooManyWrites
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms
from mudra.tokens.authentication.secret_check import (
    RateLimited,
    SecretExpired,
    SecretGraceEnded,
    SecretUnknown,
)
from mudra.tokens.authentication.token_check import TokenExpired, TokenInvalid, TokenRevoked
from mudra.tokens.secrets.reset_rule import ResetLimitReached, ResetTooSoon
from mudra.tokens.secrets.secret_service import NothingInGrace, SecretChanged

_WRONG_SECRET: Final = "id or secret is wrong, or the entity is not active"  # noqa: S105
_WRONG_PASSWORD: Final = "username or password is wrong, or the account is not active"  # noqa: S105
_CLOSE: Final = {"Connection": "close"}
_LINK_TEXTS: Final[Mapping[LinkFault, str]] = {
    LinkFault.UNKNOWN: "token is not a valid link; request a new one with 'forgot password'",
    LinkFault.EXPIRED: "token has expired; request a new link with 'forgot password'",
    LinkFault.USED: "token was already used; request a new link with 'forgot password'",
    LinkFault.VOIDED: "token was replaced by a newer link; use the latest email",
}

R = TypeVar("R", bound=Refusal)
_Row = tuple[type[Refusal], Callable[[Refusal], Problem]]


def _row(refusal: type[R], problem: Callable[[R], Problem]) -> _Row:
    """Check at type-check time that a row's text reads only what its refusal has."""
    return refusal, cast("Callable[[Refusal], Problem]", problem)


_TABLE: Final[Mapping[type[Refusal], Callable[[Refusal], Problem]]] = dict(
    (
        # The request itself
        _row(InvalidField, lambda r: invalid(r.sentence)),
        _row(EnvelopeFault, lambda r: invalid(r.sentence)),
        _row(MalformedBody, lambda r: invalid(r.sentence, 400, _CLOSE if r.unread else {})),
        _row(ClientGone, lambda _: invalid("the body ended early", 400, _CLOSE)),
        _row(
            BodyTooSlow,
            lambda r: invalid(f"the body must arrive within {r.limit_s:g} seconds", 408, _CLOSE),
        ),
        _row(
            BodyTooLarge,
            lambda r: Problem(
                413,
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"the body must be at most {r.limit} bytes",
                _CLOSE,
            ),
        ),
        _row(
            UnsupportedMediaType,
            lambda r: Problem(
                415, ErrorCode.UNSUPPORTED_MEDIA_TYPE, f"Content-Type must be {r.allowed}"
            ),
        ),
        _row(
            UnsupportedEncoding,
            lambda _: Problem(
                415, ErrorCode.UNSUPPORTED_MEDIA_TYPE, "Content-Encoding is not supported here"
            ),
        ),
        _row(NoSuchAddress, lambda _: not_found("there is nothing at this path")),
        _row(
            MethodNotAllowed,
            lambda r: invalid(
                f"this path takes {', '.join(r.allowed)} only",
                405,
                {"Allow": ", ".join(r.allowed)},
            ),
        ),
        _row(
            Unavailable,
            lambda r: busy(r.retry_after_s, "the service cannot reach its database; try again"),
        ),
        _row(
            Unexpected,
            lambda _: Problem(
                500,
                ErrorCode.INTERNAL_ERROR,
                "an unexpected fault; tell the operator the txnId of this answer",
            ),
        ),
        # Tokens
        _row(
            NoAuthorization,
            lambda _: unauthorized("Authorization must hold 'Bearer' and a token"),
        ),
        _row(TokenInvalid, lambda _: unauthorized("the token in Authorization is not valid here")),
        _row(
            TokenExpired,
            lambda r: Problem(
                401,
                ErrorCode.TOKEN_EXPIRED,
                f"the token in Authorization expired at {iso_ms(r.expired_at)}; generate a new one",
            ),
        ),
        _row(
            TokenRevoked,
            lambda _: Problem(
                401,
                ErrorCode.TOKEN_REVOKED,
                "the token in Authorization was revoked; generate a new one",
            ),
        ),
        # Entity secrets
        _row(
            NotYourEntity, lambda _: unauthorized("the token gives no admin right on this entityId")
        ),
        _row(
            SecretChanged,
            lambda r: conflict(
                "the secret was reset since this page was opened: "
                f"version {r.version} is the current one; nothing was changed now"
            ),
        ),
        _row(SecretUnknown, lambda _: unauthorized(_WRONG_SECRET)),
        _row(
            SecretExpired,
            lambda r: Problem(
                401,
                ErrorCode.SECRET_EXPIRED,
                f"the secret expired at {iso_ms(r.expired_at)}; reset it with a User Access Token",
            ),
        ),
        _row(
            SecretGraceEnded,
            lambda r: Problem(
                401,
                ErrorCode.SECRET_GRACE_ENDED,
                f"the grace period of this old secret ended at {iso_ms(r.ended_at)}; "
                "use the new one",
            ),
        ),
        _row(ResetTooSoon, lambda r: reset_too_soon(r.retry_at, r.now)),
        _row(ResetLimitReached, lambda r: reset_limit_reached(r.retry_at, r.now)),
        _row(
            NothingInGrace, lambda _: conflict("no old secret of entityId is in its grace period")
        ),
        _row(
            RateLimited,
            lambda r: rate_limited(
                r.retry_after_s,
                "too many requests for this entity from this address; wait as Retry-After says",
            ),
        ),
        # People
        _row(SignInRefused, lambda _: unauthorized(_WRONG_PASSWORD)),
        _row(
            TooManyAttempts,
            lambda r: Problem(
                429,
                ErrorCode.TOO_MANY_ATTEMPTS,
                "too many failed sign-ins; wait as Retry-After says",
                retry_after(r.retry_at, r.now),
            ),
        ),
        _row(HashingBusy, lambda r: busy(r.retry_after_s, "too many sign-ins at once; try again")),
        _row(PasswordRefusal, lambda r: invalid(r.sentence)),
        _row(LinkRefused, lambda r: unauthorized(_LINK_TEXTS[r.fault])),
        _row(
            ScopeMissing,
            lambda r: unauthorized(
                f"the token gives no operator right of the scope {r.scope.value}"
            ),
        ),
        _row(NotAnOperator, lambda _: not_found("email is not an operator")),
        _row(NoOperator, lambda _: unauthorized("the token gives no right of an operator")),
        _row(
            ScopeNotYours,
            lambda r: conflict(f"scopes: only holders of {r.scope.value} can grant or remove it"),
        ),
        _row(OwnScopes, lambda _: conflict("scopes of your own account: ask another operator")),
        _row(ValueRefused, lambda r: invalid(f"{r.field} {r.problem}")),
        _row(NoSuchEntity, lambda r: not_found(f"no member has the entity ID {r.entity_id}")),
        _row(
            RetiredForGood,
            lambda r: conflict(f"{r.entity_id} is retired for good: onboard it under another ID"),
        ),
        _row(
            EntryNotLive,
            lambda r: conflict(
                f"the registry entry of {r.entity_id} is {r.entry.value}: restore the entry first, "
                f"with mudra registry restore {r.entity_id}"
            ),
        ),
        _row(NoSuchUser, lambda _: not_found("no user of this ID, or the account is disabled")),
        _row(NotAnAdmin, lambda _: not_found("email is no admin of this entity")),
        _row(
            LastAdmin,
            lambda _: conflict(
                "email is the last admin who can act for entityId: add another one first"
            ),
        ),
        _row(
            WrongAccountKind,
            lambda _: conflict(
                "email has an account of the other kind: operators and admins of entities "
                "use accounts of their own"
            ),
        ),
        _row(AddressTaken, lambda _: conflict("email belongs to another account")),
        _row(
            MemberDiffers,
            lambda r: conflict(
                f"{r.existing.entity_id} exists with another {r.field}: nothing was changed"
            ),
        ),
        _row(NoSuchMail, lambda _: not_found("no unsent mail of this ID")),
        # Registry
        _row(PayloadRefused, lambda r: replace(invalid(r.sentence()), findings=r.findings)),
        _row(
            TooManyWrites,
            lambda r: rate_limited(
                r.retry_after_s,
                "the writes to the registry that one hour permits are used up; "
                "wait as Retry-After says",
            ),
        ),
        _row(NotYours, lambda r: unauthorized(r.sentence())),
        _row(NeedsOperator, lambda r: unauthorized(r.sentence())),
        _row(UnknownEntity, lambda r: not_found(r.sentence())),
        _row(UnknownVersion, lambda r: not_found(r.sentence())),
        _row(DuplicateEntity, lambda r: conflict(r.sentence())),
        _row(AlreadyHeld, lambda r: conflict(r.sentence())),
        _row(WrongState, lambda r: conflict(r.sentence())),
        _row(VersionMoved, lambda r: conflict(r.sentence())),
        _row(WrongType, lambda r: invalid(r.sentence())),
        _row(ReasonMissing, lambda r: invalid(r.sentence())),
        _row(GoLiveTooFar, lambda r: invalid(r.sentence())),
        # Network metrics
        _row(ReportRefused, lambda r: replace(invalid(r.sentence()), findings=r.findings)),
        _row(
            TxnIdReused,
            lambda r: Problem(
                409,
                ErrorCode.IDEMPOTENCY_ERROR,
                f"$.txnId was used at {iso_ms(r.earlier.received_at)} for other content; "
                "use a new txnId for each payload",
            ),
        ),
        _row(
            NotYourMetrics,
            lambda r: unauthorized(
                f"$.aaId must be {r.caller}, the entity of the token in Authorization"
            ),
        ),
        _row(
            TooManyPushes,
            lambda r: rate_limited(
                r.retry_after_s,
                "more pushes of this tag than are permitted; wait as Retry-After says",
            ),
        ),
        _row(
            TooBusyForPushes,
            lambda r: busy(
                r.retry_after_s,
                "as many pushes are in progress as can be accepted at once; nothing was stored, "
                "try again",
            ),
        ),
        _row(NoSuchIncident, lambda _: not_found("no incident of this ID")),
        _row(
            Acknowledged,
            lambda r: conflict(
                f"the incident was acknowledged by {r.by} in the meantime, so nothing was changed; "
                "open it again to take it over"
            ),
        ),
        _row(NoSuchSilence, lambda _: not_found("no active or scheduled silence of this ID")),
        _row(NoSuchWebhook, lambda _: not_found("no webhook of this ID")),
        _row(NotAMember, lambda r: not_found(f"no member has the entity ID {r.entity_id}")),
        _row(SilenceRefused, lambda r: invalid(f"{r.field} {r.problem}")),
        _row(UrlRefused, lambda r: invalid(f"url {r.problem}")),
        _row(
            TooManyWebhooks,
            lambda r: conflict(f"there are {r.most} webhooks already: remove one first"),
        ),
    )
)


def problem_of(refusal: Refusal) -> Problem:
    """Return how a refusal is shown; every 401 names a scheme (RFC 9110 15.5.2).

    Raises:
        KeyError: for a refusal without a row, which a test keeps from existing.
    """
    problem = _TABLE[type(refusal)](refusal)
    if problem.status == 401 and not problem.headers:  # noqa: PLR2004
        return replace(problem, headers=CHALLENGE)
    return problem


def refusals() -> frozenset[type[Refusal]]:
    """List the refusals that the table knows, for the test that proves it complete."""
    return frozenset(_TABLE)
