"""A user's own sessions of the console: list them, end one."""

from typing import Final

from litestar import Response, get, post
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Caller
from mudra.http.account.people_requests import NoParameters, SessionRequest
from mudra.http.account.people_responses import SessionsResponse, StatusResponse
from mudra.http.account.people_shapes import session_details
from mudra.http.auth.as_user import as_user
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.json_response import HandlerResult
from mudra.identity.accounts.user import User
from mudra.identity.sessions.session import end_own_session, open_sessions
from mudra.unit_of_work import UnitOfWork


@get(
    "/user/session/list",
    operation_class=described(
        "List one's own sessions of the console", None, SessionsResponse, bearer=True
    ),
)
async def list_sessions(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List the caller's open sessions: since when, last used, from where."""
    context, order = receive_query(request, service, NoParameters)

    async def act(work: UnitOfWork, _: Caller, user: User, _request: NoParameters) -> HandlerResult:
        found = await open_sessions(user.user_id, await work.people.now(), work.sessions)
        return SessionsResponse(sessions=[session_details(one) for one in found])

    return await as_user(context, order, act)


@post(
    "/user/session/end",
    status_code=200,
    operation_class=described(
        "End one of one's own sessions", SessionRequest, StatusResponse, bearer=True
    ),
)
async def end_session(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """End one of the caller's sessions at once; one that is not the caller's is not found."""
    context, order = await receive_json(request, service, SessionRequest)

    async def act(
        work: UnitOfWork, caller: Caller, user: User, order: SessionRequest
    ) -> HandlerResult:
        ended = await end_own_session(
            user.user_id, order.session_id, caller, work.sessions, work.journal
        )
        return StatusResponse(status="ended" if ended else "nothing to end")

    return await as_user(context, order, act)


handlers: Final[list[ControllerRouterHandler]] = [list_sessions, end_session]
