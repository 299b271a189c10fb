"""POST /entity/token/generate (spec 4.4, 5.2): the hot path.

Nothing here waits for the database while memory may be believed: the form is
parsed, the secret is hashed under a key and compared, the token is signed. So
most requests are answered at once (http/server/fast_path_protocol.py), the others by a
bare ASGI handler.
"""

from datetime import UTC, datetime
from email.utils import format_datetime

import msgspec
from litestar import Response, post
from litestar.handlers import HTTPRouteHandler
from litestar.types import Receive, Scope, Send

from mudra.http.dependencies import HttpDependencies
from mudra.http.openapi.operation import FORM, described
from mudra.http.request.client_address import address_key, client_address
from mudra.http.request.envelope import Body, Envelope, EnvelopeFault, new_txn_id, read_txn_id
from mudra.http.request.request_body import Headers, plain_form, read_form
from mudra.http.request.request_context import AnyRequest
from mudra.http.request.validation import decode_struct
from mudra.http.response.json_response import JsonResponse, refusal, success
from mudra.http.server.fast_path_protocol import PendingResponse, ReadyResponse
from mudra.http.token.requests import EntityTokenRequest
from mudra.http.token.responses import TokenResponse
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText
from mudra.shared.time_text import iso_ms
from mudra.tokens.authentication.secret_check import (
    RateLimited,
    SecretAccepted,
    SecretUnknown,
    judge,
)
from mudra.tokens.issuing.claims import ENTITY_TOKEN_LIFE, Claims, TokenKind, entity_claims
from mudra.tokens.ports import EntityCredentials

_EXPIRES_IN_S = int(ENTITY_TOKEN_LIFE.total_seconds())


class IssuedToken(msgspec.Struct, frozen=True):
    """A token with what its answer says besides; `grace_until` when the old secret was used."""

    text: SecretText
    scope: str
    grace_until: datetime | None


async def generate(scope: Scope, receive: Receive, send: Send, service: HttpDependencies) -> None:
    """Exchange entity ID and secret for a token of 24 hours."""
    await (await respond_to(scope, receive, service)).send(send)


class PresentedCredentials(msgspec.Struct, frozen=True):
    """Entity ID and secret, as somebody at `address` shows them."""

    entity_id: str
    secret: SecretText
    address: str
    txn_id: str


class Accepted(msgspec.Struct, frozen=True):
    """A secret that was right at an instant, and the claims that are to be signed for it."""

    presented: PresentedCredentials
    verdict: SecretAccepted
    claims: Claims
    jti: str
    at: datetime


async def respond_to(scope: Scope, receive: Receive, service: HttpDependencies) -> JsonResponse:
    """Read the form, judge the secret, sign; the answer before it is framed."""
    form = await read_form(receive, scope["headers"])
    if isinstance(form, Refusal):
        return refusal(Envelope(new_txn_id(), service.clock()), form)
    assert isinstance(form, dict)
    peer = scope["client"]
    presented = _presented(form, scope["headers"], peer[0] if peer else "", service)
    if isinstance(presented, JsonResponse):
        return presented
    issued = await issue_entity_token(presented, service)
    return _answer(issued, Envelope(presented.txn_id, service.clock()))


def try_fast_path(
    headers: Headers, body: bytes, peer: str, service: HttpDependencies
) -> PendingResponse | None:
    """Promise from memory alone what `answer_to` would answer.

    None where that is not possible: nothing was counted or noted then. A wrong secret and an
    entity that does not exist take this road or the other alike, so time does not tell them apart.
    """
    form = plain_form(headers, body)
    if form is None or not service.signer.is_ready():
        return None
    presented = _presented(form, headers, peer, service)
    if isinstance(presented, JsonResponse):
        return ReadyResponse(presented)
    credentials = service.credentials.get_cached(presented.entity_id)
    if credentials is None and not service.credentials.is_known_absent(presented.entity_id):
        return None
    now = service.clock()
    outcome = _limited(presented, service) or _judged(presented, credentials, service, now)
    if not isinstance(outcome, Accepted):
        return ReadyResponse(refusal(Envelope(presented.txn_id, now), outcome))
    return _Granted(outcome, service)


class _Granted(msgspec.Struct):
    """The token of a secret that was right."""

    accepted: Accepted
    service: HttpDependencies
    token: SecretText | None = None

    def sign(self) -> None:
        self.token = _signed(self.accepted, self.service)

    def answer(self) -> JsonResponse:
        assert self.token is not None
        issued = _issued(self.accepted, self.token, self.service)
        return _answer(issued, Envelope(self.accepted.presented.txn_id, self.accepted.at))


def _presented(
    form: dict[str, str], headers: Headers, peer: str, service: HttpDependencies
) -> PresentedCredentials | JsonResponse:
    txn_id = read_txn_id(form)
    if isinstance(txn_id, EnvelopeFault):
        return refusal(Envelope(new_txn_id(), service.clock()), txn_id)
    order = decode_struct(form, EntityTokenRequest)
    if not isinstance(order, EntityTokenRequest):
        return refusal(Envelope(txn_id, service.clock()), order)
    trusted = service.settings.trusted_proxies
    forwarded = [
        value.decode("latin-1")
        for key, value in (headers if trusted else ())
        if key == b"x-forwarded-for"
    ]
    return PresentedCredentials(
        order.id, order.secret, client_address(peer, forwarded, trusted), txn_id
    )


async def issue_entity_token(
    presented: PresentedCredentials, service: HttpDependencies
) -> IssuedToken | object:
    """Judge the secret and sign a token, or give the refusal; both are noted for the audit."""
    limited = _limited(presented, service)
    if limited:
        return limited
    credentials = service.credentials.get_cached(presented.entity_id)
    if credentials is None:
        credentials = await service.credentials.of(presented.entity_id)
    await service.signer.ready()
    outcome = _judged(presented, credentials, service, service.clock())
    if not isinstance(outcome, Accepted):
        return outcome
    return _issued(outcome, _signed(outcome, service), service)


def _limited(presented: PresentedCredentials, service: HttpDependencies) -> RateLimited | None:
    key = f"{presented.entity_id}\0{address_key(presented.address)}"
    wait_s = service.entity_rate.wait_s(key)
    return RateLimited(wait_s) if wait_s else None


def _judged(
    presented: PresentedCredentials,
    credentials: EntityCredentials | None,
    service: HttpDependencies,
    now: datetime,
) -> Accepted | object:
    entity_id, address, txn_id = presented.entity_id, presented.address, presented.txn_id
    mac = service.secret_mac(entity_id, presented.secret)
    verdict = judge(credentials, mac, now)
    if not isinstance(verdict, SecretAccepted):
        reason = "wrong-credentials" if isinstance(verdict, SecretUnknown) else "secret-ended"
        known_id = entity_id if credentials else ""
        service.issue_log.refused(known_id, address, txn_id, reason)
        return verdict
    jti = service.new_id()
    claims = entity_claims(
        service.terms,
        entity_id=entity_id,
        entity_type=verdict.credentials.entity_type,
        secret_expires_at=verdict.secret.expires_at,
        jti=jti,
        issued_at=int(now.timestamp()),
    )
    return Accepted(presented, verdict, claims, jti, now)


def _signed(accepted: Accepted, service: HttpDependencies) -> SecretText:
    return SecretText(service.signer.sign(TokenKind.ENTITY, accepted.claims))


def _issued(accepted: Accepted, token: SecretText, service: HttpDependencies) -> IssuedToken:
    presented, verdict = accepted.presented, accepted.verdict
    service.issue_log.issued(
        presented.entity_id,
        presented.address,
        presented.txn_id,
        version=verdict.secret.version,
        in_grace=verdict.grace_until is not None,
        jti=accepted.jti,
    )
    return IssuedToken(token, str(accepted.claims["scope"]), verdict.grace_until)


def _answer(issued: IssuedToken | object, envelope: Envelope) -> JsonResponse:
    if not isinstance(issued, IssuedToken):
        return refusal(envelope, issued)
    return success(envelope, _members(issued), headers=_sunset(issued))


def _members(issued: IssuedToken) -> Body:
    members: Body = {
        "accessToken": issued.text.reveal(),
        "expiresIn": _EXPIRES_IN_S,
        "tokenType": "Bearer",
    }
    if issued.grace_until is not None:
        members["message"] = (
            "The secret used is the old one: its grace period ends at "
            f"{iso_ms(issued.grace_until)}. Use the new secret from then on."
        )
    return members


def _sunset(issued: IssuedToken) -> dict[str, str]:
    """Say when the old secret ends (RFC 8594), only while it is used."""
    if issued.grace_until is None:
        return {}
    return {"Sunset": format_datetime(issued.grace_until.astimezone(UTC), usegmt=True)}


def described_route(service: HttpDependencies) -> HTTPRouteHandler:
    """Describe this path to Litestar: for OpenAPI, and for methods other than POST."""

    @post(
        "/entity/token/generate",
        status_code=200,
        operation_class=described(
            "Generate an Entity Access Token", EntityTokenRequest, TokenResponse, media=FORM
        ),
    )
    async def entity_token(request: AnyRequest) -> Response[bytes]:
        """Exchange entity ID and secret for a token of 24 hours."""
        return (await respond_to(request.scope, request.receive, service)).response()

    return entity_token
