"""What became of many members, as the API and the commands show it."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from mudra.http.response.response_body import ResponseBody
from mudra.identity.memberships.bulk_act import BulkOutcome, BulkResult
from mudra.identity.memberships.bulk_rule import BulkAct


class BulkMember(Struct, kw_only=True):
    """What became of a member; `people` are the addresses that get a link."""

    entity_id: str = field(name="entityId")
    name: str
    result: Literal["ready", "done", "refused", "left"]
    people: list[str]
    problem: str


class BulkResponse(ResponseBody, kw_only=True):
    """What became of each member, in the order sent, and how many members have each result."""

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
