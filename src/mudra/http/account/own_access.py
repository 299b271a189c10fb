"""/user/token and /user/session: the caller's own tokens and console sessions."""

from typing import Annotated, Final

from litestar.types import ControllerRouterHandler
from msgspec import Meta, Struct, field

from mudra.http.auth.gates import SIGNED_IN, UserCall
from mudra.http.request.fields import NoParameters, UuidOrNone
from mudra.http.response.account_responses import TokensResponse, tokens_response
from mudra.http.response.response_body import DateTime, ResponseBody, StatusResponse
from mudra.http.route import get, post
from mudra.identity.accounts.acts.manage_accounts import end_token
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user_token_store import UserTokens
from mudra.identity.sessions.console_sessions import end_own_session, open_sessions
from mudra.identity.sessions.session import Session
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms


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


@get("/user/token/list", "List your own tokens", gate=SIGNED_IN)
async def list_tokens(call: UserCall[NoParameters]) -> TokensResponse | Refusal:
    """List the caller's tokens with the last use of each."""
    return tokens_response(await UserTokens(call.tx).tokens(call.user.user_id))


@post("/user/token/revoke", "End one of your own tokens", gate=SIGNED_IN)
async def revoke_token(call: UserCall[TokenRequest]) -> StatusResponse:
    """End one of the caller's tokens; where none has this ID, 200 and nothing is ended."""
    ended = await end_token(call.tx, call.user.user_id, call.body.jti, call.caller)
    return StatusResponse(status="revoked" if ended else "nothing to revoke")


@get("/user/session/list", "List your own console sessions", gate=SIGNED_IN)
async def list_sessions(call: UserCall[NoParameters]) -> SessionsResponse:
    """List the caller's open sessions: since when, last used, from where."""
    found = await open_sessions(call.tx, call.user.user_id, await People(call.tx).now())
    return SessionsResponse(sessions=[_session_details(session) for session in found])


@post("/user/session/end", "End one of your own sessions", gate=SIGNED_IN)
async def end_session(call: UserCall[SessionRequest]) -> StatusResponse:
    """End one of the caller's sessions; where none has this ID, 200 and nothing is ended."""
    ended = await end_own_session(call.tx, call.user.user_id, call.body.session_id, call.caller)
    return StatusResponse(status="ended" if ended else "nothing to end")


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
