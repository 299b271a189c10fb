"""Requests about metrics, health and incidents, as the wire carries them."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from mudra.http.request.fields import LATER_BEGIN, LATER_END
from mudra.http.response.http_refusals import InvalidField
from mudra.metrics.health.picture import Grouping
from mudra.metrics.incidents.acts.act import MAX_POST_MORTEM, MAX_TEXT, ActCommand, ActKind
from mudra.metrics.incidents.own_maintenance import MaintenanceChange
from mudra.metrics.incidents.silence import CODES as SILENCED
from mudra.metrics.incidents.silence import MAX_REASON
from mudra.metrics.notifications.webhook_formats import Format
from mudra.metrics.payload.catalogue import RequestType, window_start
from mudra.metrics.rollup.coverage import TimeRange, latest
from mudra.registry.payload.fields.url_rules import MAX_URL
from mudra.shared.time_text import USUAL, is_usual

CODES: Final = sorted(str(code) for code in RequestType)
GROUPED_BY: Final[Mapping[str, Grouping]] = {
    "network": Grouping.NETWORK,
    "fips": Grouping.FIP,
    "aas": Grouping.AA,
    "pairs": Grouping.PAIR,
}
MAX_LENGTH: Final = timedelta(days=400)
"""The longest time of one health query."""

_Instant = Annotated[
    datetime,
    Meta(tz=True, description="an ISO 8601 instant with its offset, as 2026-01-31T09:30:00Z"),
]
Entity = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9@._-]{0,64}\Z", description="an entity ID, or empty for all")
]
_Code = Annotated[
    str,
    Meta(pattern=rf"^({'|'.join(CODES)})?\Z", description=f"empty or one of {', '.join(CODES)}"),
]
_Silenced = Annotated[
    str,
    Meta(
        pattern=rf"^({'|'.join(sorted(SILENCED))})?\Z",
        description=f"empty or one of {', '.join(sorted(SILENCED))}",
    ),
]
_Flag = Annotated[str, Meta(pattern=r"^(true|false)\Z", description="true or false")]


class TimeParameters(Struct, frozen=True):
    """Windows that begin at `from` or later and before `to`; by default the last closed ones."""

    start: _Instant | UnsetType = field(name="from", default=UNSET)
    end: _Instant | UnsetType = field(name="to", default=UNSET)


class PictureParameters(TimeParameters, frozen=True):
    """The choice of rows, and of a format."""

    aa_id: Entity = field(name="aaId", default="")
    fip_id: Entity = field(name="fipId", default="")
    format: Annotated[Literal["json", "csv"], Meta(description="json or csv")] = "json"


class MatrixParameters(TimeParameters, frozen=True):
    """Over which API; by default over all calls."""

    type: _Code = ""


class ReceiptsParameters(TimeParameters, frozen=True):
    """The choice of a page: `next` is that of the previous response."""

    limit: Annotated[
        str,
        Meta(
            pattern=r"^([2-9]|[1-9][0-9]{1,2}|1000)\Z", description="a whole number from 2 to 1000"
        ),
    ] = "200"
    next: (
        Annotated[datetime, Meta(tz=True, description="the value of next in the previous response")]
        | UnsetType
    ) = UNSET


class IncidentsParameters(Struct, frozen=True):
    """The choice of incidents: only open ones, or those of one entity."""

    open: _Flag = "false"
    entity_id: Entity = field(name="entityId", default="")


class HeldReportsParameters(Struct, frozen=True):
    """Implausible reports that wait; with `decided` also those admitted or refused."""

    decided: _Flag = "false"


class HeldReportRequest(Struct, frozen=True):
    """Admit or refuse an implausible report."""

    reason: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_REASON,
            description=f"a text of 1 to {MAX_REASON} characters",
            examples=["the AA confirms a festival sale"],
        ),
    ]


class SilencesParameters(Struct, frozen=True):
    """Active and scheduled silences; with `past` also those of the last 90 days."""

    past: _Flag = "false"


class IncidentActRequest(Struct, frozen=True):
    """An act on an incident. All but `assign` need a text; `owner` is for assign and hand-over."""

    act: Annotated[ActKind, Meta(description=f"one of {', '.join(ActKind)}", examples=["comment"])]
    text: Annotated[
        str,
        Meta(
            max_length=MAX_POST_MORTEM,
            description=f"a text of at most {MAX_TEXT} characters, a post-mortem {MAX_POST_MORTEM}",
            examples=["The FIP restarts its gateway; next look at 04:00."],
        ),
    ] = ""
    owner: Annotated[
        str,
        Meta(
            max_length=254,
            description="address of an operator with the scope health, or empty for no owner",
            examples=["night-desk@network.example", ""],
        ),
    ] = ""

    @property
    def command(self) -> ActCommand:
        """The command of the use case."""
        return ActCommand(self.act, self.text, self.owner)


class SilenceRequest(Struct, frozen=True):
    """Send no alarms about an entity, one of its APIs, or the whole network, for up to 30 days.

    With `peerId`, about the path between the two entities alone.
    """

    ends: Annotated[_Instant, Meta(examples=[LATER_END])]
    reason: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_REASON,
            description=f"a text of 1 to {MAX_REASON} characters",
            examples=["planned work of the bank until 04:00 IST"],
        ),
    ]
    entity_id: Entity = field(name="entityId", default="")
    peer_id: Entity = field(name="peerId", default="")
    type: _Silenced = ""
    begins: Annotated[_Instant, Meta(examples=[LATER_BEGIN])] | UnsetType = UNSET
    maintenance: bool = False
    """Planned: nothing is judged about the entity, and the public status says so."""


_MaintenanceReason = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=MAX_REASON,
        description=f"a text of 1 to {MAX_REASON} characters",
        examples=["a new version of the core banking system"],
    ),
]


class MaintenanceRequest(Struct, frozen=True):
    """Announce a planned maintenance of the calling entity, for up to 24 hours.

    It begins with the next window at the earliest.
    """

    ends: Annotated[_Instant, Meta(examples=[LATER_END])]
    reason: _MaintenanceReason
    begins: Annotated[_Instant, Meta(examples=[LATER_BEGIN])] | UnsetType = UNSET


class MaintenanceChangeRequest(Struct, frozen=True):
    """Change a maintenance that has not begun; what is not named stays.

    With `begins` alone it keeps its length.
    """

    begins: Annotated[_Instant, Meta(examples=[LATER_BEGIN])] | UnsetType = UNSET
    ends: Annotated[_Instant, Meta(examples=[LATER_END])] | UnsetType = UNSET
    reason: _MaintenanceReason | UnsetType = UNSET

    def of(self, entity_id: str) -> MaintenanceChange:
        """Returns the change of a maintenance of this entity."""
        begins = None if self.begins is UNSET else self.begins
        ends = None if self.ends is UNSET else self.ends
        reason = None if self.reason is UNSET else self.reason
        return MaintenanceChange(entity_id, begins, ends, reason)


_Url = Annotated[
    str,
    Meta(
        min_length=8,
        max_length=MAX_URL,
        description="an absolute https URL",
        examples=["https://alarms.kaveribank.example/mudra"],
        extra_json_schema={"format": "webhook-url"},
    ),
]


_Fips = Annotated[
    tuple[Annotated[str, Meta(min_length=1, max_length=64)], ...],
    Meta(
        max_length=500, description="of the webhook of an FIU: the FIPs whose incidents it receives"
    ),
]


_Format = Annotated[
    str,
    Meta(
        pattern=r"^(standard|slack|teams)\Z",
        description="standard, slack or teams",
        examples=["slack"],
    ),
]


class OwnWebhookRequest(Struct, frozen=True):
    """Send alarms about the calling entity to an address; a FIU's, about the FIPs it names."""

    url: _Url
    fips: _Fips = ()


class WebhookRequest(Struct, frozen=True):
    """Send alarms to an address: those of one entity, or by default all.

    Of a FIU: those of the FIPs that are named.
    """

    url: _Url
    entity_id: Entity = field(name="entityId", default="")
    fips: _Fips = ()
    format: _Format = Format.STANDARD.value


class PersonalWebhookRequest(Struct, frozen=True):
    """The address to which the caller's own alarms are posted."""

    url: _Url
    format: _Format = Format.STANDARD.value


def time_range(
    query: TimeParameters, now: datetime, *, default: timedelta, longest: timedelta
) -> TimeRange | InvalidField:
    """Return `from` and `to`; by default the last closed windows, of hours from a full one on."""
    end = window_start(now) if isinstance(query.end, UnsetType) else query.end
    if not is_usual(end):
        return InvalidField(f"to {USUAL}")
    start = latest(end, default).start if isinstance(query.start, UnsetType) else query.start
    if not start < end or end - start > longest:
        return InvalidField(f"from must be before to, by at most {longest.days} days")
    return TimeRange(start.astimezone(UTC), end.astimezone(UTC))
