"""GET /entity/attention and /entity/activity: what the console shows an entity's admins."""

from collections.abc import Mapping
from typing import Annotated, Final

from litestar.types import ControllerRouterHandler
from msgspec import Meta, Struct, field

from mudra.audit.search import AuditRow, TokensOfDay
from mudra.http.auth.gates import SIGNED_IN, UserCall
from mudra.http.request.fields import EntityId, EventNumber, PageLimit
from mudra.http.response.response_body import DateTime, Page, ResponseBody, cut_page
from mudra.http.route import get
from mudra.http.token.requests import EntityQuery
from mudra.overview.action_items import ActionItem, member_attention
from mudra.overview.entity_activity import entity_activity, visible_address
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms


class ActivityQuery(Struct, frozen=True):
    """Selects one of the caller's entities and a page of its audit log, the newest first."""

    entity_id: EntityId = field(name="entityId")
    after: EventNumber = ""
    limit: PageLimit = "100"


class ActionItemResponse(Struct, kw_only=True):
    """One thing to see to; `page` is that of the console where it is done."""

    weight: Annotated[str, Meta(extra_json_schema={"enum": ["now", "soon", "good-to-know"]})]
    what: str
    why: str
    page: str
    act: str


class AttentionResponse(ResponseBody, kw_only=True):
    """The matters that need attention now, the worst first; empty when all is well."""

    entity_id: str = field(name="entityId")
    lines: list[ActionItemResponse]


class TokensOfDayResponse(Struct, kw_only=True):
    """Entity Access Tokens issued and refused on a day of UTC."""

    day: str
    issued: int
    refused: int


class OwnEventResponse(Struct, kw_only=True):
    """An event of the entity's audit; `address` is empty where an operator acted."""

    seq: int
    at: DateTime
    event: str
    outcome: str
    who: str
    address: str
    txn_id: str = field(name="txnId")
    reason: str


class ActivityResponse(Page, kw_only=True):
    """Tokens of the last 14 days, and a page of the entity's audit, the newest first."""

    entity_id: str = field(name="entityId")
    days: list[TokensOfDayResponse]
    events: list[OwnEventResponse]


@get("/entity/attention", "What needs attention of the entity's admins", gate=SIGNED_IN)
async def own_attention(call: UserCall[EntityQuery]) -> AttentionResponse | Refusal:
    """List what needs attention now, the most urgent first."""
    found = await member_attention(call.tx, call.user, call.body.entity_id)
    if isinstance(found, Refusal):
        return found
    return AttentionResponse(
        entity_id=call.body.entity_id, lines=[_item(item) for item in found.items]
    )


@get("/entity/activity", "Tokens of the entity by day, and its audit", gate=SIGNED_IN)
async def own_activity(call: UserCall[ActivityQuery]) -> ActivityResponse | Refusal:
    """Count tokens by day and list events of your own entity."""
    limit, before = int(call.body.limit), int(call.body.after) if call.body.after else None
    found = await entity_activity(
        call.tx, call.user, call.body.entity_id, before=before, limit=limit + 1
    )
    if isinstance(found, Refusal):
        return found
    shown, following = cut_page(found.events, limit, lambda row: str(row.seq))
    return ActivityResponse(
        entity_id=call.body.entity_id,
        days=[_day(day) for day in found.days],
        events=[_event(row, found.names) for row in shown],
        next=following,
    )


def _item(item: ActionItem) -> ActionItemResponse:
    return ActionItemResponse(
        weight=item.weight.word, what=item.what, why=item.why, page=item.page, act=item.act
    )


def _day(day: TokensOfDay) -> TokensOfDayResponse:
    return TokensOfDayResponse(day=f"{day.day:%Y-%m-%d}", issued=day.issued, refused=day.refused)


def _event(row: AuditRow, names: Mapping[str, str]) -> OwnEventResponse:
    return OwnEventResponse(
        seq=row.seq,
        at=iso_ms(row.at),
        event=row.event,
        outcome=row.outcome,
        who=names.get(row.actor, row.actor),
        address=visible_address(row),
        txn_id=row.txn_id,
        reason=row.reason,
    )


handlers: Final[list[ControllerRouterHandler]] = [own_attention, own_activity]
