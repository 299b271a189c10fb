"""One request: its caller, its transaction ID, and readers of what it holds."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final, TypeAlias, TypeVar

import msgspec
from litestar import Request
from litestar.datastructures import State
from msgspec import Meta, Struct, field

from mudra.audit.event import Caller
from mudra.http.dependencies import HttpDependencies
from mudra.http.request.body.request_body import (
    REGISTRATION_LIMITS,
    FormRefused,
    parse_form,
    read_document,
    read_form,
    read_json,
)
from mudra.http.request.fields import DAY, MINUTE, SECOND
from mudra.http.request.validation import decode_struct, needs_fields
from mudra.http.response.http_refusals import InvalidField
from mudra.http.response.response_body import ResponseBody
from mudra.server_protocol.body_reader import BodyLimits
from mudra.server_protocol.client_address import client_address
from mudra.shared.ids import fresh_id
from mudra.shared.refusal import Refusal, RefusalKind
from mudra.shared.time_text import iso_ms, read_time
from mudra.tokens.authentication.bearer import AdmittedEntity
from mudra.tokens.authentication.token_check import VerifiedToken

VERSION: Final = "1.0.0"
MAX_TXN_ID: Final = 128
_VISIBLE: Final = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")

_encode: Final = msgspec.json.Encoder().encode


class Envelope(msgspec.Struct, frozen=True):
    """The transaction ID and the time of a response."""

    txn_id: str
    now: datetime

    def encode(self, body: ResponseBody) -> bytes:
        """Encode a response with the envelope's fields first."""
        body.ver, body.timestamp = VERSION, iso_ms(self.now)
        if "txnId" in body.envelope_fields:
            body.txn_id = self.txn_id
        return _encode(body)


class RequestEnvelope(msgspec.Struct, frozen=True):
    """The optional members of every request (spec 2.3); `read_txn_id` reads it more leniently."""

    ver: Annotated[
        str, Meta(max_length=16, description="version of the interface", examples=["1.0.0"])
    ] = ""
    timestamp: Annotated[
        str,
        Meta(
            pattern=rf"^({DAY}T{MINUTE}{SECOND}(Z|[+-]{MINUTE})?)?$",
            description="ISO 8601 date-time",
            examples=["2026-01-31T09:30:00.000Z"],
        ),
    ] = ""
    txn_id: Annotated[
        str,
        Meta(
            max_length=128,
            pattern=r"^([!-~]([ -~]*[!-~])?)?$",
            description="your transaction ID, 1 to 128 visible ASCII characters; comes back",
            examples=["0b6f3c1e-6f0e-4a57-9d52-3f6a7e8c9d01"],
        ),
    ] = field(name="txnId", default="")


def new_txn_id() -> str:
    """Return a new transaction ID for a request without one."""
    return fresh_id()


class EnvelopeFault(Refusal, frozen=True):
    """A fault of an optional field: the sentence names it."""

    kind = RefusalKind.INVALID
    sentence: str


def read_txn_id(body: Mapping[str, object]) -> str | EnvelopeFault:
    """Return the request's `txnId`, or a new one; check `ver` and `timestamp` leniently."""
    version, timestamp, txn_id = body.get("ver"), body.get("timestamp"), body.get("txnId")
    if version is not None and not (isinstance(version, str) and len(version) <= 16):  # noqa: PLR2004  # characters
        return EnvelopeFault("ver must be a text of at most 16 characters, such as 1.0.0")
    if timestamp not in (None, "") and not (
        isinstance(timestamp, str) and read_time(timestamp.strip())
    ):
        return EnvelopeFault("timestamp must be an ISO 8601 date-time, 2026-01-31T09:30:00.000Z")
    if txn_id in (None, ""):
        return new_txn_id()
    if not (isinstance(txn_id, str) and len(txn_id) <= MAX_TXN_ID and _VISIBLE.fullmatch(txn_id)):
        return EnvelopeFault(f"txnId must be a text of 1 to {MAX_TXN_ID} visible ASCII characters")
    return txn_id


S = TypeVar("S", bound=msgspec.Struct)
AnyRequest: TypeAlias = Request[object, object, State]


Admitted: TypeAlias = AdmittedEntity | VerifiedToken
"""Who sent a request: an entity, or by its token a user, whom the transaction looks up."""


class RequestContext(Struct, frozen=True):
    """A request that is being handled."""

    dependencies: HttpDependencies
    request: AnyRequest
    txn_id: str
    admitted: Admitted | None = None
    """Set where the endpoint admits before it reads."""

    @property
    def envelope(self) -> Envelope:
        """The envelope of the response, at the current time."""
        return Envelope(self.txn_id, self.dependencies.clock())

    def caller(self, actor: str) -> Caller:
        """Return the caller for the audit log; a command has neither address nor transaction ID."""
        if self.dependencies.owner is not None:
            return Caller(actor)
        return Caller(actor, address_of(self.request, self.dependencies), self.txn_id)


def address_of(request: AnyRequest, dependencies: HttpDependencies) -> str:
    """Return the caller's address; only trusted proxies may name it."""
    peer = request.client.host if request.client else ""
    return client_address(peer, request.scope["headers"], dependencies.settings.proxies)


def new_context(request: AnyRequest, dependencies: HttpDependencies) -> RequestContext:
    """Returns the context of a request without a body."""
    return RequestContext(dependencies, request, new_txn_id())


async def receive_json(
    request: AnyRequest, dependencies: HttpDependencies, into: type[S], limits: BodyLimits
) -> tuple[RequestContext, S | Refusal]:
    """Read a strict JSON object; the second part is a refusal if it is not accepted.

    Where no field of `into` is needed, no body is the same as `{}`.
    """
    parsed = await read_json(
        request.receive, request.scope["headers"], limits, may_be_empty=not needs_fields(into)
    )
    return _received(request, dependencies, parsed, into)


async def receive_form(
    request: AnyRequest, dependencies: HttpDependencies, into: type[S]
) -> tuple[RequestContext, S | Refusal]:
    """Read a strict form; the second part is a refusal if it is not accepted."""
    parsed = await read_form(request.receive, request.scope["headers"])
    return _received(request, dependencies, parsed, into)


class Document(Struct, frozen=True):
    """A JSON document as it was sent; its own check names the place of each fault."""

    value: object


async def receive_document(
    request: AnyRequest, dependencies: HttpDependencies, _: type[Struct]
) -> tuple[RequestContext, Document | Refusal]:
    """Read any strict JSON value; the second part is a refusal if it is not accepted."""
    sent = await read_document(request.receive, request.scope["headers"], REGISTRATION_LIMITS)
    context = new_context(request, dependencies)
    return context, sent if isinstance(sent, Refusal) else Document(sent)


async def receive_query(
    request: AnyRequest, dependencies: HttpDependencies, into: type[S]
) -> tuple[RequestContext, S | Refusal]:
    """Read the query of a GET strictly; the second part is a refusal if it is not accepted."""
    context = RequestContext(dependencies, request, new_txn_id())
    try:
        members = parse_form(request.scope["query_string"])
    except FormRefused as refused:
        return context, InvalidField(f"query: {refused.sentence()}")
    return context, decode_struct(members, into)


def _received(
    request: AnyRequest,
    dependencies: HttpDependencies,
    parsed: Mapping[str, object] | Refusal,
    into: type[S],
) -> tuple[RequestContext, S | Refusal]:
    txn_id = new_txn_id()
    if isinstance(parsed, Refusal):
        return RequestContext(dependencies, request, txn_id), parsed
    if not isinstance(parsed, dict):
        return RequestContext(dependencies, request, txn_id), InvalidField(
            "the body must be a JSON object"
        )
    sent = read_txn_id(parsed)
    if isinstance(sent, EnvelopeFault):
        return RequestContext(dependencies, request, txn_id), sent
    return RequestContext(dependencies, request, sent), decode_struct(parsed, into)
