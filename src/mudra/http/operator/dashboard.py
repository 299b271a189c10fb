"""/operator/v1/board and /settings: what needs attention this week, and the settings in force."""

from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.http.auth.gates import OperatorCall, operator
from mudra.http.request.fields import NoParameters
from mudra.http.response.operator_responses import (
    DashboardResponse,
    SettingsResponse,
    dashboard_row,
    setting_response,
)
from mudra.http.route import get
from mudra.overview.board.operator_dashboard import read_dashboard
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms


@get("/board", "Show the board", gate=operator())
async def show_board(call: OperatorCall[NoParameters]) -> DashboardResponse | Refusal:
    """Show what needs attention this week, as far as the caller's scopes show it."""
    found = await read_dashboard(call.tx, call.operator.scopes)
    rows = [dashboard_row(row) for row in found.rows]
    return DashboardResponse(
        rows=rows,
        hidden=[kind.value for kind in found.hidden],
        counts={kind.value: count for kind, count in found.counts.items()},
        unjudged_since=iso_ms(found.unjudged_since) if found.unjudged_since else None,
    )


@get("/settings", "Show settings", gate=operator())
async def show_settings(call: OperatorCall[NoParameters]) -> SettingsResponse | Refusal:
    """Show the settings in force with their sources, to an operator of any scope."""
    return SettingsResponse(
        settings=[setting_response(one) for one in call.dependencies.shown_settings]
    )


handlers: Final[list[ControllerRouterHandler]] = [show_board, show_settings]
