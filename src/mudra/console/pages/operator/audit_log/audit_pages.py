"""The audit: search by event, entity, actor and time; verify that it was not changed."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Final
from urllib.parse import urlencode

from litestar.types import ControllerRouterHandler

from mudra.audit.audit_chain import AuditChain
from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import EventName, Outcome
from mudra.audit.proof.verification import MAX_S, verify_audit
from mudra.audit.search import ActedBy, AuditFilter, AuditRow
from mudra.audit.search_store import AuditSearch
from mudra.console.framework import page
from mudra.console.framework import page_results as answer
from mudra.console.framework.console_errors import PageRefusal
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import RenderedPage
from mudra.console.framework.page_zone import zone_of_form
from mudra.console.health.health_query import written
from mudra.console.pages.event_sentence import is_of_incident, person_of, unnamed
from mudra.console.pages.operator.audit_log.event_rows import (
    ALL,
    EACH,
    ROUTINE,
    TABLE,
    EventRow,
    folded,
)
from mudra.console.pages.operator.labels import names_of
from mudra.http.auth.gates import operator
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.operators.operator import Scope
from mudra.localization.language import current, gettext, translatable
from mudra.metrics.announcements.announcement_service import AnnouncementService
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.incidents.subject import in_sentence

MAX_COUNT: Final = 1000
_ANNOUNCEMENT: Final = "announcementId"
"""In the detail of an event: of which announcement it is."""
_LOOKED_AT: Final = 300
"""Events of people among which the latest acts are looked for."""
EXPORTED: Final = 20_000
"""How many a file may hold; more are reported, so that no file is mistaken for the whole."""
MAX_LENGTH: Final = 300


_BY: Final = {
    ActedBy.PEOPLE.value: translatable("People"),
    ActedBy.PROGRAMS.value: translatable("Programs"),
    ActedBy.SERVICE.value: translatable("The service"),
    ALL: translatable("All"),
}
_WITHIN: Final = {
    "1h": (translatable("1 hour"), timedelta(hours=1)),
    "24h": (translatable("24 hours"), timedelta(hours=24)),
    "7d": (translatable("7 days"), timedelta(days=7)),
    "": (translatable("All"), None),
}
"""Times that end now, and how long they are."""


@page.get("/operator/audit", gate=operator(Scope.AUDIT), reads=True)
async def search(page_context: PageContext) -> answer.Outcome:
    """Search the audit, the newest first."""
    which = await _filter(page_context)
    if isinstance(which, InvalidField):
        return which
    before = page_context.query.get("before", "")
    upto = int(before) if before.isascii() and before.isdigit() and len(before) < 19 else None  # noqa: PLR2004  # characters
    exports = TABLE.is_exported(page_context.query)
    found = await AuditSearch(page_context.tx).events(
        which, upto, EXPORTED + 1 if exports else MAX_COUNT
    )
    if len(found) > EXPORTED:
        return PageRefusal(
            gettext(
                "more than %(most)s events are like this: name a shorter time",
                most=current().number(EXPORTED),
            )
        )
    members = await page_context.tx.service(HealthService).names()
    rows = await _rows(page_context, found, members)
    if exports:  # off the event loop: a large file takes tenths of a second
        return await asyncio.to_thread(TABLE.file, rows, page_context.query)
    query = page_context.query
    return RenderedPage(
        "operator_audit.html",
        {
            "view": TABLE.view(rows if query.get(EACH) == "yes" else list(folded(rows)), query),
            "by_day": query.get(f"{TABLE.name}.sort", "-seq").removeprefix("-") in {"seq", "at"},
            "events": [event.value for event in EventName],
            "pickers": _pickers(query),
            "outcomes": [outcome.value for outcome in Outcome],
            "filters": _shown(page_context, which),
            "member_names": members,
            "times": which,
            "older": found[-1].seq if len(rows) == MAX_COUNT else None,
            "most": MAX_COUNT,
        },
    )


def _pickers(query: Mapping[str, str]) -> Sequence[tuple[str, Sequence[Mapping[str, object]]]]:
    """Returns who acted, and since when, as choices that keep all else of the address."""
    kept = {name: value for name, value in query.items() if name in _FIELDS and value}
    by, within = _by(query), "" if kept.get("since") or kept.get("until") else query.get("within")
    of_time = {name: value for name, value in kept.items() if name not in {"since", "until"}}
    return (
        (
            translatable("Acts of"),
            [
                {"title": gettext(title), "path": _path({**kept, "by": one}), "current": one == by}
                for one, title in _BY.items()
            ],
        ),
        (
            translatable("Since"),
            [
                {
                    "title": gettext(title),
                    "path": _path({**of_time, "by": by, "within": one}),
                    "current": one == (within or ""),
                }
                for one, (title, _) in _WITHIN.items()
            ],
        ),
    )


def _path(asked: Mapping[str, str]) -> str:
    return "?" + urlencode({name: value for name, value in asked.items() if value})


def _by(query: Mapping[str, str]) -> str:
    """Returns whose acts are listed: people's, unless the address asks for something else."""
    asked = query.get("by", "")
    if asked in _BY:
        return asked
    narrows = any(query.get(name) for name in ("event", "entity", "actor", "txn", "outcome"))
    return ALL if narrows else ActedBy.PEOPLE.value


async def _rows(
    page_context: PageContext, found: Sequence[AuditRow], members: Mapping[str, str]
) -> list[EventRow]:
    people = [row.actor for row in found] + [person_of(row) for row in found]
    names = await names_of(people, page_context.tx)
    incidents = await _incidents(page_context, found, members)
    titles = await _titles(page_context, found)
    return [
        EventRow(
            row,
            names.get(row.actor) or unnamed(row.actor),
            names.get(person_of(row), ""),
            incidents.get(row.entity_id, "")
            if is_of_incident(row)
            else members.get(row.entity_id, row.entity_id),
            title=titles.get(str(row.detail.get(_ANNOUNCEMENT, "")), ""),
        )
        for row in found
    ]


async def _incidents(
    page_context: PageContext, found: Sequence[AuditRow], members: Mapping[str, str]
) -> Mapping[str, str]:
    """Returns what the incidents are about that the newest of these events are of, by their IDs."""
    ids = dict.fromkeys(row.entity_id for row in found if is_of_incident(row))
    stored = await page_context.tx.service(IncidentService).of_ids([*islice(ids, MAX_COUNT)])
    return {one.incident_id: in_sentence(one.incident.subject, members) for one in stored}


async def _titles(page_context: PageContext, found: Sequence[AuditRow]) -> Mapping[str, str]:
    """Returns the titles of the latest announcements, where an event without one is of them."""
    if not any(_ANNOUNCEMENT in row.detail and "title" not in row.detail for row in found):
        return {}
    listed = await page_context.tx.service(AnnouncementService).list(page_context.now, past=True)
    return {one.announcement_id: one.title for one in listed}


async def latest_acts(
    page_context: PageContext, most: int
) -> tuple[Sequence[EventRow], datetime | None]:
    """Returns the latest acts of people that are no routine, and when the audit was verified."""
    audit = AuditSearch(page_context.tx)
    by_people = await audit.events(AuditFilter(by=ActedBy.PEOPLE), None, _LOOKED_AT)
    found = [row for row in by_people if row.event not in ROUTINE]
    members = await page_context.tx.service(HealthService).names()
    rows = folded(await _rows(page_context, found[: 4 * most], members))
    verified = AuditFilter(event=EventName.AUDIT_CHAIN_VERIFY.value)
    return [*islice(rows, most)], next(
        (row.at for row in await audit.events(verified, None, 1)), None
    )


@page.post("/operator/audit/verify", gate=operator(Scope.AUDIT), within_s=MAX_S)
async def verify(page_context: PageContext, _: Fields) -> answer.Outcome:
    """Verify the whole audit and show the verdict."""
    verdict = await verify_audit(
        page_context.tx.service(AuditChain), AuditLog(page_context.tx), page_context.caller
    )
    return RenderedPage("operator_verdict.html", {"verdict": verdict})


_FIELDS: Final = ("event", "outcome", "entity", "actor", "by", "txn", "since", "until", "within")


async def _filter(page_context: PageContext) -> AuditFilter | InvalidField:
    asked = {name: page_context.query.get(name, "").strip()[:MAX_LENGTH] for name in _FIELDS}
    zone, times = zone_of_form(page_context.query), dict[str, datetime]()
    if isinstance(zone, InvalidField):
        return zone
    for name in ("since", "until"):
        found = zone.instant(asked[name], latest=name == "until") if asked[name] else None
        if found is not None:
            times[name] = found
        elif asked[name]:
            return InvalidField(f"{name} must be a date and time such as 2026-01-31T09:30")
    if "since" in times and "until" in times and times["since"] >= times["until"]:
        return InvalidField(translatable("since must be earlier than before"))
    _, length = _WITHIN.get(asked["within"], ("", None))
    if length is not None and not times:
        times["since"] = await page_context.tx.now() - length
    by = _by(page_context.query)
    return AuditFilter(
        event=asked["event"],
        outcome=asked["outcome"],
        actor=asked["actor"],
        by=None if by == ALL else ActedBy(by),
        entity_id=asked["entity"],
        txn_id=asked["txn"],
        since=times.get("since"),
        until=times.get("until"),
    )


def _shown(page_context: PageContext, which: AuditFilter) -> dict[str, str]:
    """Returns what was asked for, with instants in UTC in the place of wall times."""
    asked = page_context.query
    times = {"since": which.since, "until": which.until} if not asked.get("within") else {}
    pinned = {name: written(at) for name, at in times.items() if at is not None}
    return {name: asked.get(name, "") for name in _FIELDS} | {"by": _by(asked)} | pinned


handlers: Final[list[ControllerRouterHandler]] = [search, verify]
