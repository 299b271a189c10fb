"""One act on many members: which were chosen and what becomes of each, then the act."""

from collections.abc import Sequence
from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.console_errors import page_problem, refusal_text
from mudra.console.framework.navigation import operator_path
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Download, GoTo, LongAct, Outcome, RenderedPage
from mudra.console.framework.session.identity_proof import RECENT
from mudra.console.pages.operator.members import MAX_COUNT, TABLE, shown_filter
from mudra.http.auth.gates import operator
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.memberships.in_bulk.bulk_act import (
    BulkOutcome,
    BulkResult,
    act_in_bulk,
    export_chosen,
    preview_bulk,
)
from mudra.identity.memberships.in_bulk.bulk_rule import MAX_REASON, BulkAct, checked_reason
from mudra.identity.memberships.member_search_store import MemberSearch
from mudra.identity.operators.operator import Scope
from mudra.localization.language import translatable
from mudra.server_protocol.body_reader import BodyLimits
from mudra.shared.refusal import Refusal

_LIMITS: Final = BodyLimits(128 * 1024)
"""500 entity IDs of 64 characters, each of which a form may encode in three."""
_NONE_CHOSEN: Final = InvalidField(
    translatable("choose members: tick some, or take all that the filter shows")
)


@page.get("/operator/bulk", gate=operator(Scope.MEMBERS))
async def show_bulk(_: PageContext) -> Outcome:
    """Go to the list in which members are chosen."""
    return GoTo(operator_path("members"))


@page.post("/operator/bulk/check", gate=operator(Scope.MEMBERS), limits=_LIMITS)
async def check_bulk(page_context: PageContext, fields: Fields) -> Outcome:
    """Show what would become of each member chosen."""
    act = _act(fields)
    if isinstance(act, Refusal):
        return _page(BulkAct.INVITE, refusal=act)
    chosen = await _chosen(page_context, fields)
    if not chosen:
        return _page(act, refusal=_NONE_CHOSEN)
    by = page_context.acting_operator
    planned = await preview_bulk(page_context.tx, act, chosen, by)
    if isinstance(planned, Refusal):
        return _page(act, refusal=planned)
    return _page(act, planned)


@page.post("/operator/bulk", gate=operator(Scope.MEMBERS), proof=RECENT, limits=_LIMITS)
async def act_on_many(page_context: PageContext, fields: Fields) -> Outcome | LongAct:
    """Invite again or suspend the members of the preview, each by itself."""
    act, reason = _act(fields), fields.get("reason", "")
    if isinstance(act, Refusal):
        return _page(BulkAct.INVITE, refusal=act)
    if act is BulkAct.EXPORT:
        return _page(act, refusal=InvalidField("act must be one of invite, suspend"))
    chosen = fields.get("members", "").split()
    wrong = checked_reason(act, reason) or (None if chosen else _NONE_CHOSEN)
    if wrong is not None:
        return _page(act, refusal=wrong)

    async def run() -> RenderedPage:
        open_transaction = page_context.dependencies.transaction
        by = page_context.acting_operator
        outcomes = await act_in_bulk(open_transaction, act, chosen, reason, by)
        if isinstance(outcomes, Refusal):
            return _page(act, refusal=outcomes)
        return _page(act, outcomes, reason)

    return LongAct(run)


@page.post("/operator/bulk/export", gate=operator(Scope.MEMBERS), limits=_LIMITS)
async def export_many(page_context: PageContext, fields: Fields) -> Outcome:
    """Export the members of the preview as a file, which an import reads."""
    text = await export_chosen(page_context.tx, fields.get("members", "").split())
    return Download("members-for-import.csv", "text/csv", text.encode())


def _act(fields: Fields) -> BulkAct | InvalidField:
    typed = fields.get("act", "")
    if typed not in set(BulkAct):
        return InvalidField(f"act must be one of {', '.join(BulkAct)}")
    return BulkAct(typed)


async def _chosen(page_context: PageContext, fields: Fields) -> Sequence[str]:
    """Return the members that were ticked, or all that the filter of the list shows."""
    if fields.get("which") == "all":
        tx = page_context.tx
        which = await shown_filter(tx, fields)
        rows = await MemberSearch(tx).members(which, "", MAX_COUNT)
        return [row.entity_id for row in TABLE.chosen(rows, fields)]
    ticked = TABLE.tick("")
    return [name.removeprefix(ticked) for name in fields if name.startswith(ticked)]


def _page(
    act: BulkAct,
    outcomes: Sequence[BulkOutcome] = (),
    reason: str = "",
    refusal: Refusal | None = None,
) -> RenderedPage:
    problem = None if refusal is None else page_problem(refusal)
    of = {result: [one for one in outcomes if one.result is result] for result in BulkResult}
    acted = of[BulkResult.DONE] or of[BulkResult.LEFT]
    return RenderedPage(
        "operator_bulk.html",
        {
            "act": act.value,
            "total": len(outcomes),
            "done": bool(acted),
            "ready": of[BulkResult.READY],
            "acted": of[BulkResult.DONE],
            "left": of[BulkResult.LEFT],
            "refused": [
                (one, refusal_text(one.refusal) if one.refusal else "")
                for one in of[BulkResult.REFUSED]
            ],
            "people": {address for one in of[BulkResult.READY] for address in one.people},
            "reason": reason,
            "max_reason": MAX_REASON,
            "problem": refusal_text(refusal) if refusal else "",
        },
        status=problem.status if problem else 200,
    )


handlers: Final[list[ControllerRouterHandler]] = [show_bulk, check_bulk, act_on_many, export_many]
