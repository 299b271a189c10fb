"""Programs that get a token, filled in with the member's own values."""

from typing import Final

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Outcome, RenderedPage
from mudra.console.pages.member.snippets import TOKEN_FILE, snippets
from mudra.http.auth.gates import ADMIN


@page.get("/entity/{entity_id:str}/try", gate=ADMIN)
async def try_it(page_context: PageContext, entity_id: FromPath[str]) -> Outcome:
    """Show the programs."""
    issuer = page_context.dependencies.settings.issuer
    return RenderedPage(
        "try_it.html",
        {
            "snippets": snippets(issuer, entity_id),
            "issuer": issuer,
            "token_file": TOKEN_FILE,
        },
    )


handlers: Final[list[ControllerRouterHandler]] = [try_it]
