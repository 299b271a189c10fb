"""A member's first page: what needs attention now."""

from typing import Final

from litestar import Response, get
from litestar.types import ControllerRouterHandler

from mudra.console.answer import Outcome, Shown
from mudra.console.entrance import member_page
from mudra.console.visit import Visit
from mudra.http.exchange import AnyRequest
from mudra.http.service import Injected


@get("/entity/{entity_id:str}", include_in_schema=False)
async def overview(
    entity_id: str, request: AnyRequest, service: Injected
) -> Response[str] | Response[bytes]:
    """Show what needs attention now."""

    async def look(visit: Visit) -> Outcome:
        del visit
        return Shown("overview.html")

    return await member_page(request, service, entity_id, look)


handlers: Final[list[ControllerRouterHandler]] = [overview]
