"""A member's first page: what needs attention now, and how things stand."""

from datetime import timedelta
from typing import Final

from litestar import Response, get
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.answer import Outcome, Shown
from mudra.console.attention import Facts, attention
from mudra.console.entrance import member_page
from mudra.console.visit import Visit
from mudra.http.exchange import AnyRequest
from mudra.http.service import Injected
from mudra.identity.user import UserState
from mudra.metrics.coverage import closed_before
from mudra.metrics.picture import expected_windows
from mudra.tokens.claims import EntityType
from mudra.tokens.manage_secret import UseShown, secret_use

_DAY: Final = timedelta(days=1)


@get("/entity/{entity_id:str}", include_in_schema=False)
async def overview(
    entity_id: FromPath[str], request: AnyRequest, service: Injected
) -> Response[str] | Response[bytes]:
    """Show what needs attention now."""

    async def look(visit: Visit) -> Outcome:
        work = visit.work
        used = await secret_use(entity_id, visit.user.administers, work.secrets, work.uses)
        if not isinstance(used, UseShown):
            return used
        admins = await work.roster.admins(entity_id)
        record = await service.registry.registry(visit.caller).history(entity_id)
        facts = Facts(
            entity_type=visit.member.entity_type,
            used=used,
            able_admins=sum(1 for admin in admins if admin.state is UserState.ACTIVE),
            record=record,
            missing=await _missing(visit),
            now=visit.now,
        )
        days = await work.audit_search.tokens_by_day(entity_id, visit.now - _DAY)
        return Shown(
            "overview.html",
            {
                "lines": attention(facts),
                "used": used,
                "record": record,
                "able": facts.able_admins,
                "tokens": sum(day.issued for day in days),
                "refused": sum(day.refused for day in days),
            },
        )

    return await member_page(request, service, entity_id, look)


async def _missing(visit: Visit) -> int:
    """Windows of the last day of which an AA was to send anything, and did not."""
    if visit.member.entity_type != EntityType.AA.value:
        return 0
    entity_id, within = visit.member.entity_id, closed_before(visit.now, _DAY)
    since = await visit.work.aas_and_fips.reporting_aas()
    if entity_id not in since:
        return 0
    due = expected_windows(within, {entity_id: since[entity_id]}, visit.now)[entity_id]
    came = await visit.work.receipts.windows(entity_id, within)
    return max(0, due - min((len(windows) for windows in came.values()), default=0))


handlers: Final[list[ControllerRouterHandler]] = [overview]
