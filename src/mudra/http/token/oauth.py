"""Standard clients: client credentials (RFC 6749 4.4), introspection (RFC 7662), revocation (7009).

OAuth's own answers and error words, here only (decisions 3).
"""

import base64
import binascii
from typing import Final
from urllib.parse import unquote_plus

import msgspec
from litestar import Response, post
from msgspec import Struct

from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.http.auth.bearer import authorization_of, token_in
from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.request.envelope import new_txn_id
from mudra.http.request.request_body import read_form
from mudra.http.request.request_context import AnyRequest, address_of
from mudra.http.response.errors import problem_of
from mudra.http.response.http_refusals import NoAuthorization
from mudra.http.response.problem import Problem
from mudra.http.token.entity_token import IssuedToken, PresentedCredentials, issue_entity_token
from mudra.shared.secret_text import SecretText
from mudra.tokens.authentication.secret_check import RateLimited, SecretAccepted, judge
from mudra.tokens.authentication.token_check import TokenFacts, examine
from mudra.tokens.issuing.claims import ENTITY_TOKEN_LIFE, TokenKind

_PRIVATE: Final = {"Cache-Control": "no-store", "Pragma": "no-cache"}
_MAX_ID: Final = 64


class ClientLogin(Struct, frozen=True):
    """What a client authenticates with."""

    entity_id: str
    secret: SecretText


class OAuthError(Struct, frozen=True):
    """An error in OAuth's words (RFC 6749 5.2)."""

    status: int
    error: str
    description: str
    retry_after_s: int = 0

    def response(self) -> Response[bytes]:
        """Frame it as HTTP."""
        headers = dict(_PRIVATE)
        if self.status == 401:  # noqa: PLR2004
            headers["WWW-Authenticate"] = 'Basic realm="mudra"'
        if self.retry_after_s:
            headers["Retry-After"] = str(self.retry_after_s)
        return _json(
            {"error": self.error, "error_description": self.description}, self.status, headers
        )


_BAD_CLIENT: Final = OAuthError(401, "invalid_client", "client id or secret is wrong")


@post("/oauth2/token", status_code=200, include_in_schema=False)
async def token(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Grant an Entity Access Token for client credentials."""
    form = await _form(request)
    if isinstance(form, OAuthError):
        return form.response()
    if "grant_type" not in form:
        return OAuthError(400, "invalid_request", "grant_type is missing").response()
    if form["grant_type"] != "client_credentials":
        return OAuthError(
            400, "unsupported_grant_type", "grant_type must be client_credentials"
        ).response()
    login = _login(request, form)
    if isinstance(login, OAuthError):
        return login.response()
    issued = await issue_entity_token(
        PresentedCredentials(
            login.entity_id, login.secret, address_of(request, service), new_txn_id()
        ),
        service,
    )
    if isinstance(issued, RateLimited):
        return OAuthError(
            429, "temporarily_unavailable", "too many requests", issued.retry_after_s
        ).response()
    if not isinstance(issued, IssuedToken):
        return _BAD_CLIENT.response()
    return _json(
        {
            "access_token": issued.text.reveal(),
            "token_type": "Bearer",
            "expires_in": int(ENTITY_TOKEN_LIFE.total_seconds()),
            "scope": issued.scope,
        },
        200,
        _PRIVATE,
    )


@post("/oauth2/introspect", status_code=200, include_in_schema=False)
async def introspect(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Tell whether a token stands; only `{"active": false}` for anything else (RFC 7662 2.2)."""
    form = await _form(request)
    if isinstance(form, OAuthError):
        return form.response()
    entity_id = await _authenticated(request, form, service)
    if isinstance(entity_id, OAuthError):
        return entity_id.response()
    if not form.get("token"):
        return OAuthError(400, "invalid_request", "token is missing").response()
    facts = examine(form["token"], service.terms, service.signer.find_key, service.clock())
    if not isinstance(facts, TokenFacts) or service.clock() >= facts.expires_at:
        return _inactive()
    if facts.kind is not TokenKind.ENTITY or not await _stands(facts, service):
        return _inactive()
    return _json({"active": True, "token_type": "Bearer", **facts.claims}, 200, _PRIVATE)


@post("/oauth2/revoke", status_code=200, include_in_schema=False)
async def revoke(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Revoke a token of the caller's own; 200 for an unknown one as well (RFC 7009 2.2)."""
    form = await _form(request)
    if isinstance(form, OAuthError):
        return form.response()
    if not form.get("token"):
        return OAuthError(400, "invalid_request", "token is missing").response()
    await service.signer.ready()
    facts = examine(form["token"], service.terms, service.signer.find_key, service.clock())
    if isinstance(facts, TokenFacts) and facts.kind is TokenKind.USER:
        await _revoke_user_token(facts, request, service)
        return Response(b"", media_type="application/json", headers=_PRIVATE)
    entity_id = await _authenticated(request, form, service)
    if isinstance(entity_id, OAuthError):
        return entity_id.response()
    if isinstance(facts, TokenFacts) and facts.subject == entity_id:
        caller = Caller(f"entity:{entity_id}", address_of(request, service), new_txn_id())
        async with service.unit_of_work() as work:
            if await work.tokens.revoke_entity_token(facts.jti, entity_id, facts.expires_at):
                await work.journal.note(
                    AuditEntry(
                        EventName.ENTITY_TOKEN_REVOKE, caller, entity_id, detail={"jti": facts.jti}
                    )
                )
    return Response(b"", media_type="application/json", headers=_PRIVATE)


async def _revoke_user_token(
    facts: TokenFacts, request: AnyRequest, service: HttpDependencies
) -> None:
    """Whoever holds a User Access Token may end it: possession is the right to do so."""
    caller = Caller(f"user:{facts.subject}", address_of(request, service), new_txn_id())
    async with service.unit_of_work() as work:
        if await work.tokens.revoke_user_token(facts.jti, await work.people.now()):
            await work.journal.note(
                AuditEntry(
                    EventName.USER_TOKEN_REVOKE,
                    caller,
                    user_id=facts.subject,
                    detail={"jti": facts.jti},
                )
            )


async def _stands(facts: TokenFacts, service: HttpDependencies) -> bool:
    async with service.unit_of_work() as work:
        if await work.tokens.entity_token_revoked(facts.jti):
            return False
    credentials = await service.credentials.of(facts.subject)
    return credentials is not None and credentials.active


async def _authenticated(
    request: AnyRequest, form: dict[str, str], service: HttpDependencies
) -> str | OAuthError:
    """Authenticate the calling entity by its secret or by an Entity Access Token."""
    header = authorization_of(request) or ""
    bearer = token_in(header, scheme_needed=True)
    await service.signer.ready()
    if not isinstance(bearer, NoAuthorization):
        facts = examine(bearer.reveal(), service.terms, service.signer.find_key, service.clock())
        if isinstance(facts, TokenFacts) and facts.kind is TokenKind.ENTITY:
            return facts.subject if await _stands(facts, service) else _BAD_CLIENT
        return _BAD_CLIENT
    login = _login(request, form)
    if isinstance(login, OAuthError):
        return login
    credentials = await service.credentials.of(login.entity_id)
    mac = service.secret_mac(login.entity_id, login.secret)
    verdict = judge(credentials, mac, service.clock())
    return login.entity_id if isinstance(verdict, SecretAccepted) else _BAD_CLIENT


def _login(request: AnyRequest, form: dict[str, str]) -> ClientLogin | OAuthError:
    """Take `client_secret_basic` or `client_secret_post`, never both (RFC 6749 2.3)."""
    header = authorization_of(request) or ""
    if header:
        if "client_secret" in form:
            return OAuthError(400, "invalid_request", "use one way of client authentication only")
        return _basic(header)
    entity_id, secret = form.get("client_id", ""), form.get("client_secret", "")
    if not entity_id or not secret or len(entity_id) > _MAX_ID:
        return _BAD_CLIENT
    return ClientLogin(entity_id, SecretText(secret))


def _basic(header: str) -> ClientLogin | OAuthError:
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        return _BAD_CLIENT
    try:
        decoded = base64.b64decode(encoded.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return _BAD_CLIENT
    entity_id, colon, secret = decoded.partition(":")
    entity_id, secret = unquote_plus(entity_id), unquote_plus(secret)
    if not colon or not entity_id or not secret or len(entity_id) > _MAX_ID:
        return _BAD_CLIENT
    return ClientLogin(entity_id, SecretText(secret))


async def _form(request: AnyRequest) -> dict[str, str] | OAuthError:
    form = await read_form(request.receive, request.scope["headers"])
    if isinstance(form, dict):
        return form
    problem: Problem = problem_of(form)
    return OAuthError(problem.status, "invalid_request", problem.sentence)


def _inactive() -> Response[bytes]:
    return _json({"active": False}, 200, _PRIVATE)


def _json(document: object, status: int, headers: dict[str, str]) -> Response[bytes]:
    return Response(
        msgspec.json.encode(document),
        status_code=status,
        media_type="application/json",
        headers=headers,
    )
