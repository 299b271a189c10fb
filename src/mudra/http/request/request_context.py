"""One request: its caller, its transaction ID, and readers of what it holds."""

from collections.abc import Mapping
from typing import TypeAlias, TypeVar

import msgspec
from litestar import Request
from litestar.datastructures import State
from msgspec import Struct

from mudra.audit.event import Caller
from mudra.http.dependencies import HttpDependencies
from mudra.http.request.body_errors import MalformedBody
from mudra.http.request.client_address import client_address
from mudra.http.request.envelope import Envelope, EnvelopeFault, new_txn_id, read_txn_id
from mudra.http.request.request_body import TOKEN_LIMITS, read_form, read_json
from mudra.http.request.strict_form import FormRefused, parse_form
from mudra.http.request.validation import decode_struct, wrong_number
from mudra.http.response.http_refusals import InvalidField
from mudra.shared.refusal import Refusal

S = TypeVar("S", bound=msgspec.Struct)
AnyRequest: TypeAlias = Request[object, object, State]


class RequestContext(Struct, frozen=True):
    """A request that is being handled."""

    service: HttpDependencies
    request: AnyRequest
    txn_id: str

    @property
    def envelope(self) -> Envelope:
        """The envelope of the response, at the current time."""
        return Envelope(self.txn_id, self.service.clock())

    def caller(self, actor: str) -> Caller:
        """Return the caller for the audit log."""
        return Caller(actor, address_of(self.request, self.service), self.txn_id)


def address_of(request: AnyRequest, service: HttpDependencies) -> str:
    """Return the caller's address; only trusted proxies may name it (quality A4)."""
    peer = request.client.host if request.client else ""
    return client_address(
        peer, request.headers.getall("x-forwarded-for", []), service.settings.trusted_proxies
    )


def new_context(request: AnyRequest, service: HttpDependencies) -> RequestContext:
    """Return the context of a request without a body."""
    return RequestContext(service, request, new_txn_id())


async def receive_json(
    request: AnyRequest, service: HttpDependencies, into: type[S]
) -> tuple[RequestContext, S | Refusal]:
    """Read a strict JSON object; the second part is a refusal if it is not accepted."""
    parsed = await read_json(request.receive, request.scope["headers"], TOKEN_LIMITS)
    return _received(request, service, parsed, into)


async def receive_form(
    request: AnyRequest, service: HttpDependencies, into: type[S]
) -> tuple[RequestContext, S | Refusal]:
    """Read a strict form; the second part is a refusal if it is not accepted."""
    parsed = await read_form(request.receive, request.scope["headers"])
    return _received(request, service, parsed, into)


def receive_query(
    request: AnyRequest, service: HttpDependencies, into: type[S]
) -> tuple[RequestContext, S | Refusal]:
    """Read the query of a GET strictly; the second part is a refusal if it is not accepted."""
    context = RequestContext(service, request, new_txn_id())
    try:
        members = parse_form(request.scope["query_string"])
    except FormRefused as refused:
        return context, InvalidField(f"query: {refused.sentence()}")
    return context, decode_struct(members, into)


def _received(
    request: AnyRequest,
    service: HttpDependencies,
    parsed: Mapping[str, object] | Refusal,
    into: type[S],
) -> tuple[RequestContext, S | Refusal]:
    txn_id = new_txn_id()
    if isinstance(parsed, MalformedBody) and parsed.number_of:
        parsed = wrong_number(parsed.number_of, into) or parsed
    if isinstance(parsed, Refusal):
        return RequestContext(service, request, txn_id), parsed
    if not isinstance(parsed, dict):
        return RequestContext(service, request, txn_id), InvalidField(
            "the body must be a JSON object"
        )
    sent = read_txn_id(parsed)
    if isinstance(sent, EnvelopeFault):
        return RequestContext(service, request, txn_id), sent
    return RequestContext(service, request, sent), decode_struct(parsed, into)
