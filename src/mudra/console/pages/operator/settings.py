"""The settings in force with their sources; of a secret one only whether it is set."""

from typing import Final

from litestar import Response, get
from litestar.types import ControllerRouterHandler

from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import any_operator_page
from mudra.console.framework.page_results import Outcome, RenderedPage
from mudra.console.framework.table import Column, Table
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest
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


@get("/operator/settings", include_in_schema=False)
async def show_settings(
    request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """Show the settings of this service."""

    async def handle(page_context: PageContext) -> Outcome:
        rows = dependencies.shown_settings
        return TABLE.export(rows, page_context.query) or RenderedPage(
            "operator_settings.html", {"view": TABLE.view(rows, page_context.query)}
        )

    return await any_operator_page(request, dependencies, handle)


handlers: Final[list[ControllerRouterHandler]] = [show_settings]
