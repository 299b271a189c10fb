"""Standard clients: client credentials (RFC 6749 4.4), introspection (RFC 7662), revocation (7009).

A client authenticates by its secret, or by an assertion that its registered key signed (RFC 7523).

OAuth's own responses and error codes, here only.
"""

import base64
import binascii
from typing import Final
from urllib.parse import unquote_plus

import msgspec
from litestar import Response, post
from litestar.openapi.spec import Operation
from msgspec import Struct

from mudra.audit.event import Caller
from mudra.http.auth.bearer import authorization_of, has_proof, presented_proof, presented_token
from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.openapi.operation import FORM, described
from mudra.http.request.body.request_body import read_form
from mudra.http.request.request_context import AnyRequest, address_of, new_txn_id
from mudra.http.response.errors import problem_of
from mudra.http.response.http_refusals import NoAuthorization
from mudra.http.token.oauth_shapes import (
    Inactive,
    OAuthErrorBody,
    OAuthIntrospection,
    OAuthPresentedToken,
    OAuthToken,
    OAuthTokenRequest,
)
from mudra.settings.settings import Settings
from mudra.shared.dpop_proof import ProofInvalid, bound_key
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText
from mudra.tokens.authentication.assertion_authenticator import PresentedAssertion
from mudra.tokens.authentication.client_assertion import AssertionInvalid
from mudra.tokens.authentication.entity_authenticator import PresentedCredentials
from mudra.tokens.authentication.proof_guard import TooManyProofs
from mudra.tokens.authentication.secret_check import (
    AuthenticatedEntity,
    EntityAuthenticationRefusal,
    RateLimited,
)
from mudra.tokens.authentication.token_check import VerifiedToken
from mudra.tokens.claims import ENTITY_SCOPE, ENTITY_TOKEN_LIFE_S, TokenKind
from mudra.tokens.issuing.issue_bound_token import BoundTokenOutcome
from mudra.tokens.issuing.issue_entity_token import BEARER, DPOP
from mudra.tokens.ports import EntityCredentials
from mudra.tokens.revocation.revocation_limit import TooManyRevocations
from mudra.tokens.revocation.revoke_token import revoke_entity_token, revoke_user_token
from mudra.tokens.secrets.address_binding import AddressNotListed

_PRIVATE: Final = {"Cache-Control": "no-store", "Pragma": "no-cache"}
_MAX_ID: Final = 64
ASSERTION_TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


class OAuthError(Struct, frozen=True):
    """An error in OAuth's own codes (RFC 6749 5.2)."""

    status: int
    error: str
    description: str
    retry_after_s: int = 0

    def response(self) -> Response[bytes]:
        """Frame it as HTTP."""
        headers = dict(_PRIVATE)
        if self.status == 401:  # noqa: PLR2004  # Unauthorized
            headers["WWW-Authenticate"] = 'Basic realm="mudra"'
        if self.retry_after_s:
            headers["Retry-After"] = str(self.retry_after_s)
        return _json(OAuthErrorBody(self.error, self.description), self.status, headers)


_BAD_CLIENT: Final = OAuthError(401, "invalid_client", "client id or secret is wrong")
_NO_TOKEN: Final = OAuthError(400, "invalid_request", "token is missing")


async def issue_token(request: AnyRequest, dependencies: InjectedDependencies) -> Response[bytes]:
    """Issue an Entity Access Token for client credentials."""
    form = await _form(request)
    if isinstance(form, OAuthError):
        return form.response()
    if not form.get("grant_type"):
        return OAuthError(400, "invalid_request", "grant_type is missing").response()
    if form["grant_type"] != "client_credentials":
        return OAuthError(
            400, "unsupported_grant_type", "grant_type must be client_credentials"
        ).response()
    presented = _presented(request, form, dependencies)
    if isinstance(presented, OAuthError):
        return presented.response()
    issued: BoundTokenOutcome
    if has_proof(request.scope["headers"]):
        proof = presented_proof(request.scope, dependencies.settings)
        issued = await dependencies.bound_tokens.issue(presented, proof)
    elif isinstance(presented, PresentedAssertion):
        issued = await dependencies.assertion_tokens.issue(presented)
    else:
        issued = await dependencies.entity_tokens.issue(presented)
    if isinstance(issued, ProofInvalid):
        return OAuthError(400, "invalid_dpop_proof", issued.sentence).response()
    if isinstance(issued, Refusal):
        return _client_refused(issued).response()
    life = ENTITY_TOKEN_LIFE_S
    return _json(OAuthToken(issued.text.reveal(), issued.token_type, life, ENTITY_SCOPE))


def _operation(summary: str, reads: type[Struct], *answers: type[Struct]) -> type[Operation]:
    return described(summary, reads, *answers, media=FORM, refuses=OAuthErrorBody, traced=False)


token: Final = post(
    "/oauth2/token",
    status_code=200,
    tags=["OAuth"],
    operation_class=_operation("Get a token as OAuth has it", OAuthTokenRequest, OAuthToken),
)(issue_token)


@post(
    "/oauth2/introspect",
    status_code=200,
    tags=["OAuth"],
    operation_class=_operation("Introspect a token", OAuthPresentedToken, OAuthIntrospection),
)
async def introspect(request: AnyRequest, dependencies: InjectedDependencies) -> Response[bytes]:
    """Return an active token's claims; only `{"active": false}` for anything else."""
    form = await _form(request)
    if isinstance(form, OAuthError):
        return form.response()
    client_id = await _authenticated_client(request, form, dependencies)
    if isinstance(client_id, OAuthError):
        return client_id.response()
    if not form.get("token"):
        return _NO_TOKEN.response()
    active = await dependencies.bearer.introspect(SecretText(form["token"]))
    if active is None:
        return _json(Inactive())
    kind = DPOP if bound_key(active.claims) else BEARER
    return _json({"active": True, "token_type": kind, **active.claims})


@post(
    "/oauth2/revoke",
    status_code=200,
    tags=["OAuth"],
    operation_class=_operation("Revoke a token", OAuthPresentedToken),
)
async def revoke(request: AnyRequest, dependencies: InjectedDependencies) -> Response[bytes]:
    """Revoke a token of the caller's own; 200 for an unknown one as well (RFC 7009 2.2).

    That answer has no body. Another client's token is refused with 400 `invalid_grant`, and one
    more than an entity may have revoked at a time with 429 `temporarily_unavailable`.
    """
    form = await _form(request)
    if isinstance(form, OAuthError):
        return form.response()
    if not form.get("token"):
        return _NO_TOKEN.response()
    found = await dependencies.bearer.verify(SecretText(form["token"]))
    address, txn_id = address_of(request, dependencies), new_txn_id()
    if isinstance(found, VerifiedToken) and found.kind is TokenKind.USER:
        caller = Caller(f"user:{found.subject}", address, txn_id)
        async with dependencies.transaction() as tx:
            await revoke_user_token(tx, found, caller)
        return Response(b"", media_type="application/json", headers=_PRIVATE)
    client_id = await _authenticated_client(request, form, dependencies)
    if isinstance(client_id, OAuthError):
        return client_id.response()
    if isinstance(found, VerifiedToken):
        caller = Caller(f"entity:{client_id}", address, txn_id)
        async with dependencies.revoke_turns.turn(client_id), dependencies.transaction() as tx:
            refused = await revoke_entity_token(tx, found, client_id, caller)
        if isinstance(refused, TooManyRevocations):
            return _too_many(refused, refused.sentence).response()
        if refused is not None:
            return OAuthError(400, "invalid_grant", refused.sentence).response()
    return Response(b"", media_type="application/json", headers=_PRIVATE)


async def _authenticated_client(
    request: AnyRequest, form: dict[str, str], dependencies: HttpDependencies
) -> str | OAuthError:
    """Authenticate the calling entity by its secret or by an Entity Access Token."""
    bearer = presented_token(request, dependencies)
    if not isinstance(bearer, NoAuthorization):
        caller = await dependencies.bearer.authenticate_entity(bearer)
        if isinstance(caller, ProofInvalid):
            return OAuthError(401, "invalid_dpop_proof", caller.sentence)
        if isinstance(caller, TooManyProofs):
            return _client_refused(caller)
        return _BAD_CLIENT if isinstance(caller, Refusal) else caller.entity_id
    presented = _presented(request, form, dependencies)
    if isinstance(presented, OAuthError):
        return presented
    outcome = (
        await dependencies.assertion_tokens.authenticator.authenticate(presented)
        if isinstance(presented, PresentedAssertion)
        else await dependencies.entity_tokens.authenticator.authenticate(presented)
    )
    match outcome:
        case AuthenticatedEntity():
            return outcome.credentials.entity_id
        case EntityCredentials():
            return outcome.entity_id
        case _:
            return _client_refused(outcome)


def _client_refused(
    refused: EntityAuthenticationRefusal | AssertionInvalid | TooManyProofs,
) -> OAuthError:
    if isinstance(refused, AssertionInvalid | AddressNotListed):
        return OAuthError(401, "invalid_client", refused.sentence)
    if isinstance(refused, RateLimited | TooManyProofs):
        return _too_many(refused, "too many requests")
    return _BAD_CLIENT


def _too_many(
    refused: RateLimited | TooManyProofs | TooManyRevocations, sentence: str
) -> OAuthError:
    return OAuthError(429, "temporarily_unavailable", sentence, refused.retry_after_s)


def _presented(
    request: AnyRequest, form: dict[str, str], dependencies: HttpDependencies
) -> PresentedCredentials | PresentedAssertion | OAuthError:
    """Read one way of client authentication, never two (RFC 6749 2.3, RFC 7521 4.2)."""
    header = authorization_of(request) or ""
    ways = (header, form.get("client_secret"), form.get("client_assertion"))
    if sum(bool(way) for way in ways) > 1:
        return OAuthError(400, "invalid_request", "use one way of client authentication only")
    if form.get("client_assertion"):
        return _assertion(request, form, dependencies)
    entity_id, secret = (
        basic_credentials(header)
        if header
        else (form.get("client_id", ""), form.get("client_secret", ""))
    )
    if not entity_id or not secret or len(entity_id) > _MAX_ID:
        return _BAD_CLIENT
    return PresentedCredentials(
        entity_id, SecretText(secret), address_of(request, dependencies), new_txn_id()
    )


def _assertion(
    request: AnyRequest, form: dict[str, str], dependencies: HttpDependencies
) -> PresentedAssertion | OAuthError:
    if form.get("client_assertion_type") != ASSERTION_TYPE:
        return OAuthError(400, "invalid_request", f"client_assertion_type must be {ASSERTION_TYPE}")
    text = SecretText(form["client_assertion"])
    address, client_id = address_of(request, dependencies), form.get("client_id", "")
    return PresentedAssertion(text, address, new_txn_id(), client_id)


def assertion_audiences(settings: Settings) -> tuple[str, ...]:
    """Return what `aud` of an assertion may be: the issuer, or the token endpoint (RFC 7523 3)."""
    return settings.issuer, f"{settings.issuer}/oauth2/token"


def basic_credentials(header: str) -> tuple[str, str]:
    """Return user and password of HTTP Basic; empty ones where the header cannot be read."""
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        return "", ""
    try:
        decoded = base64.b64decode(encoded.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return "", ""
    entity_id, _, secret = decoded.partition(":")
    return unquote_plus(entity_id), unquote_plus(secret)


async def _form(request: AnyRequest) -> dict[str, str] | OAuthError:
    form = await read_form(request.receive, request.scope["headers"])
    if not isinstance(form, Refusal):
        return form
    problem = problem_of(form)
    return OAuthError(problem.status, "invalid_request", problem.sentence)


def _json(
    body: object, status: int = 200, headers: dict[str, str] | None = None
) -> Response[bytes]:
    return Response(
        msgspec.json.encode(body),
        status_code=status,
        media_type="application/json",
        headers=headers or _PRIVATE,
    )
