"""POST /user/token/generate (spec 4.1, 5.1)."""

from litestar import Response, post

from mudra.audit.event import Act, EventName
from mudra.http.answer import refusal, success
from mudra.http.errors import InvalidField, is_refusal
from mudra.http.exchange import AnyRequest, Exchange, receive_form
from mudra.http.openapi import FORM, described
from mudra.http.requests import UserTokenRequest
from mudra.http.responses import TokenResponse
from mudra.http.service import Injected, Service
from mudra.identity.password import MAX_LENGTH
from mudra.identity.ports import HashingBusy
from mudra.identity.sign_in import Admitted, admit, settle
from mudra.identity.user import User
from mudra.secret_text import SecretText
from mudra.tokens.claims import USER_TOKEN_LIFE, TokenKind, user_claims
from mudra.tokens.ports import UserTokenRecord


@post(
    "/user/token/generate",
    status_code=200,
    operation_class=described(
        "Generate a User Access Token", UserTokenRequest, TokenResponse, media=FORM
    ),
)
async def generate(request: AnyRequest, service: Injected) -> Response[bytes]:
    """Exchange username and password for a token of 180 days."""
    exchange, order = await receive_form(request, service, UserTokenRequest)
    if not isinstance(order, UserTokenRequest):
        return refusal(exchange.envelope, order).response()
    if not len(order.password):
        return refusal(
            exchange.envelope, InvalidField("password must be the user's password, not empty")
        ).response()
    outcome = await sign_in(exchange, order.username, order.password)
    if is_refusal(outcome):
        return refusal(exchange.envelope, outcome).response()
    assert isinstance(outcome, SecretText)
    return success(
        exchange.envelope,
        {
            "accessToken": outcome.reveal(),
            "expiresIn": int(USER_TOKEN_LIFE.total_seconds()),
            "tokenType": "Bearer",
        },
    ).response()


async def sign_in(exchange: Exchange, username: str, password: SecretText) -> SecretText | object:
    """Sign in and issue a token, or give the refusal; one hash on every branch (quality A6)."""
    service = exchange.service
    anonymous = exchange.caller("nobody")
    async with service.open_work() as work:
        admitted = await admit(username, anonymous, work.people, work.attempts, work.journal)
    if not isinstance(admitted, Admitted):
        return admitted
    # What is too long was never stored; hashing its head costs the same as any other.
    matches = await service.hasher.verify(
        admitted.stored_hash, SecretText(password.reveal()[: MAX_LENGTH + 1])
    )
    if isinstance(matches, HashingBusy):
        return matches
    await service.signer.ready()
    async with service.open_work() as work:
        user = await settle(
            admitted,
            anonymous,
            matches=matches,
            people=work.people,
            attempts=work.attempts,
            journal=work.journal,
        )
        if not isinstance(user, User):
            return user
        now = await work.people.now()
        jti = service.new_id()
        await work.tokens.keep_user_token(
            UserTokenRecord(jti, user.user_id, now, now + USER_TOKEN_LIFE, None)
        )
        await work.journal.note(
            Act(
                EventName.USER_TOKEN_ISSUE,
                exchange.caller(f"user:{user.user_id}"),
                user_id=user.user_id,
                detail={"jti": jti},
            )
        )
    return SecretText(service.signer.sign(TokenKind.USER, _claims(service, user, jti)))


def _claims(service: Service, user: User, jti: str) -> dict[str, object]:
    return dict(
        user_claims(
            service.terms,
            user_id=user.user_id,
            email=user.email,
            name=user.name,
            roles="admin",
            entity_ids=user.administers,
            jti=jti,
            issued_at=int(service.clock().timestamp()),
        )
    )
