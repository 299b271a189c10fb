"""Requests about disputes, as the wire carries them."""

from datetime import date
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from mudra.disputes.correction import Effect
from mudra.disputes.dispute import About, Act, Kind
from mudra.disputes.evidence import MAX_BYTES, MAX_NAME, read_base64
from mudra.disputes.raise_rule import RaiseCommand
from mudra.disputes.step_rule import MAX_TEXT, StepCommand
from mudra.http.request.fields import DAY, EntityId, Flag, Instant, UuidOrNone
from mudra.metrics.payload.catalogue import TYPE_OF_API
from mudra.server_protocol.body_reader import BodyLimits
from mudra.shared.refusal import ValueRefused

EVIDENCE_LIMITS: Final = BodyLimits(MAX_BYTES * 4 // 3 + 16 * 1024)
"""The content is in Base64, four characters for three bytes."""

_Text = Annotated[
    str,
    Meta(
        max_length=MAX_TEXT,
        description=f"a text of at most {MAX_TEXT} characters",
        examples=["Our gateway answered all these calls: see the log."],
    ),
]
_Day = Annotated[
    str,
    Meta(
        pattern=r"^([0-9]{4}-[0-9]{2}-[0-9]{2})?\Z",
        description="a day of IST such as 2026-01-31",
        # Whether the calendar has the day is looked at by `command`, with an error text of its own.
        extra_json_schema={"pattern": f"^({DAY})?$"},
    ),
]
_Api = Annotated[str, Meta(extra_json_schema={"enum": ["", *sorted(TYPE_OF_API)]})]
_OneApi = Annotated[str, Meta(extra_json_schema={"enum": sorted(TYPE_OF_API)})]


class DisputesQuery(Struct, frozen=True):
    """Selects the disputes of one of the caller's entities; with `open` those to be decided."""

    entity_id: EntityId = field(name="entityId")
    open: Flag = "false"


class AllDisputesQuery(Struct, frozen=True):
    """Selects disputes of all members, of one, or about one incident."""

    entity_id: Annotated[
        str, Meta(pattern=r"^[A-Za-z0-9@._-]{0,64}\Z", description="an entity ID, or empty")
    ] = field(name="entityId", default="")
    incident_id: UuidOrNone = field(name="incidentId", default="")
    open: Flag = "false"


class DisputeRequest(Struct, frozen=True, rename="camel"):
    """A comment, or a dispute: of an incident, a day, or one API from a day to a day.

    `about` incident needs `incidentId`, day needs `day`, and line needs `api`, `firstDay` and, for
    more than one day, `lastDay`.
    """

    entity_id: Annotated[EntityId, Meta(examples=["KAVERI-FIP"])]
    text: _Text
    about: Annotated[
        Literal["incident", "day", "line"],
        Meta(description="what it is about", examples=["incident"]),
    ]
    kind: Annotated[
        Literal["dispute", "comment"],
        Meta(description="dispute asks for a correction, comment for nothing"),
    ] = "dispute"
    incident_id: Annotated[UuidOrNone, Meta(examples=["6f1c2a4e-0d6b-4c8e-9a53-2b7d1e4f8a90"])] = ""
    day: _Day = ""
    first_day: _Day = ""
    last_day: _Day = ""
    api: _Api = ""

    def command(self) -> RaiseCommand | ValueRefused:
        """Return the command of the use case, or which day there is not."""
        about, days = About(self.about), dict[str, date | None]()
        typed = {"day": self.day, "firstDay": self.first_day, "lastDay": self.last_day}
        for name, text in typed.items():
            try:
                days[name] = date.fromisoformat(text) if text else None
            except ValueError:
                return ValueRefused(name, "must be a day such as 2026-01-31")
        is_day = about is About.DAY
        return RaiseCommand(
            Kind(self.kind),
            about,
            self.text,
            (self.incident_id or None) if about is About.INCIDENT else None,
            days["day"] if is_day else days["firstDay"],
            None if is_day else days["lastDay"],
            self.api or None,
        )


class MemberStepRequest(Struct, frozen=True):
    """A step of the member: add to the statement or answer a question, or withdraw."""

    act: Annotated[Literal["inform", "withdraw"], Meta(description="inform or withdraw")]
    text: _Text = ""

    @property
    def command(self) -> StepCommand:
        """Return the command of the use case."""
        return StepCommand(Act(self.act), self.text)


class OperatorStepRequest(Struct, frozen=True):
    """A step of an operator; an acceptance makes a correction of that `effect`.

    `accept_partly` names the part: `start` and `end` on edges of windows of ten minutes, and
    `apis`; what is left out is as contested.
    """

    act: Annotated[
        Literal["review", "ask", "answer", "accept", "accept_partly", "reject", "reopen"],
        Meta(
            description="review, ask, answer, accept, accept_partly, reject or reopen",
            examples=["accept"],
        ),
    ]
    text: Annotated[_Text, Meta(examples=["Your log shows it: these calls are left out."])] = ""
    effect: Annotated[
        Effect, Meta(description="left_out counts nothing of it, not_against_member no failure")
    ] = "left_out"
    start: Instant | UnsetType = UNSET
    end: Instant | UnsetType = UNSET
    apis: Annotated[
        list[_OneApi],
        Meta(max_length=len(TYPE_OF_API), description="codes of APIs; none for all contested"),
    ] = field(default_factory=list)

    @property
    def command(self) -> StepCommand:
        """Return the command of the use case."""
        return StepCommand(
            Act(self.act),
            self.text,
            self.effect,
            None if isinstance(self.start, UnsetType) else self.start,
            None if isinstance(self.end, UnsetType) else self.end,
            tuple(self.apis),
        )


class EvidenceRequest(Struct, frozen=True):
    """A file to attach: its content in Base64 (RFC 4648), its kind by the content."""

    name: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_NAME,
            description=f"a file name of 1 to {MAX_NAME} characters, without a path",
            examples=["gateway.log"],
        ),
    ]
    content: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=(MAX_BYTES + 2) // 3 * 4,
            description=f"the content in Base64, of at most {MAX_BYTES} bytes",
            examples=["MjAyNi0wMS0zMVQwODo0MFogMjAwIC9GSS9GZXRjaAo="],
            extra_json_schema={"contentEncoding": "base64"},
        ),
    ]

    def read(self) -> bytes | ValueRefused:
        """Return the content, or that it is no Base64."""
        return read_base64(self.content)
