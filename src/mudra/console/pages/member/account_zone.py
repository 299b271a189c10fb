"""The switch of the time zone of pages, on each page and on that of the account."""

from typing import Final

from litestar import Response, post
from litestar.types import ControllerRouterHandler

from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import Fields, own_form
from mudra.console.framework.page_responses import own_page_path
from mudra.console.framework.page_results import GoTo, Outcome
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.identity.accounts.choose_display_zone import choose_display_zone
from mudra.shared.refusal import Refusal


@post("/account/zone", include_in_schema=False)
async def change_zone(
    request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """Change the time zone of the user's pages, and return to the page of the switch."""

    async def handle(page_context: PageContext, fields: Fields) -> Outcome:
        outcome = await choose_display_zone(
            page_context.work, page_context.user, page_context.caller, fields.get("zone", "")
        )
        if isinstance(outcome, Refusal):
            return outcome
        return GoTo(own_page_path(fields.get("to", "")))

    return await own_form(request, dependencies, handle)


handlers: Final[list[ControllerRouterHandler]] = [change_zone]
