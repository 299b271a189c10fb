"""Programs to get a token with, filled in with the member's own values."""

from typing import Final

from litestar import Response, get
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import member_page
from mudra.console.framework.page_results import Outcome, RenderedPage
from mudra.console.pages.member.snippets import KEPT, snippets
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest


@get("/entity/{entity_id:str}/try", include_in_schema=False)
async def try_it(
    entity_id: FromPath[str], request: AnyRequest, service: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """Show the programs."""

    async def look(_: PageContext) -> Outcome:
        issuer = service.settings.issuer
        facts = {"snippets": snippets(issuer, entity_id), "issuer": issuer, "kept": KEPT}
        return RenderedPage("try_it.html", facts)

    return await member_page(request, service, entity_id, look)


handlers: Final[list[ControllerRouterHandler]] = [try_it]
