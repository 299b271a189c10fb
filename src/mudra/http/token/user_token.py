"""POST /user/token/generate (spec 4.1, 5.1)."""

from litestar import Response, post
from msgspec import Struct

from mudra.audit.event import AuditEntry, EventName
from mudra.http.auth.with_password import with_password
from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.openapi.operation import FORM, described
from mudra.http.request.request_context import AnyRequest, RequestContext, receive_form
from mudra.http.response.json_response import refusal, success
from mudra.http.token.requests import UserTokenRequest
from mudra.http.token.responses import TokenResponse
from mudra.identity.accounts.user import User
from mudra.identity.operators.operator import Scope
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText
from mudra.tokens.issuing.claims import USER_TOKEN_LIFE, ClaimValue, TokenKind, user_claims
from mudra.tokens.ports import UserTokenRecord
from mudra.unit_of_work import UnitOfWork


@post(
    "/user/token/generate",
    status_code=200,
    operation_class=described(
        "Generate a User Access Token", UserTokenRequest, TokenResponse, media=FORM
    ),
)
async def generate(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Exchange username and password for a token of 180 days."""
    context, order = await receive_form(request, service, UserTokenRequest)
    if not isinstance(order, UserTokenRequest):
        return refusal(context.envelope, order).response()
    outcome = await sign_in(context, order.username, order.password)
    if isinstance(outcome, Refusal):
        return refusal(context.envelope, outcome).response()
    assert isinstance(outcome, SecretText)
    return success(
        context.envelope,
        {
            "accessToken": outcome.reveal(),
            "expiresIn": int(USER_TOKEN_LIFE.total_seconds()),
            "tokenType": "Bearer",
        },
    ).response()


async def sign_in(
    context: RequestContext, username: str, password: SecretText
) -> SecretText | object:
    """Sign in and issue a token, or give the refusal."""
    service = context.service

    async def issue(work: UnitOfWork, user: User) -> _Issued:
        now = await work.people.now()
        jti = service.new_id()
        await work.tokens.keep_user_token(
            UserTokenRecord(jti, user.user_id, now, now + USER_TOKEN_LIFE, None)
        )
        await work.journal.note(
            AuditEntry(
                EventName.USER_TOKEN_ISSUE,
                context.caller(f"user:{user.user_id}"),
                user_id=user.user_id,
                detail={"jti": jti},
            )
        )
        return _Issued(user, jti, await work.memberships.scopes(user.user_id))

    issued = await with_password(context, username, password, issue)
    if not isinstance(issued, _Issued):
        return issued
    claims = _claims(service, issued.user, issued.jti, "operator" if issued.scopes else "admin")
    if issued.scopes:
        # For people and their tools; what counts is read from the database at each call.
        claims["scope"] = " ".join(sorted(scope.value for scope in issued.scopes))
    await service.signer.ready()
    return SecretText(service.signer.sign(TokenKind.USER, claims))


class _Issued(Struct, frozen=True):
    user: User
    jti: str
    scopes: frozenset[Scope]


def _claims(service: HttpDependencies, user: User, jti: str, roles: str) -> dict[str, ClaimValue]:
    return user_claims(
        service.terms,
        user_id=user.user_id,
        email=user.email,
        name=user.name,
        roles=roles,
        entity_ids=user.administers,
        jti=jti,
        issued_at=int(service.clock().timestamp()),
    )
