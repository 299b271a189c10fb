"""The timeline as JSON and as CSV, and what changed before an incident."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal
from uuid import UUID

from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Meta, Struct, UnsetType, field
from msgspec.structs import replace

from mudra.http.auth.gates import SIGNED_IN, OperatorCall, UserCall, operator
from mudra.http.request.fields import EntityId, NoParameters
from mudra.http.request.health_requests import MAX_LENGTH, TimeParameters, time_range
from mudra.http.response.http_refusals import InvalidField
from mudra.http.response.response_body import CsvText, ResponseBody
from mudra.http.route import get
from mudra.http.token.requests import EntityQuery
from mudra.identity.accounts.people_store import People
from mudra.identity.memberships.member import NotYourEntity
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.operators.operator import Scope
from mudra.metrics.incidents.explanation import may_see
from mudra.metrics.incidents.incident_service import IncidentService, NoSuchIncident
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.refusal import Refusal
from mudra.shared.text.csv_file import csv_text
from mudra.shared.time_text import iso_ms
from mudra.storage.database.deadline import PAGE_S
from mudra.storage.database.transaction import Transaction
from mudra.timeline.happening import Happening
from mudra.timeline.ranking import Candidate
from mudra.timeline.timeline_service import Reader, TimelineService

_DEFAULT_LENGTH: Final = timedelta(days=7)
_MOMENT: Final = timedelta(seconds=1)
_COLUMNS: Final = ("at", "until", "kind", "entityId", "text", "ref")
_Format = Annotated[Literal["json", "csv"], Meta(description="json or csv")]


class TimelineQuery(TimeParameters, frozen=True):
    """Selects a time, by default the last seven days, of the network or of one member."""

    entity_id: Annotated[
        str, Meta(pattern=r"^[A-Za-z0-9@._-]{0,64}\Z", description="an entity ID, or empty")
    ] = field(name="entityId", default="")
    format: _Format = "json"


class OwnTimelineQuery(TimeParameters, frozen=True, kw_only=True):
    """Selects a time, by default the last seven days, of one of the caller's entities."""

    entity_id: EntityId = field(name="entityId")
    format: _Format = "json"


class HappeningDetails(Struct, rename="camel", kw_only=True):
    """One event; `entityId` is empty for the network, `until` null for what only begins."""

    at: str
    until: str | None
    kind: str
    entity_id: str
    text: str
    ref: str


class CandidateDetails(Struct, rename="camel", kw_only=True):
    """A change before an incident: a hint, and no proof."""

    happening: HappeningDetails
    score: float
    seconds_before: int
    """Before the first bad window; negative for a change within it."""


class TimelineResponse(ResponseBody, kw_only=True):
    """Events, the newest first: 2,000 at most."""

    happenings: list[HappeningDetails]


class BeforeResponse(ResponseBody, kw_only=True):
    """Changes in the 24 hours before an incident, the likeliest first."""

    candidates: list[CandidateDetails]


@get(
    "/operator/v1/timeline",
    "Show the timeline",
    gate=operator(Scope.HEALTH),
    within_s=PAGE_S,
    reads=True,
)
async def timeline(
    call: OperatorCall[TimelineQuery],
) -> TimelineResponse | CsvText | Refusal:
    """Show what happened to the network, or to one member, over all areas."""
    now = await People(call.tx).now()
    within = _within(call.body, now)
    if isinstance(within, Refusal):
        return within
    found = await call.tx.service(TimelineService).of_network(
        within, now, entity_id=call.body.entity_id
    )
    return _response(found, call.body.format)


@get(
    "/operator/v1/incidents/{incident_id:uuid}/before",
    "Show what changed before an incident",
    gate=operator(Scope.HEALTH),
    reads=True,
)
async def before(
    call: OperatorCall[NoParameters], incident_id: FromPath[UUID]
) -> BeforeResponse | Refusal:
    """Show the changes of the day before, ranked by nearness, kind and place: hints, no proof."""
    stored = await call.tx.service(IncidentService).find(str(incident_id))
    if isinstance(stored, Refusal):
        return stored
    now = await People(call.tx).now()
    found = await call.tx.service(TimelineService).before(stored.incident, now)
    return BeforeResponse(candidates=[_candidate(one) for one in found])


@get("/entity/timeline", "Show the entity's timeline", gate=SIGNED_IN, within_s=PAGE_S)
async def own_timeline(
    call: UserCall[OwnTimelineQuery],
) -> TimelineResponse | CsvText | Refusal:
    """Show what happened to an entity that you administer or read, and to the whole network."""
    if not call.user.sees(call.body.entity_id):
        return NotYourEntity()
    now = await People(call.tx).now()
    within = _within(call.body, now)
    if isinstance(within, Refusal):
        return within
    reader = await _reader(call.tx, call.body.entity_id)
    found = await call.tx.service(TimelineService).of_member(reader, within, now)
    return _response(found, call.body.format)


@get(
    "/entity/incidents/{incident_id:uuid}/before",
    "Show what changed before an incident of the entity",
    gate=SIGNED_IN,
)
async def before_own(
    call: UserCall[EntityQuery], incident_id: FromPath[UUID]
) -> BeforeResponse | Refusal:
    """Show what changed before an incident that concerns your entity, as far as you may see it."""
    if not call.user.sees(call.body.entity_id):
        return NotYourEntity()
    stored = await call.tx.service(IncidentService).find(str(incident_id))
    if isinstance(stored, Refusal):
        return stored
    reader = await _reader(call.tx, call.body.entity_id)
    if not may_see(stored.incident, reader.entity_id, of_fips=reader.of_fips):
        return NoSuchIncident()
    now = await People(call.tx).now()
    found = await call.tx.service(TimelineService).before(stored.incident, now, reader)
    return BeforeResponse(candidates=[_candidate(one) for one in found])


def _within(query: TimeParameters, now: datetime) -> TimeRange | InvalidField:
    """Returns the time that is asked for; without an end, up to this moment."""
    if isinstance(query.end, UnsetType):
        query = replace(query, end=now + _MOMENT)
    return time_range(query, now, default=_DEFAULT_LENGTH, longest=MAX_LENGTH)


async def _reader(tx: Transaction, entity_id: str) -> Reader:
    return Reader(entity_id, of_fips=await Memberships(tx).is_fiu(entity_id))


def _response(found: Sequence[Happening], format_: str) -> TimelineResponse | CsvText:
    if format_ == "json":
        return TimelineResponse(happenings=[_happening(one) for one in found])
    rows = (
        (
            *(iso_ms(one.at), iso_ms(one.until) if one.until else None),
            *(one.kind.value, one.entity_id, one.text, one.ref),
        )
        for one in found
    )
    return CsvText(csv_text(_COLUMNS, rows, for_people=True))


def _happening(one: Happening) -> HappeningDetails:
    return HappeningDetails(
        at=iso_ms(one.at),
        until=iso_ms(one.until) if one.until else None,
        kind=one.kind.value,
        entity_id=one.entity_id,
        text=one.text,
        ref=one.ref,
    )


def _candidate(one: Candidate) -> CandidateDetails:
    return CandidateDetails(
        happening=_happening(one.happening),
        score=round(one.score, 3),
        seconds_before=round(one.before.total_seconds()),
    )


operator_handlers: Final[list[HTTPRouteHandler]] = [timeline, before]
member_handlers: Final[list[ControllerRouterHandler]] = [own_timeline, before_own]
