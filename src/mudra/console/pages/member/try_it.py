"""Programs that get a token, filled in with the member's own values."""

from typing import Final

from litestar import Response, get
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import member_page
from mudra.console.framework.page_results import Outcome, RenderedPage
from mudra.console.pages.member.snippets import TOKEN_FILE, snippets
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest


@get("/entity/{entity_id:str}/try", include_in_schema=False)
async def try_it(
    entity_id: FromPath[str], request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """Show the programs."""

    async def handle(_: PageContext) -> Outcome:
        issuer = dependencies.settings.issuer
        return RenderedPage(
            "try_it.html",
            {
                "snippets": snippets(issuer, entity_id),
                "issuer": issuer,
                "token_file": TOKEN_FILE,
            },
        )

    return await member_page(request, dependencies, entity_id, handle)


handlers: Final[list[ControllerRouterHandler]] = [try_it]
