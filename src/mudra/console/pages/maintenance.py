"""A member's own planned maintenances: announced, changed and withdrawn, and what each counts as.

The form and the rules are those of the operators' silences.
"""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.navigation import member_path
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.health.silence_form import LENGTHS, SilenceForm, refused_form, times_of
from mudra.http.auth.gates import ADMIN, READER
from mudra.http.response.http_refusals import InvalidField
from mudra.levels.level_service import LevelService
from mudra.localization.language import current, translatable
from mudra.metrics.announcements.announcement import Announcement, State
from mudra.metrics.announcements.announcement_service import AnnouncementService
from mudra.metrics.incidents.own_maintenance import MaintenanceChange, announcer_of
from mudra.metrics.incidents.silence import MAX_OWN_LENGTH, SilenceCommand
from mudra.metrics.incidents.silence_service import NO_SUCH_SILENCE, SilenceService
from mudra.shared.refusal import Refusal

_WORD: Final = "maintenance"
_HOURS: Final = MAX_OWN_LENGTH.total_seconds() / 3600
_LENGTHS: Final = {hours: length for hours, length in LENGTHS.items() if hours <= _HOURS}
_MESSAGES: Final = {
    "announced": translatable("The maintenance is announced: the public status shows it."),
    "changed": translatable("The maintenance was changed."),
    "ended": translatable(
        "The maintenance was ended. If calls fail from now on, an incident opens."
    ),
    "withdrawn": translatable("The maintenance was withdrawn."),
}


@page.get("/entity/{entity_id:str}/maintenance", gate=READER)
async def maintenance(page_context: PageContext) -> Outcome:
    """List the member's own maintenances, with the form for another one, or to change one."""
    return await _page(page_context, SilenceForm(), page_context.query.get("change", ""))


@page.post("/entity/{entity_id:str}/maintenance", gate=ADMIN)
async def announce(page_context: PageContext, fields: Fields) -> Outcome:
    """Announce a maintenance."""
    times, now = times_of(fields, _LENGTHS), page_context.now
    if isinstance(times, InvalidField):
        return await _page(page_context, refused_form(fields, times))
    command = SilenceCommand(
        page_context.member.entity_id,
        "",
        times.begins,
        times.ends(now),
        fields.get("reason", ""),
        maintenance=True,
    )
    outcome = await page_context.tx.service(SilenceService).announce(
        command, page_context.caller, now
    )
    if isinstance(outcome, Refusal):
        return await _page(page_context, refused_form(fields, outcome))
    return _done(page_context, "announced")


@page.post("/entity/{entity_id:str}/maintenance/{silence_id:uuid}", gate=ADMIN)
async def change(page_context: PageContext, fields: Fields, silence_id: FromPath[UUID]) -> Outcome:
    """Change one that has not begun; a field that is left empty stays."""
    times = times_of(fields, _LENGTHS, optional=True)
    if isinstance(times, InvalidField):
        return await _page(page_context, refused_form(fields, times), str(silence_id))
    asked = MaintenanceChange(
        page_context.member.entity_id,
        begins=times.begins,
        reason=fields.get("reason", ""),
        length=times.length,
    )
    outcome = await page_context.tx.service(SilenceService).change(
        str(silence_id), asked, page_context.caller, page_context.now
    )
    if outcome == NO_SUCH_SILENCE:
        return NO_SUCH_SILENCE
    if isinstance(outcome, Refusal):
        return await _page(page_context, refused_form(fields, outcome), str(silence_id))
    return _done(page_context, "changed")


@page.post("/entity/{entity_id:str}/maintenance/{silence_id:uuid}/end", gate=ADMIN)
async def end(page_context: PageContext, _: Fields, silence_id: FromPath[UUID]) -> Outcome:
    """Withdraw one that has not begun, or end it now."""
    ended = await page_context.tx.service(SilenceService).end(
        str(silence_id),
        page_context.caller,
        page_context.now,
        own_of=page_context.member.entity_id,
    )
    if isinstance(ended, Refusal):
        return ended
    return _done(page_context, "ended" if ended.has_time else "withdrawn")


def _done(page_context: PageContext, message: str) -> GoTo:
    return GoTo(f"{member_path(page_context.member.entity_id, _WORD)}?told={message}")


async def _page(page_context: PageContext, form: SilenceForm, changed_id: str = "") -> Outcome:
    entity_id, now = page_context.member.entity_id, page_context.now
    found = await page_context.tx.service(SilenceService).own(entity_id, now)
    service, own = page_context.tx.service(LevelService), announcer_of(entity_id)
    can_change = [one for one in found if one.made_by == own and one.begins > now]
    changed = next((one for one in can_change if one.silence_id == changed_id), None)
    facts = {
        "path": member_path(entity_id, _WORD),
        "found": found,
        "can_change": {one.silence_id for one in can_change},
        "own": own,
        "notices": await service.notices(found),
        "announcements": await _announcements(page_context),
        "rule": await service.rule_now(now),
        "changed": changed,
        "form": form,
        "lengths": _LENGTHS,
        "message": _MESSAGES.get(page_context.query.get("told", ""), ""),
    }
    return RenderedPage("maintenance.html", facts, form.status)


async def _announcements(page_context: PageContext) -> Sequence[tuple[Announcement, str]]:
    """Returns the operator's current announcements that name the member, each with its title."""
    found = await page_context.tx.service(AnnouncementService).list(page_context.now)
    return [
        (one, one.in_language(current().tag).title)
        for one in found
        if page_context.member.entity_id in one.fip_ids
        if one.state(page_context.now) is State.CURRENT
    ]


handlers: Final[list[ControllerRouterHandler]] = [maintenance, announce, change, end]
