"""The audit: search by event, entity, actor and time; verify that it was not changed."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from urllib.parse import quote

from litestar.types import ControllerRouterHandler
from msgspec import Struct

from mudra.audit.audit_chain import AuditChain
from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import EventName, Outcome
from mudra.audit.proof.verification import MAX_S, verify_audit
from mudra.audit.search import ActedBy, AuditFilter, AuditRow
from mudra.audit.search_store import AuditSearch
from mudra.console.framework import page
from mudra.console.framework import page_results as answer
from mudra.console.framework.console_errors import PageRefusal
from mudra.console.framework.navigation import operator_path
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import RenderedPage
from mudra.console.framework.page_zone import zone_of_form
from mudra.console.framework.table import Column, Table
from mudra.console.health.health_query import written
from mudra.console.pages.event_sentence import (
    PERSON,
    detail_json,
    event_sentence,
    person_of,
    unnamed,
)
from mudra.console.pages.operator.labels import names_of, tone
from mudra.http.auth.gates import operator
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.operators.operator import Scope
from mudra.localization.language import current, gettext, translatable
from mudra.metrics.health.health_service import HealthService

MAX_COUNT: Final = 1000
EXPORTED: Final = 20_000
"""How many a file may hold; more are reported, so that no file is mistaken for the whole."""
MAX_LENGTH: Final = 300


_BY: Final = {
    ActedBy.PEOPLE: translatable("admins and operators"),
    ActedBy.PROGRAMS: translatable("members' programs"),
    ActedBy.SERVICE: translatable("the service itself"),
}
_RECEIPT: Final = "receiptId"
"""In the detail: of a report that was taken; the search shows what it is a receipt of."""


class EventRow(Struct, frozen=True):
    """An event as a sentence, with a person's address in the place of its ID."""

    row: AuditRow
    actor: str
    person: str
    entity: str

    @property
    def what(self) -> str:
        """The sentence; made for what is shown or searched, of a thousand rows a page reads."""
        return event_sentence(self.row, self.actor, self.person, self.entity)

    @property
    def detail(self) -> str:
        """The detail as JSON, without the receipt, which is a link of its own."""
        known = {PERSON: self.person} if self.person else {}
        detail = {**self.row.detail, **known}
        return detail_json({name: value for name, value in detail.items() if name != _RECEIPT})


TABLE: Final = Table[EventRow](
    "events",
    translatable("Events"),
    (
        Column("what", translatable("What"), lambda r: r.what),
        Column("at", translatable("At"), lambda r: r.row.at, "moment"),
        Column(
            "outcome",
            translatable("Outcome"),
            lambda r: r.row.outcome,
            "tag",
            tone=lambda r: tone(r.row.outcome),
        ),
        Column("actor", translatable("Actor"), lambda r: r.actor, folded=True),
        Column(
            "entity",
            translatable("Entity"),
            lambda r: r.row.entity_id or None,
            "code",
            folded=True,
            link=lambda r: f"?entity={quote(r.row.entity_id)}" if r.row.entity_id else "",
        ),
        Column("address", translatable("Address"), lambda r: r.row.address or None, folded=True),
        Column("reason", translatable("Reason"), lambda r: r.row.reason or None, folded=True),
        Column("event", translatable("Event"), lambda r: r.row.event, folded=True),
        Column("detail", translatable("Detail"), lambda r: r.detail or None, folded=True),
        Column(
            "receipt",
            translatable("Receipt"),
            lambda r: str(r.row.detail.get(_RECEIPT, "")) or None,
            folded=True,
            link=lambda r: operator_path(f"search?q={quote(str(r.row.detail[_RECEIPT]), safe='')}"),
        ),
        Column(
            "txn",
            translatable("Transaction"),
            lambda r: r.row.txn_id or None,
            folded=True,
            link=lambda r: f"?txn={quote(r.row.txn_id, safe='')}",
        ),
        Column("seq", translatable("Row"), lambda r: r.row.seq, "number", folded=True),
    ),
    first_sort="-seq",
)


@page.get("/operator/audit", gate=operator(Scope.AUDIT), reads=True)
async def search(page_context: PageContext) -> answer.Outcome:
    """Search the audit, the newest first."""
    which = _filter(page_context)
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
    return RenderedPage(
        "operator_audit.html",
        {
            "view": TABLE.view(rows, page_context.query),
            "events": [event.value for event in EventName],
            "actors": _BY,
            "outcomes": [outcome.value for outcome in Outcome],
            "filters": _shown(page_context, which),
            "member_names": members,
            "times": which,
            "older": found[-1].seq if len(rows) == MAX_COUNT else None,
            "most": MAX_COUNT,
        },
    )


async def _rows(
    page_context: PageContext, found: Sequence[AuditRow], members: Mapping[str, str]
) -> list[EventRow]:
    people = [row.actor for row in found] + [person_of(row) for row in found]
    names = await names_of(people, page_context.tx)
    return [
        EventRow(
            row,
            names.get(row.actor) or unnamed(row.actor),
            names.get(person_of(row), ""),
            members.get(row.entity_id, row.entity_id),
        )
        for row in found
    ]


@page.post("/operator/audit/verify", gate=operator(Scope.AUDIT), within_s=MAX_S)
async def verify(page_context: PageContext, _: Fields) -> answer.Outcome:
    """Verify the whole audit and show the verdict."""
    verdict = await verify_audit(
        page_context.tx.service(AuditChain), AuditLog(page_context.tx), page_context.caller
    )
    return RenderedPage("operator_verdict.html", {"verdict": verdict})


_FIELDS: Final = ("event", "outcome", "entity", "actor", "by", "txn", "since", "until")


def _filter(page_context: PageContext) -> AuditFilter | InvalidField:
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
    return AuditFilter(
        event=asked["event"],
        outcome=asked["outcome"],
        actor=asked["actor"],
        by=ActedBy(asked["by"]) if asked["by"] in tuple(ActedBy) else None,
        entity_id=asked["entity"],
        txn_id=asked["txn"],
        since=times.get("since"),
        until=times.get("until"),
    )


def _shown(page_context: PageContext, which: AuditFilter) -> dict[str, str]:
    """Returns what was asked for, with instants in UTC in the place of wall times."""
    times = {"since": which.since, "until": which.until}
    pinned = {name: written(at) for name, at in times.items() if at is not None}
    return {name: page_context.query.get(name, "") for name in _FIELDS} | pinned


handlers: Final[list[ControllerRouterHandler]] = [search, verify]
