"""/operator/v1/board and /settings: what breaks this week, and how this service is set up."""

from typing import Final

from litestar import Response, get
from litestar.types import ControllerRouterHandler

from mudra.http.auth.bearer import verified_bearer
from mudra.http.auth.operator_access import any_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.operator.shapes import BoardResponse, SettingsResponse
from mudra.http.request.envelope import Body
from mudra.http.request.fields import NoParameters
from mudra.http.request.request_context import AnyRequest, receive_query
from mudra.http.response.json_response import refusal, success
from mudra.overview.operator_dashboard import BoardRow, board
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms


@get("/board", operation_class=described("Show the board", None, BoardResponse, bearer=True))
async def show_board(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Show what breaks this week, as far as the caller's scopes show it."""
    context, query = receive_query(request, service, NoParameters)
    token = await verified_bearer(context)
    async with service.unit_of_work() as work:
        found = await any_operator(token, context, work)
        if isinstance(found, Refusal):
            return refusal(context.envelope, found).response()
        if isinstance(query, Refusal):
            return refusal(context.envelope, query).response()
        shown = await board(work, found.scopes)
    members: Body = {
        "rows": [board_fields(row) for row in shown.rows],
        "hidden": [kind.value for kind in shown.hidden],
    }
    return success(context.envelope, members).response()


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
    rows = [
        {
            "name": one.env,
            "value": one.value,
            "source": one.source.value,
            "meaning": one.meaning,
            "allowed": one.allowed,
        }
        for one in service.shown_settings
    ]
    return success(context.envelope, {"settings": rows}).response()


def board_fields(row: BoardRow) -> Body:
    """Write one row of the board."""
    return {
        "kind": row.kind.value,
        "urgency": row.urgency.value,
        "subject": row.subject,
        "entityId": row.entity_id,
        "at": iso_ms(row.at),
        "what": row.what,
        "nextAct": row.next_act,
    }


handlers: Final[list[ControllerRouterHandler]] = [show_board, show_settings]
