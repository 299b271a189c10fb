"""Activity of an entity: tokens by day, and its audit log."""

from collections.abc import Mapping
from typing import Final

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Struct

from mudra.audit.search import AuditFilter, AuditRow, TokensOfDay
from mudra.audit.search_store import AuditSearch
from mudra.console.framework import page
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Download, Outcome, StreamedPage
from mudra.console.framework.table import Column, Table
from mudra.console.pages.event_sentence import event_sentence, person_of, unnamed
from mudra.http.auth.gates import READER
from mudra.identity.memberships.membership_store import Memberships
from mudra.localization.language import gettext, translatable
from mudra.overview.entity_activity import DAYS, names_of_admins, visible_address

_MAX_COUNT: Final = 500
_SUCCESS: Final = "success"
_TONES: Final = {"refused": "warn", "failed": "bad"}
"""Success is the usual outcome: it is not marked."""
_OUTCOMES: Final = (translatable("success"), translatable("refused"), translatable("failed"))
"""Marked for the catalogues; the table translates its tags."""

_TOKENS = Table(
    "tokens",
    translatable("Tokens by day"),
    (
        Column[TokensOfDay]("day", translatable("Day (UTC)"), lambda row: row.day, "day"),
        Column[TokensOfDay]("issued", translatable("Issued"), lambda row: row.issued, "number"),
        Column[TokensOfDay]("refused", translatable("Refused"), lambda row: row.refused, "number"),
    ),
    first_sort="-day",
)


class _People(Struct, frozen=True):
    """The admins by the actor that the log names: in sentences by name, folded by address."""

    names: Mapping[str, str]
    addresses: Mapping[str, str]


def _audit(people: _People, entity: str, *, all_succeeded: bool) -> Table[AuditRow]:
    return Table(
        "audit",
        translatable("Audit log of this entity"),
        (
            Column[AuditRow](
                "what", translatable("What"), lambda row: _sentence(row, people.names, entity)
            ),
            Column[AuditRow]("at", translatable("Time"), lambda row: row.at, "moment"),
            Column[AuditRow](
                "event", translatable("Event"), lambda row: row.event, "code", folded=True
            ),
            Column[AuditRow](
                "outcome",
                translatable("Outcome"),
                lambda row: row.outcome,
                "tag",
                tone=lambda row: _TONES.get(row.outcome, "quiet" if all_succeeded else ""),
                folded=all_succeeded,
            ),
            Column[AuditRow](
                "who",
                translatable("By"),
                lambda row: people.addresses.get(row.actor, row.actor),
                folded=True,
            ),
            Column[AuditRow](
                "reason", translatable("Reason"), lambda row: row.reason or None, folded=True
            ),
            Column[AuditRow](
                "address",
                translatable("Address"),
                lambda row: visible_address(row) or None,
                "code",
            ),
            Column[AuditRow](
                "txn", translatable("Transaction"), lambda row: row.txn_id or None, folded=True
            ),
        ),
        first_sort="-at",
        rows=15,
    )


def _sentence(row: AuditRow, names: Mapping[str, str], entity: str) -> str:
    """Returns an event as a sentence; of persons only the admins are named to members."""
    actor, person = names.get(row.actor) or unnamed(row.actor), person_of(row)
    concerned = (names.get(person) or gettext("another person")) if person else ""
    return event_sentence(row, actor, concerned, entity)


@page.get("/entity/{entity_id:str}/activity", gate=READER)
async def activity(_: PageContext, entity_id: FromPath[str]) -> Outcome:
    """Show tokens by day, and the latest events."""
    return StreamedPage("activity.html", {}, lambda streamed: _tables(streamed, entity_id))


async def _tables(page_context: PageContext, entity_id: str) -> Mapping[str, object] | Download:
    tx = page_context.tx
    days = await AuditSearch(tx).tokens_by_day(entity_id, page_context.now - DAYS)
    events = await AuditSearch(tx).events(AuditFilter(entity_id=entity_id), None, _MAX_COUNT)
    entity = page_context.entity.name if page_context.entity else entity_id
    admins = await Memberships(tx).admins(entity_id)
    people = _People(
        {f"user:{one.user_id}": one.name or one.email for one in admins},
        await names_of_admins(tx, entity_id),
    )
    succeeded = all(row.outcome == _SUCCESS for row in events)
    audit = _audit(people, entity, all_succeeded=succeeded)
    return (
        _TOKENS.export(days, page_context.query)
        or audit.export(events, page_context.query)
        or {
            "days": _TOKENS.view(days, page_context.query),
            "events": audit.view(events, page_context.query),
            "all_shown": len(events) < _MAX_COUNT,
            "most": _MAX_COUNT,
        }
    )


handlers: Final[list[ControllerRouterHandler]] = [activity]
