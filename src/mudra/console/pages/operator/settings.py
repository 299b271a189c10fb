"""The settings in force with their sources; of a secret one only whether it is set."""

from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Outcome, RenderedPage
from mudra.console.framework.table import Column, Table
from mudra.http.auth.gates import operator
from mudra.overview.administration import SettingDetails, Source

TONES: Final = {Source.DEFAULT: "quiet", Source.ENVIRONMENT: "good", Source.COMMAND_LINE: "warn"}
TABLE: Final = Table[SettingDetails](
    "settings",
    "Settings",
    (
        Column("name", "Setting", lambda s: s.env, "code"),
        Column("value", "Value", lambda s: s.value or None),
        Column("source", "From", lambda s: s.source.value, "tag", tone=lambda s: TONES[s.source]),
        Column("meaning", "What it is", lambda s: s.meaning),
        Column("allowed", "Allowed", lambda s: s.allowed),
    ),
    first_sort="name",
)


@page.get("/operator/settings", gate=operator())
async def show_settings(page_context: PageContext) -> Outcome:
    """Show the settings of this service."""
    rows = page_context.dependencies.shown_settings
    return TABLE.export(rows, page_context.query) or RenderedPage(
        "operator_settings.html", {"view": TABLE.view(rows, page_context.query)}
    )


handlers: Final[list[ControllerRouterHandler]] = [show_settings]
