"""Mount a handler at an address: read the request, call the handler, write the response.

The framework routes, and converts the parameters of the path. Bodies and queries are read by
our own strict readers.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Generic, Literal, TypeAlias

from litestar import Response
from litestar.handlers import HTTPRouteHandler
from msgspec import Struct
from msgspec.structs import replace

from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.endpoint import (
    C,
    Gate,
    Handler,
    Opening,
    P,
    request_type,
    respond,
    response_types,
    take_signature,
)
from mudra.http.openapi.operation import FORM, JSON, described
from mudra.http.request.body.request_body import TOKEN_LIMITS
from mudra.http.request.fields import NoParameters
from mudra.http.request.request_context import (
    Admitted,
    AnyRequest,
    RequestContext,
    new_context,
    receive_document,
    receive_form,
    receive_json,
    receive_query,
)
from mudra.http.response.conflicts import SUBMIT, UPDATE
from mudra.http.response.json_response import finished, response_of
from mudra.server_protocol.body_reader import BodyLimits
from mudra.shared.refusal import Refusal
from mudra.storage.database.deadline import TRANSACTION_S

Reader: TypeAlias = Callable[
    [AnyRequest, HttpDependencies, type[Struct]], Awaitable[tuple[RequestContext, Struct | Refusal]]
]


class Mount(Struct, Generic[C], frozen=True, kw_only=True):
    """An address that waits for its handler, and what the OpenAPI document says of it."""

    method: Literal["GET", "POST", "PUT", "DELETE"]
    path: str
    summary: str
    gate: Gate[C]
    receive: Reader
    media: str = JSON
    status: int = 200
    document: object = None
    """The JSON Schema of the body where it is wider than the struct that the handler takes."""
    query: type[Struct] | None = None
    conflicts: Sequence[Refusal] = ()
    findings: bool = False
    opening: Opening = Opening()

    def __call__(self, handler: Handler[C, P]) -> HTTPRouteHandler:
        """Return the framework's handler."""
        takes, gate = request_type(handler), self.gate

        async def handle(
            request: AnyRequest, dependencies: InjectedDependencies, **in_path: object
        ) -> Response[bytes]:
            admitted: Admitted | None = None
            if gate.admits_first:
                early = new_context(request, dependencies)
                found = await gate.admit(early)
                if isinstance(found, Refusal):
                    return response_of(early.envelope, found, self.status)
                admitted = found
            context, received = await self.receive(request, dependencies, takes)
            if admitted is not None:
                context = replace(context, admitted=admitted)
            outcome = await respond(gate, handler, context, received, in_path, self.opening)
            return await finished(context.envelope, outcome, self.status)

        take_signature(handle, handler)
        in_query = self.receive is receive_query and takes is not NoParameters
        operation = described(
            self.summary,
            None if self.receive is receive_query else self.document or takes,
            *response_types(handler),
            needs=gate.needs,
            media=self.media,
            status=self.status,
            query=self.query or (takes if in_query else None),
            conflicts=self.conflicts,
            findings=self.findings,
        )
        return HTTPRouteHandler(
            self.path,
            http_method=self.method,
            status_code=self.status,
            operation_class=operation,
            opt={"gate": gate},
        )(handle)


def get(
    path: str,
    summary: str,
    *,
    gate: Gate[C],
    within_s: float = TRANSACTION_S,
    reads: bool = False,
    conflicts: Sequence[Refusal] = (),
) -> Mount[C]:
    """Mount a handler that reads its parameters from the query.

    One that `reads` alone may work on a replica; the right is checked on the primary.
    """
    return Mount(
        method="GET",
        path=path,
        summary=summary,
        gate=gate,
        receive=receive_query,
        conflicts=conflicts,
        opening=Opening(within_s, reads),
    )


def put(path: str, summary: str, *, gate: Gate[C], conflicts: Sequence[Refusal] = ()) -> Mount[C]:
    """Mount a handler whose path says all; again changes nothing."""
    return Mount(
        method="PUT",
        path=path,
        summary=summary,
        gate=gate,
        receive=receive_query,
        conflicts=conflicts,
    )


def delete(
    path: str,
    summary: str,
    *,
    gate: Gate[C],
    query: type[Struct] | None = None,
    conflicts: Sequence[Refusal] = (),
) -> Mount[C]:
    """Mount a handler that reads its parameters from the query, documented as `query`."""
    return Mount(
        method="DELETE",
        path=path,
        summary=summary,
        gate=gate,
        receive=receive_query,
        query=query,
        conflicts=conflicts,
    )


def post(
    path: str,
    summary: str,
    *,
    gate: Gate[C],
    status: int = 200,
    conflicts: Sequence[Refusal] = (),
    limits: BodyLimits = TOKEN_LIMITS,
    within_s: float = TRANSACTION_S,
) -> Mount[C]:
    """Mount a handler that reads a JSON body within these limits.

    `status` is that of a success; `conflicts` are the refusals by the present state.
    """
    return Mount(
        method="POST",
        path=path,
        summary=summary,
        gate=gate,
        receive=partial(receive_json, limits=limits),
        status=status,
        conflicts=conflicts,
        opening=Opening(within_s),
    )


def post_form(path: str, summary: str, *, gate: Gate[C]) -> Mount[C]:
    """Mount a handler that reads a form."""
    return Mount(
        method="POST", path=path, summary=summary, gate=gate, receive=receive_form, media=FORM
    )


def submit_document(
    method: Literal["POST", "PUT"],
    path: str,
    summary: str,
    schema: object,
    *,
    gate: Gate[C],
    stores: bool = True,
) -> Mount[C]:
    """Mount a handler that reads a JSON document, described by `schema`, and finds its faults.

    One that `stores` it may answer 409, or 400 with all findings.
    """
    return Mount(
        method=method,
        path=path,
        summary=summary,
        gate=gate,
        receive=receive_document,
        document=schema,
        conflicts=() if not stores else SUBMIT if method == "POST" else UPDATE,
        findings=stores,
    )
