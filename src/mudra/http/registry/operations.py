"""The registry's calls in the OpenAPI document: their parameters, requests and responses."""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Final, TypeAlias

import msgspec
from litestar.params import PathParameter
from msgspec import Meta, Struct

from mudra.http.openapi.operation import described
from mudra.http.registry.submission_schema import EXAMPLE, JsonSchema
from mudra.http.response.response_body import ResponseBody
from mudra.registry.directory.mirror import PUT, REMOVE
from mudra.registry.payload.entry import Entry
from mudra.shared.entity_type import EntityType
from mudra.shared.finding import Finding

TypeInPath: TypeAlias = Annotated[
    str,
    PathParameter(
        description="FIP, FIU or AA",
        schema_extra={"enum": [kind.value for kind in EntityType], "examples": ["FIP"]},
    ),
]
IdInPath: TypeAlias = Annotated[
    str,
    PathParameter(
        description="the entity's ID",
        schema_extra={"pattern": r"^[A-Za-z0-9@._-]{1,64}$", "examples": ["KAVERI-FIP"]},
    ),
]


class WriteResponse(ResponseBody, kw_only=True):
    """The response to a write: the registry writes `txnid` in lower case only."""

    envelope_fields: ClassVar[tuple[str, ...]] = ("ver", "timestamp")

    txnid: str
    response_code: str = msgspec.field(name="responseCode", default="200")
    response_text: str = msgspec.field(name="responseText", default="OK")
    status: str
    version: int
    findings: Sequence[Finding]

    @property
    def txn_id_of_document(self) -> str:
        """The `txnid` of the payload."""
        return self.txnid


class LintResponse(ResponseBody, kw_only=True):
    """The findings in a payload that is not submitted."""

    passes: Annotated[bool, Meta(description="whether no finding refuses the payload")]
    findings: Sequence[Finding]


class RetireQuery(Struct):
    """Parameters of the retirement of an entry, as they must be."""

    reason: Annotated[
        str, Meta(min_length=1, max_length=500, description="the reason", examples=["closed"])
    ]


class LenientRetireQuery(Struct):
    """The same as they are read: the rules of the registry say what is wrong with a reason."""

    reason: str = ""


class MomentQuery(Struct):
    """Parameters of a read of the directory."""

    at: Annotated[
        str,
        Meta(
            description="an ISO 8601 instant with its offset, as 2026-01-31T09:30:00Z",
            extra_json_schema={"format": "date-time"},
        ),
    ] = ""


class ChangesQuery(Struct):
    """Parameters of a read of the changes."""

    since: Annotated[str, Meta(pattern=r"^[0-9]{1,15}$", description="upto of the last page")] = "0"


class ChangeResponse(Struct):
    """One change; `entry` is null if the entry left the directory."""

    sequence: int
    at: str
    op: Annotated[str, Meta(extra_json_schema={"enum": [PUT, REMOVE]})]
    type: EntityType
    id: str
    entry: Entry | None


class ChangesResponse(Struct):
    """A page of changes: see docs/reference/registry.md for the hash."""

    since: int
    upto: int
    more: bool
    complete: bool
    hash: str
    changes: list[ChangeResponse]
    issued_at: Annotated[
        int, Meta(description="when the page was signed, in seconds since 1970")
    ] = msgspec.field(name="issuedAt")
    valid_until: Annotated[
        int, Meta(description="until when it may be relied on, in seconds since 1970")
    ] = msgspec.field(name="validUntil")
    registry: str
    reader: str
    epoch: int


_SIGNED: Final = {
    "ETag": "Strong; sent back in If-None-Match it gives 304.",
    "Vary": "Authorization",
    "x-jws-signature": "Detached JWS over the bytes of the body (RFC 7515 F, RFC 7797).",
}

# Any JSON value: this call exists to say why a submission would refuse it.
ANY_PAYLOAD: Final[JsonSchema] = {
    "description": "a payload as it would be submitted",
    "examples": [EXAMPLE],
}

read_all = described(
    "List live entries",
    None,
    list[Entry],
    needs="Entity Access Token",
    query=MomentQuery,
    headers=_SIGNED,
)
read_one = described(
    "Show a live entry",
    None,
    Entry,
    needs="Entity Access Token",
    query=MomentQuery,
    headers=_SIGNED,
)
read_changes = described(
    "Follow changes",
    None,
    ChangesResponse,
    needs="Entity Access Token",
    query=ChangesQuery,
    headers=_SIGNED,
)
