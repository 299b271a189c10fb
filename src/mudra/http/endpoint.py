"""A handler with who may call it: what `http/route.py` mounts at an address.

A handler takes one call with the struct that the request holds, and returns the struct of its
response or a refusal. Its annotations are the only place that names them: the request is read
into the one, the type checker holds the handler to the other, and the OpenAPI document
describes both.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from inspect import Signature, signature
from typing import Concatenate, Generic, ParamSpec, TypeAlias, TypeVar, get_args

from msgspec import Struct

from mudra.http.dependencies import HttpDependencies
from mudra.http.request.request_context import Admitted, RequestContext
from mudra.http.response.json_response import HandlerResult
from mudra.shared.refusal import Refusal

B = TypeVar("B")
C = TypeVar("C")
P = ParamSpec("P")
HandlerFunction: TypeAlias = Callable[..., Awaitable[object]]
Handler: TypeAlias = Callable[Concatenate[C, P], Awaitable[HandlerResult]]
Respond: TypeAlias = Callable[
    [RequestContext, object, Mapping[str, object]], Awaitable[HandlerResult]
]
"""Takes the context, what was received or why it was not accepted, and the path's parameters."""


Admit: TypeAlias = Callable[[RequestContext], Awaitable[Admitted | Refusal]]


class Call(Struct, Generic[B], frozen=True, kw_only=True):
    """One request of anyone: its context, and the query or the body that it holds."""

    context: RequestContext
    body: B

    @property
    def dependencies(self) -> HttpDependencies:
        """Return what the edge works with."""
        return self.context.dependencies


class Endpoint(Struct, frozen=True, kw_only=True):
    """A handler, and what calls it for those who may."""

    handler: Callable[..., Awaitable[HandlerResult]]
    respond: Respond
    bearer: bool
    """Whether the caller presents a bearer token."""
    admit: Admit | None = None
    """Refuses a request before a byte of its body is read: where reading it costs something.

    Who is admitted is in the context of `respond`.
    """

    @property
    def request_type(self) -> type[Struct]:
        """The struct that the handler takes: the parameter of its call."""
        (body,) = get_args(next(iter(self.handler.__annotations__.values())))
        assert isinstance(body, type)
        assert issubclass(body, Struct)
        return body

    @property
    def response_types(self) -> Sequence[object]:
        """The structs of a success that the handler returns."""
        returned = self.handler.__annotations__["return"]
        return [one for one in get_args(returned) or [returned] if not issubclass(one, Refusal)]


def called(
    handler: Callable[..., Awaitable[HandlerResult]], call: object, path: Mapping[str, object]
) -> Awaitable[HandlerResult]:
    """Call a handler with the parameters of its path, which the framework has converted."""
    return handler(call, **path)


def as_anyone(handler: Handler[Call[B], P]) -> Endpoint:
    """Let anyone call a handler; it opens the units of work that it needs."""

    async def respond(
        context: RequestContext, received: object, path: Mapping[str, object]
    ) -> HandlerResult:
        if isinstance(received, Refusal):
            return received
        return await called(handler, Call(context=context, body=received), path)

    return Endpoint(handler=handler, respond=respond, bearer=False)


def take_signature(handle: HandlerFunction, handler: HandlerFunction, given: int = 1) -> None:
    """Let the framework pass `handle` the parameters of the path that `handler` names.

    Those come behind the first ones of the handler, which `handle` gives it.
    """
    request, dependencies, _ = signature(handle).parameters.values()
    taken = [request, dependencies, *list(signature(handler).parameters.values())[given:]]
    returned = handle.__annotations__["return"]
    vars(handle)["__signature__"] = Signature(taken, return_annotation=returned)
    handle.__annotations__ = {
        **{one.name: one.annotation for one in taken},
        "return": returned,
    }
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(handle, name, getattr(handler, name))
