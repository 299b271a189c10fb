"""One request: its caller, its transaction ID, and readers of what it holds."""

from collections.abc import Mapping
from typing import TypeAlias, TypeVar

import msgspec
from litestar import Request
from litestar.datastructures import State
from msgspec import Struct

from mudra.audit.event import Caller
from mudra.http.dependencies import HttpDependencies
from mudra.http.request.body.request_body import (
    REGISTRATION_LIMITS,
    read_document,
    read_form,
    read_json,
)
from mudra.http.request.body.strict_form import FormRefused, parse_form
from mudra.http.request.envelope import Envelope, EnvelopeFault, new_txn_id, read_txn_id
from mudra.http.request.validation import decode_struct, wrong_number
from mudra.http.response.http_refusals import InvalidField
from mudra.server_protocol.body_errors import MalformedBody
from mudra.server_protocol.body_reader import BodyLimits
from mudra.server_protocol.client_address import client_address
from mudra.shared.refusal import Refusal
from mudra.tokens.authentication.bearer import AdmittedEntity
from mudra.tokens.authentication.token_check import VerifiedToken

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
    return client_address(
        peer, request.headers.getall("x-forwarded-for", []), dependencies.settings.trusted_proxies
    )


def new_context(request: AnyRequest, dependencies: HttpDependencies) -> RequestContext:
    """Return the context of a request without a body."""
    return RequestContext(dependencies, request, new_txn_id())


async def receive_json(
    request: AnyRequest, dependencies: HttpDependencies, into: type[S], limits: BodyLimits
) -> tuple[RequestContext, S | Refusal]:
    """Read a strict JSON object; the second part is a refusal if it is not accepted."""
    parsed = await read_json(request.receive, request.scope["headers"], limits)
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
    if isinstance(parsed, MalformedBody) and parsed.number_of:
        parsed = wrong_number(parsed.number_of, into) or parsed
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
