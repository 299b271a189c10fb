"""A member's first page: what needs attention now, and its status."""

from datetime import timedelta
from typing import Final

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Outcome, RenderedPage
from mudra.console.pages.member.health.latest_calls import latest_calls
from mudra.http.auth.gates import READER
from mudra.localization.language import gettext, translatable
from mudra.overview.action_items import member_attention
from mudra.overview.onboarding import onboarding_of
from mudra.registry.lifecycle.record import Record
from mudra.shared.entry_status import EntityStatus, VersionStatus
from mudra.shared.refusal import Refusal

_DAY: Final = timedelta(days=1)
_ENTRY: Final = {
    EntityStatus.UNLISTED: translatable("unlisted"),
    EntityStatus.LIVE: translatable("live"),
    EntityStatus.SUSPENDED: translatable("suspended"),
    EntityStatus.RETIRED: translatable("retired"),
}
_VERSION: Final = {
    VersionStatus.SUBMITTED: translatable("submitted"),
    VersionStatus.APPROVED: translatable("approved"),
    VersionStatus.LIVE: translatable("live"),
    VersionStatus.REJECTED: translatable("rejected"),
    VersionStatus.WITHDRAWN: translatable("withdrawn"),
    VersionStatus.SUPERSEDED: translatable("superseded"),
}


@page.get("/entity/{entity_id:str}", gate=READER)
async def overview(page_context: PageContext, entity_id: FromPath[str]) -> Outcome:
    """Show what needs attention now."""
    tx = page_context.tx
    found = await member_attention(tx, page_context.user, entity_id)
    if isinstance(found, Refusal):
        return found
    steps, record = await onboarding_of(tx, entity_id), found.facts.record
    return RenderedPage(
        "overview.html",
        {
            "notice": page_context.query.get("told", ""),
            "items": found.items,
            "used": found.facts.used,
            # The steps of joining say that there is none.
            "registration": "" if steps and record is None else _registration(record),
            "able": found.facts.able_admins,
            "tokens": found.facts.tokens,
            "refused": found.facts.refused,
            "steps": steps,
            "calls": await latest_calls(page_context),
        },
    )


def _registration(record: Record | None) -> str:
    """Return the state of the registry entry, such as "live with version 2; …"."""
    if record is None:
        return gettext("none yet")
    text, last = gettext(_ENTRY[record.status]), record.versions[-1]
    if record.live is not None:
        number = record.live.number
        text = gettext("%(state)s with version %(number)s", state=text, number=number)
    if record.live == last:
        return text
    state = gettext(_VERSION[last.status])
    return gettext(
        "%(entry)s; version %(number)s is %(state)s", entry=text, number=last.number, state=state
    )


handlers: Final[list[ControllerRouterHandler]] = [overview]
