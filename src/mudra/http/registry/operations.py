"""The registry's calls in the OpenAPI document: what they read and what they answer."""

from typing import Annotated, Final, TypeAlias

import msgspec
from litestar.params import PathParameter
from msgspec import Meta, Struct

from mudra.http.openapi.operation import described
from mudra.http.registry.submission_schema import EXAMPLE, SUBMISSION
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


class WriteResponse(Struct):
    """The answer of a write (decisions 4)."""

    ver: str
    timestamp: str
    txnid: str
    response_code: str = msgspec.field(name="responseCode")
    response_text: str = msgspec.field(name="responseText")
    status: str
    version: int
    findings: list[Finding]


class LintResponse(Struct):
    """What is found in a payload that is not submitted."""

    ver: str
    timestamp: str
    txn_id: str = msgspec.field(name="txnId")
    passes: Annotated[bool, Meta(description="whether no finding refuses the payload")]
    findings: list[Finding]


class Retirement(Struct):
    """Why an entry ends."""

    reason: Annotated[str, Meta(min_length=1, max_length=500, description="the reason")]


class Moment(Struct):
    """When the registry is looked at."""

    at: Annotated[
        str,
        Meta(
            description="an ISO 8601 instant with its offset: the registry as it was then",
            extra_json_schema={"format": "date-time"},
        ),
    ] = ""


class Since(Struct):
    """From where changes are followed."""

    since: Annotated[str, Meta(pattern=r"^[0-9]{1,15}$", description="upto of the last page")] = "0"


class ChangeResponse(Struct):
    """One change; `entry` is null when the entry left."""

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


_SIGNED: Final = {
    "ETag": "Strong; sent back in If-None-Match it gives 304.",
    "Vary": "Authorization",
    "x-jws-signature": "Detached JWS over the bytes of the body (RFC 7515 F, RFC 7797).",
}

submit = described("Submit an entry", SUBMISSION, WriteResponse, bearer=True, conflict=True)
update = described("Update an entry", SUBMISSION, WriteResponse, bearer=True, conflict=True)
# Any JSON value: what a submission refuses is what this call is there to say.
lint = described(
    "Lint an entry",
    {"description": "a payload as it would be submitted", "examples": [EXAMPLE]},
    LintResponse,
    bearer=True,
)
retire = described(
    "Retire an entry", None, WriteResponse, bearer=True, conflict=True, query=Retirement
)
read_all = described(
    "List live entries", None, list[Entry], bearer=True, query=Moment, headers=_SIGNED
)
read_one = described("Show a live entry", None, Entry, bearer=True, query=Moment, headers=_SIGNED)
read_changes = described(
    "Follow changes", None, ChangesResponse, bearer=True, query=Since, headers=_SIGNED
)
