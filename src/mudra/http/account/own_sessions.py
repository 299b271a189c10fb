"""A user's own sessions of the console: list them, end one."""

from typing import Final

from litestar import Response, get, post
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Caller
from mudra.bootstrap.unit_of_work import Work
from mudra.http.account.people_requests import NothingOrder, SessionOrder
from mudra.http.account.people_responses import SessionsAnswer, StatusAnswer
from mudra.http.account.people_shapes import session_members
from mudra.http.auth.as_user import user_call
from mudra.http.dependencies import Injected
from mudra.http.openapi.operation import described
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.identity.accounts.user import User
from mudra.identity.sessions.session import end_own_session, open_sessions


@get(
    "/user/session/list",
    operation_class=described(
        "List one's own sessions of the console", None, SessionsAnswer, bearer=True
    ),
)
async def list_sessions(request: AnyRequest, service: Injected) -> Response[bytes]:
    """List the caller's open sessions: since when, last used, from where."""
    exchange, order = receive_query(request, service, NothingOrder)

    async def act(work: Work, _: Caller, user: User) -> object:
        found = await open_sessions(user.user_id, await work.people.now(), work.sessions)
        return {"sessions": [session_members(one) for one in found]}

    return await user_call(exchange, order, act)


@post(
    "/user/session/end",
    status_code=200,
    operation_class=described(
        "End one of one's own sessions", SessionOrder, StatusAnswer, bearer=True
    ),
)
async def end_session(request: AnyRequest, service: Injected) -> Response[bytes]:
    """End one of the caller's sessions at once; one that is not the caller's is not found."""
    exchange, order = await receive_json(request, service, SessionOrder)

    async def act(work: Work, caller: Caller, user: User) -> object:
        assert isinstance(order, SessionOrder)
        ended = await end_own_session(
            user.user_id, order.session_id, caller, work.sessions, work.journal
        )
        return {"status": "ended" if ended else "nothing to end"}

    return await user_call(exchange, order, act)


handlers: Final[list[ControllerRouterHandler]] = [list_sessions, end_session]
