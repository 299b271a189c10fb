"""The operator's calls on the service itself: registry, keys, settings."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from mudra.audit.proof.verdict import AuditState
from mudra.http.request.fields import DAY, MINUTE, SECOND
from mudra.http.response.response_body import DateTime, ResponseBody

_Reason = Annotated[str, Meta(max_length=500, description="a reason of at most 500 characters")]
_Version = Annotated[
    int,
    Meta(
        ge=0,
        le=2**31 - 1,
        description="the number of the version that was reviewed, or to roll back to; "
        "approvals need it",
        examples=[2],
    ),
]
_Hash = Annotated[
    str,
    Meta(
        pattern="^([0-9a-f]{64})?$",
        description="the hash of what was reviewed, 64 hexadecimal digits as `waiting` has it",
    ),
]
_Due = Annotated[
    str,
    Meta(
        max_length=40,
        description="an ISO 8601 date-time with its offset, or empty for at once",
        # `read_moment` reads it, with an error text of its own.
        extra_json_schema={"pattern": rf"^({DAY}T{MINUTE}{SECOND}(Z|[+-]{MINUTE}))?$"},
    ),
]


class DecisionRequest(Struct, frozen=True):
    """An operator's decision on an entry; `version` is the one that was reviewed.

    With `hash` it is refused as well where that version does not hold what was shown.
    """

    act: Annotated[
        Literal["approve", "reject", "suspend", "restore", "retire", "rollBack"],
        Meta(description="approve, reject, suspend, restore, retire or rollBack"),
    ]
    reason: _Reason = ""
    version: _Version = 0
    hash: _Hash = ""
    goes_live_at: _Due = field(name="goesLiveAt", default="")


class RotationRequest(Struct, frozen=True):
    """Let the next key sign; `kind` empty for both, `emergency` to drop the current one now.

    An emergency drops the key `kid` instead, in whatever state it is, or with `all` every key.
    Within ten minutes of one with `all` nothing changes, but with `again`.
    """

    kind: Annotated[Literal["", "entity", "user"], Meta(description="entity or user")] = ""
    emergency: bool = False
    kid: Annotated[str, Meta(max_length=200, description="the ID of a signing key")] = ""
    all: bool = False
    again: bool = False


class TokenCountsQuery(Struct, frozen=True):
    """The number of days to count, up to today: 1 to 366 of UTC."""

    days: Annotated[
        str,
        Meta(
            pattern=r"^([1-9]|[1-9][0-9]|[12][0-9]{2}|3[0-5][0-9]|36[0-6])\Z",
            description="a whole number from 1 to 366",
        ),
    ] = "90"


class DayCountResponse(Struct, kw_only=True):
    """Tokens issued on one day of UTC."""

    day: Annotated[str, Meta(extra_json_schema={"format": "date"})]
    count: int


class TokenCountsResponse(ResponseBody, kw_only=True):
    """Tokens issued by day of UTC; days without any are left out."""

    entity_id: str = field(name="entityId")
    days: list[DayCountResponse]


class KeyFetchResponse(Struct, kw_only=True, rename="camel"):
    """The fetches of a key by a member; an empty `entityId` is all other addresses together."""

    entity_id: str
    count: int
    first_at: DateTime
    last_at: DateTime


class SigningKeyResponse(Struct, kw_only=True, rename="camel"):
    """A signing key; a time that is not set yet is empty."""

    kid: str
    kind: str
    created_at: DateTime
    active_from: str
    retires_at: str
    state: str
    fetches: list[KeyFetchResponse]


class KeyChangeResponse(Struct, kw_only=True):
    """One thing that was done to a key."""

    kid: str
    kind: str
    event: str
    at: DateTime


class KeysResponse(ResponseBody, kw_only=True):
    """The signing keys, and how often each was fetched by whom."""

    keys: list[SigningKeyResponse]


class RotationResponse(ResponseBody, kw_only=True):
    """The act on a key; nothing when a rotation is in progress, or `kid` was dropped."""

    changes: list[KeyChangeResponse]


class AuditVerdictResponse(ResponseBody, kw_only=True):
    """The verdict whether the audit is as it was written; `problem` says what is not."""

    intact: bool
    state: AuditState
    rows: int
    vouched: int
    waiting: int
    token_blocks: int = field(name="tokenBlocks")
    dropped_blocks: int = field(name="droppedBlocks")
    archived: int
    problem: str
    notes: list[str]
