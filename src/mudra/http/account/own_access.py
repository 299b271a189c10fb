"""/user/token and /user/session: the caller's own tokens and console sessions."""

from typing import Annotated, Final

from litestar import Response, get, post
from litestar.types import ControllerRouterHandler
from msgspec import Meta, Struct, field

from mudra.audit.event import Caller
from mudra.http.auth.as_user import as_user
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.fields import NoParameters, UuidOrNone
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.account_responses import TokensResponse, tokens_response
from mudra.http.response.json_response import HandlerResult
from mudra.http.response.response_body import DateTime, ResponseBody, StatusResponse
from mudra.identity.accounts.manage_accounts import end_token
from mudra.identity.accounts.user import User
from mudra.identity.sessions.session import Session, end_own_session, open_sessions
from mudra.shared.time_text import iso_ms
from mudra.unit_of_work import UnitOfWork


class TokenRequest(Struct, frozen=True):
    """End one of the caller's tokens."""

    jti: UuidOrNone


class SessionRequest(Struct, frozen=True):
    """End one of the caller's console sessions."""

    session_id: Annotated[
        str,
        Meta(pattern=r"^[0-9a-f]{16}\Z", description="16 hexadecimal digits, as the list has it"),
    ] = field(name="sessionId")


class SessionDetails(Struct, kw_only=True):
    """An open console session; never the content of its cookie."""

    session_id: str = field(name="sessionId")
    began_at: DateTime = field(name="beganAt")
    last_used_at: DateTime = field(name="lastUsedAt")
    address: str


class SessionsResponse(ResponseBody, kw_only=True):
    """A user's open console sessions, the newest first."""

    sessions: list[SessionDetails]


@get(
    "/user/token/list",
    operation_class=described("List your own tokens", None, TokensResponse, bearer=True),
)
async def list_tokens(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List the caller's tokens with the last use of each."""
    context, received = receive_query(request, service, NoParameters)

    async def handler(work: UnitOfWork, _: Caller, user: User, __: NoParameters) -> HandlerResult:
        return tokens_response(await work.memberships.tokens(user.user_id))

    return await as_user(context, received, handler)


@post(
    "/user/token/revoke",
    status_code=200,
    operation_class=described(
        "End one of your own tokens", TokenRequest, StatusResponse, bearer=True
    ),
)
async def revoke_token(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """End one of the caller's tokens; a token of another user is not found."""
    context, received = await receive_json(request, service, TokenRequest)

    async def handler(
        work: UnitOfWork, caller: Caller, user: User, received: TokenRequest
    ) -> HandlerResult:
        ended = await end_token(work, user.user_id, received.jti, caller)
        return StatusResponse(status="revoked" if ended else "nothing to revoke")

    return await as_user(context, received, handler)


@get(
    "/user/session/list",
    operation_class=described(
        "List your own console sessions", None, SessionsResponse, bearer=True
    ),
)
async def list_sessions(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List the caller's open sessions: since when, last used, from where."""
    context, received = receive_query(request, service, NoParameters)

    async def handler(work: UnitOfWork, _: Caller, user: User, __: NoParameters) -> HandlerResult:
        found = await open_sessions(user.user_id, await work.people.now(), work.sessions)
        return SessionsResponse(sessions=[_session_details(session) for session in found])

    return await as_user(context, received, handler)


@post(
    "/user/session/end",
    status_code=200,
    operation_class=described(
        "End one of your own sessions", SessionRequest, StatusResponse, bearer=True
    ),
)
async def end_session(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """End one of the caller's sessions immediately; a session of another user is not found."""
    context, received = await receive_json(request, service, SessionRequest)

    async def handler(
        work: UnitOfWork, caller: Caller, user: User, received: SessionRequest
    ) -> HandlerResult:
        ended = await end_own_session(
            user.user_id, received.session_id, caller, work.sessions, work.audit_log
        )
        return StatusResponse(status="ended" if ended else "nothing to end")

    return await as_user(context, received, handler)


def _session_details(session: Session) -> SessionDetails:
    return SessionDetails(
        session_id=session.session_id,
        began_at=iso_ms(session.started_at),
        last_used_at=iso_ms(session.last_used_at),
        address=session.address,
    )


handlers: Final[list[ControllerRouterHandler]] = [
    list_tokens,
    revoke_token,
    list_sessions,
    end_session,
]
