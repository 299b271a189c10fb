"""/operator/v1/board and /settings: what needs attention this week, and the settings in force."""

from typing import Final

from litestar import Response, get
from litestar.types import ControllerRouterHandler

from mudra.http.auth.bearer import verified_bearer
from mudra.http.auth.operator_access import any_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.fields import NoParameters
from mudra.http.request.request_context import AnyRequest, receive_query
from mudra.http.response.json_response import refusal, success
from mudra.http.response.operator_responses import (
    BoardResponse,
    SettingsResponse,
    board_row,
    setting_response,
)
from mudra.overview.operator_dashboard import board
from mudra.shared.refusal import Refusal


@get("/board", operation_class=described("Show the board", None, BoardResponse, bearer=True))
async def show_board(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Show what needs attention this week, as far as the caller's scopes show it."""
    context, query = receive_query(request, service, NoParameters)
    token = await verified_bearer(context)
    async with service.unit_of_work() as work:
        found = await any_operator(token, context, work)
        if isinstance(found, Refusal):
            return refusal(context.envelope, found).response()
        if isinstance(query, Refusal):
            return refusal(context.envelope, query).response()
        shown = await board(work, found.scopes)
    rows = [board_row(row) for row in shown.rows]
    body = BoardResponse(rows=rows, hidden=[kind.value for kind in shown.hidden])
    return success(context.envelope, body).response()


@get("/settings", operation_class=described("Show settings", None, SettingsResponse, bearer=True))
async def show_settings(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Show the settings in force with their sources, to an operator of any scope."""
    context, query = receive_query(request, service, NoParameters)
    token = await verified_bearer(context)
    async with service.unit_of_work() as work:
        found = await any_operator(token, context, work)
    if isinstance(found, Refusal):
        return refusal(context.envelope, found).response()
    if isinstance(query, Refusal):
        return refusal(context.envelope, query).response()
    rows = [setting_response(one) for one in service.shown_settings]
    return success(context.envelope, SettingsResponse(settings=rows)).response()


handlers: Final[list[ControllerRouterHandler]] = [show_board, show_settings]
