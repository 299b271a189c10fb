"""The switch of the time zone of pages, on each page and on that of the account."""

from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_responses import own_page_path
from mudra.console.framework.page_results import GoTo, Outcome
from mudra.http.auth.gates import SIGNED_IN
from mudra.identity.accounts.choose_display_zone import choose_display_zone
from mudra.shared.refusal import Refusal


@page.post("/account/zone", gate=SIGNED_IN)
async def change_zone(page_context: PageContext, fields: Fields) -> Outcome:
    """Change the time zone of the user's pages, and return to the page of the switch."""
    outcome = await choose_display_zone(
        page_context.tx, page_context.user, page_context.caller, fields.get("zone", "")
    )
    if isinstance(outcome, Refusal):
        return outcome
    return GoTo(own_page_path(fields.get("to", "")))


handlers: Final[list[ControllerRouterHandler]] = [change_zone]
