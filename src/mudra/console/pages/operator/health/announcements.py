"""Announcements on the public status: listed, published, changed, updated, ended."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Struct, field

from mudra.console.framework import page
from mudra.console.framework.console_errors import page_problem, refusal_text
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.page_zone import zone_of_form
from mudra.console.pages.public.status.status_announcements import KINDS
from mudra.http.auth.gates import operator
from mudra.http.request.body.request_body import TEXT_LIMITS
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.operators.operator import Scope
from mudra.localization.display_zone import display_zone
from mudra.localization.language import ENGLISH, gettext, translatable
from mudra.localization.languages import Choice
from mudra.metrics.announcements.announcement import (
    MAX_INSTITUTIONS,
    MAX_TEXT,
    MAX_TITLE,
    Announcement,
    AnnouncementCommand,
    Kind,
    NoSuchAnnouncement,
    State,
    TranslatedText,
    Translation,
    UpdateCommand,
)
from mudra.metrics.announcements.announcement_service import AnnouncementService
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.public_status.status_history import public_announcement
from mudra.shared.refusal import Refusal, ValueRefused

_PAGE: Final = "/console/operator/announcements"
_TONES: Final = {State.SCHEDULED: "warn", State.CURRENT: "good", State.OVER: "quiet"}
_TIMES: Final = {"publish_at": "publication", "begins": "begin", "ends": "end"}
_ON_PAGE: Final = {"fipIds": "institutions", "publishAt": "publish at"}
"""What the page calls a field."""
_MAX_PAST: Final = 50
_MAX_TYPED: Final = MAX_INSTITUTIONS * 80
_MESSAGES: Final = {
    "published": translatable("Announcement published. Subscribers get it by email or webhook."),
    "scheduled": translatable("Announcement scheduled."),
    "changed": translatable("Announcement changed. It is not sent again."),
    "updated": translatable("Update published. Subscribers get it by email, webhook or chat."),
    "ended": translatable("Announcement ended. It is in the history now."),
}


_NEEDS_TIMES: Final = translatable("Begins and Ends are missing: a maintenance needs both")


class AnnouncementForm(Struct, frozen=True):
    """The typed values of the form, by the names of its fields, and why it was refused."""

    typed: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""
    status: int = 200


@page.get("/operator/announcements", gate=operator(Scope.HEALTH))
async def announcements(page_context: PageContext) -> Outcome:
    """List announcements, with the form for another one."""
    return await _list_page(page_context, AnnouncementForm())


@page.get("/operator/announcements/{announcement_id:uuid}", gate=operator(Scope.HEALTH))
async def announcement(page_context: PageContext, announcement_id: FromPath[UUID]) -> Outcome:
    """Show the form that changes one."""
    return await _change_page(page_context, str(announcement_id), None)


@page.post("/operator/announcements", gate=operator(Scope.HEALTH), limits=TEXT_LIMITS)
async def publish(page_context: PageContext, fields: Fields) -> Outcome:
    """Publish an announcement, now or later."""
    command = _command(page_context, fields)
    if isinstance(command, Refusal):
        return await _list_page(page_context, announcement_refused(fields, command))
    now = page_context.now
    outcome = await page_context.tx.service(AnnouncementService).publish(
        command, page_context.caller, now
    )
    if isinstance(outcome, Refusal):
        return await _list_page(page_context, announcement_refused(fields, outcome))
    is_current = outcome.state(now) is State.CURRENT
    return GoTo(f"{_PAGE}?told=published" if is_current else f"{_PAGE}?told=scheduled")


@page.post(
    "/operator/announcements/{announcement_id:uuid}",
    gate=operator(Scope.HEALTH),
    limits=TEXT_LIMITS,
)
async def change(
    page_context: PageContext, fields: Fields, announcement_id: FromPath[UUID]
) -> Outcome:
    """Change one that is not over."""
    which = str(announcement_id)
    command = _command(page_context, fields)
    if isinstance(command, Refusal):
        return await _change_page(page_context, which, announcement_refused(fields, command))
    outcome = await page_context.tx.service(AnnouncementService).change(
        which, command, page_context.caller, page_context.now
    )
    if isinstance(outcome, NoSuchAnnouncement):
        return outcome
    if isinstance(outcome, Refusal):
        return await _change_page(page_context, which, announcement_refused(fields, outcome))
    return GoTo(f"{_PAGE}?told=changed")


@page.post(
    "/operator/announcements/{announcement_id:uuid}/updates",
    gate=operator(Scope.HEALTH),
    limits=TEXT_LIMITS,
)
async def update(
    page_context: PageContext, fields: Fields, announcement_id: FromPath[UUID]
) -> Outcome:
    """Add an update to one that is shown."""
    which = str(announcement_id)
    outcome = await page_context.tx.service(AnnouncementService).update(
        which, update_command(page_context, fields), page_context.caller, page_context.now
    )
    if isinstance(outcome, NoSuchAnnouncement):
        return outcome
    if isinstance(outcome, Refusal):
        return await _change_page(page_context, which, None, announcement_refused(fields, outcome))
    return GoTo(f"{_PAGE}?told=updated")


def update_command(page_context: PageContext, fields: Fields) -> UpdateCommand:
    """Returns the update that a form has."""
    tags = [one.tag for one in more_languages(page_context)]
    said = tuple(TranslatedText(tag, fields.get(f"text_{tag}", "")) for tag in tags)
    return UpdateCommand(fields.get("text", ""), said, ends=fields.get("ends", "") == "yes")


@page.post("/operator/announcements/{announcement_id:uuid}/end", gate=operator(Scope.HEALTH))
async def end(page_context: PageContext, _: Fields, announcement_id: FromPath[UUID]) -> Outcome:
    """Move one to the history."""
    outcome = await page_context.tx.service(AnnouncementService).end(
        str(announcement_id), page_context.caller, page_context.now
    )
    return GoTo(f"{_PAGE}?told=ended") if isinstance(outcome, Announcement) else outcome


async def _list_page(page_context: PageContext, form: AnnouncementForm) -> Outcome:
    now = page_context.now
    found = await page_context.tx.service(AnnouncementService).list(now, past=True)
    unended = [one for one in found if one.state(now) is not State.OVER]
    over = [one for one in found if one.state(now) is State.OVER]
    facts = {
        "unended": [(one, one.state(now)) for one in unended],
        "over": sorted(over, key=_over, reverse=True)[:_MAX_PAST],
        "tones": _TONES,
        "message": gettext(_MESSAGES.get(page_context.query.get("told", ""), "")),
        **await _form_facts(page_context, form),
    }
    return RenderedPage("operator_announcements.html", facts, form.status)


async def _change_page(
    page_context: PageContext,
    announcement_id: str,
    form: AnnouncementForm | None,
    update: AnnouncementForm | None = None,
) -> Outcome:
    """Shows the forms with what was typed, or with what the announcement says."""
    found = await page_context.tx.service(AnnouncementService).list(page_context.now)
    one = next((each for each in found if each.announcement_id == announcement_id), None)
    if one is None:
        return NoSuchAnnouncement()
    shown = form or AnnouncementForm(_fields_of(one))
    is_scheduled = one.state(page_context.now) is State.SCHEDULED
    facts = {
        "one": one,
        "shown": public_announcement(one),
        "is_scheduled": is_scheduled,
        "update": update or AnnouncementForm(),
        **await _form_facts(page_context, shown),
    }
    status = update.status if update else shown.status
    return RenderedPage("operator_announcement.html", facts, status)


async def _form_facts(page_context: PageContext, form: AnnouncementForm) -> dict[str, object]:
    health = page_context.tx.service(HealthService)
    names, fips = await health.names(), await health.onboarded_fips()
    return {
        "form": form,
        "kinds": KINDS,
        "max_title": MAX_TITLE,
        "max_text": MAX_TEXT,
        "more_languages": more_languages(page_context),
        "language_names": {
            one.tag: one.name for one in page_context.dependencies.languages.choices
        },
        "names": names,
        "fip_names": {fip_id: names.get(fip_id, fip_id) for fip_id in sorted(fips)},
    }


def more_languages(page_context: PageContext) -> Sequence[Choice]:
    """Returns the languages of the network but English, in which an announcement is written."""
    choices = page_context.dependencies.languages.choices
    return [one for one in choices if one.tag != ENGLISH.tag]


def _command(page_context: PageContext, fields: Fields) -> AnnouncementCommand | InvalidField:
    kind = fields.get("kind", "")
    if kind not in set(Kind):
        return InvalidField(f"kind must be one of {', '.join(Kind)}")
    times = _times(fields)
    if isinstance(times, InvalidField):
        return times
    if kind == Kind.MAINTENANCE and not (times["begins"] and times["ends"]):
        return InvalidField(_NEEDS_TIMES)
    tags = [one.tag for one in more_languages(page_context)]
    return AnnouncementCommand(
        Kind(kind),
        fields.get("title", ""),
        fields.get("text", ""),
        tuple(
            Translation(tag, fields.get(f"title_{tag}", ""), fields.get(f"text_{tag}", ""))
            for tag in tags
        ),
        tuple(fields.get("institutions", "").replace(",", " ").split()),
        times["publish_at"],
        times["begins"],
        times["ends"],
    )


def _times(fields: Fields) -> dict[str, datetime | None] | InvalidField:
    zone = zone_of_form(fields)
    if isinstance(zone, InvalidField):
        return zone
    read: dict[str, datetime | None] = {}
    for name, title in _TIMES.items():
        typed = fields.get(name, "").strip()
        read[name] = zone.instant(typed) if typed else None
        if typed and read[name] is None:
            return InvalidField(f"{title} must be a date and time such as 2026-01-31T22:30")
    return read


def announcement_refused(fields: Fields, refusal: Refusal) -> AnnouncementForm:
    """Returns the form with what was typed, and what is wrong with it."""
    if isinstance(refusal, ValueRefused):
        field_ = _ON_PAGE.get(refusal.field, refusal.field)
        refusal = ValueRefused(field_, refusal.problem)
    problem = page_problem(refusal)
    typed = {name: text[:_MAX_TYPED] for name, text in fields.items()}
    return AnnouncementForm(typed, refusal_text(refusal), problem.status)


def _fields_of(one: Announcement) -> dict[str, str]:
    zone = display_zone()
    times = {"publish_at": one.publish_at, "begins": one.begins, "ends": one.ends}
    typed = {
        "kind": one.kind.value,
        "title": one.title,
        "text": one.text,
        "institutions": ", ".join(one.fip_ids),
        **{name: zone.local(at) if at else "" for name, at in times.items()},
    }
    for each in one.translations:
        typed |= {f"title_{each.language}": each.title, f"text_{each.language}": each.text}
    return typed


def _over(one: Announcement) -> datetime:
    return one.over_at or one.publish_at


handlers: Final[list[ControllerRouterHandler]] = [
    *(announcements, announcement, publish, change, update, end)
]
