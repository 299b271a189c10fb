"""/operator/v1/members/bulk: one act on many members (scope members)."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Final, Literal

from litestar.types import ControllerRouterHandler
from msgspec import UNSET, Meta, Struct, UnsetType, field

from mudra.http.auth.gates import LongOperatorCall, operator_at_length
from mudra.http.request.body.request_body import MEMBER_FILE_LIMITS
from mudra.http.request.fields import EntityId
from mudra.http.response.response_body import ResponseBody
from mudra.http.route import post
from mudra.identity.memberships.in_bulk.bulk_act import (
    MAX_MEMBERS,
    BulkOutcome,
    BulkResult,
    act_in_bulk,
    export_chosen,
    preview_bulk,
)
from mudra.identity.memberships.in_bulk.bulk_rule import MAX_REASON, BulkAct
from mudra.identity.operators.operator import Scope
from mudra.shared.refusal import Refusal


class BulkMember(Struct, kw_only=True):
    """The outcome of a member; `people` are the addresses that get a link."""

    entity_id: str = field(name="entityId")
    name: str
    result: Literal["ready", "done", "refused", "left"]
    people: list[str]
    problem: str


class BulkResponse(ResponseBody, kw_only=True):
    """The outcome of each member, in the order sent, and how many members have each result."""

    act: Literal["invite", "suspend", "export"]
    dry_run: bool = field(name="dryRun")
    ready: int
    done: int
    refused: int
    left: int
    members: list[BulkMember]
    csv: Annotated[str, Meta(description="the file of an export")] | UnsetType = UNSET


def bulk_response(
    act: BulkAct, outcomes: Sequence[BulkOutcome], *, dry_run: bool, csv: str | UnsetType = UNSET
) -> BulkResponse:
    """Return the outcomes as the API and the commands show them."""
    counts = Counter(one.result for one in outcomes)
    return BulkResponse(
        act=act.value,
        dry_run=dry_run,
        ready=counts[BulkResult.READY],
        done=counts[BulkResult.DONE],
        refused=counts[BulkResult.REFUSED],
        left=counts[BulkResult.LEFT],
        members=[
            BulkMember(
                entity_id=one.entity_id,
                name=one.name,
                result=one.result.value,
                people=list(one.people),
                problem=one.refusal.sentence if one.refusal else "",
            )
            for one in outcomes
        ],
        csv=csv,
    )


class BulkRequest(Struct, frozen=True):
    """One act on many members; with `dryRun` nothing is changed."""

    act: Annotated[
        Literal["invite", "suspend", "export"],
        Meta(description="invite, suspend or export", examples=["suspend"]),
    ]
    entity_ids: Annotated[
        list[EntityId],
        Meta(
            min_length=1,
            max_length=MAX_MEMBERS,
            description=f"an array of 1 to {MAX_MEMBERS} entity IDs",
            examples=[["FINSIGHT-FIU", "KAVERI-FIP"]],
        ),
    ] = field(name="entityIds")
    reason: Annotated[
        str,
        Meta(
            max_length=MAX_REASON,
            description=f"a reason of at most {MAX_REASON} characters, which a suspension needs",
            examples=["secret leaked, INC-1042"],
        ),
    ] = ""
    dry_run: Annotated[bool, Meta(examples=[True])] = field(name="dryRun", default=False)


@post(
    "/members/bulk",
    "Act on many members",
    gate=operator_at_length(Scope.MEMBERS),
    limits=MEMBER_FILE_LIMITS,
)
async def act_on_many(call: LongOperatorCall[BulkRequest]) -> BulkResponse | Refusal:
    """Invite admins who have not activated again, suspend, or export up to 500 members.

    Each member is acted on or refused for itself. Members that were not begun within 20 seconds
    have the result `left`: send those again.
    """
    body, open_transaction = call.body, call.dependencies.transaction
    act = BulkAct(body.act)
    if body.dry_run:
        async with open_transaction() as tx:
            planned = await preview_bulk(tx, act, body.entity_ids, call.by)
        return (
            planned if isinstance(planned, Refusal) else bulk_response(act, planned, dry_run=True)
        )
    outcomes = await act_in_bulk(open_transaction, act, body.entity_ids, body.reason, call.by)
    if isinstance(outcomes, Refusal):
        return outcomes
    if act is not BulkAct.EXPORT:
        return bulk_response(act, outcomes, dry_run=False)
    done = [one.entity_id for one in outcomes if one.result is BulkResult.DONE]
    async with open_transaction() as tx:
        text = await export_chosen(tx, done)
    return bulk_response(act, outcomes, dry_run=False, csv=text)


handlers: Final[list[ControllerRouterHandler]] = [act_on_many]
