"""A handler of the API, and the gate by which it is called; `http/route.py` mounts both.

A handler takes one call with the struct that the request holds, and returns the struct of its
response or a refusal. Its annotations are the only place that names them: the request is read
into the one, the type checker holds the handler to the other, and the OpenAPI document
describes both.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from inspect import Signature, signature
from typing import (
    Any,
    ClassVar,
    Concatenate,
    Final,
    Generic,
    ParamSpec,
    TypeAlias,
    TypeVar,
    get_args,
)

from msgspec import Struct

from mudra.http.dependencies import HttpDependencies
from mudra.http.request.request_context import Admitted, RequestContext
from mudra.http.response.json_response import HandlerResult
from mudra.server_protocol.body_errors import is_body_refusal
from mudra.shared.refusal import Refusal
from mudra.storage.database.deadline import TRANSACTION_S

B = TypeVar("B")
C = TypeVar("C")
C_co = TypeVar("C_co", covariant=True)
P = ParamSpec("P")
HandlerFunction: TypeAlias = Callable[..., Awaitable[object]]
Handler: TypeAlias = Callable[Concatenate[C, P], Awaitable[HandlerResult]]


class Call(Struct, Generic[B], frozen=True, kw_only=True):
    """One request of anyone: its context, and the query or the body that it holds."""

    context: RequestContext
    body: B

    @property
    def dependencies(self) -> HttpDependencies:
        """Return what the edge works with."""
        return self.context.dependencies


class Opening(Struct, frozen=True):
    """The opening of a handler's transaction: for how long; one that `reads` alone on a replica."""

    within_s: float = TRANSACTION_S
    reads: bool = False


class Gate(Struct, Generic[C_co], frozen=True):
    """A rule about callers: each kind of gate finds the caller, and lets it pass or refuses it.

    The call of the handler lasts as long as the block of `enter`.
    """

    admits_first: ClassVar[bool] = False
    """Whether `admit` comes before a byte of the body is read: where reading it costs something.

    Who is admitted is in the context of `enter`.
    """

    @property
    def needs(self) -> str:
        """Return which token the caller presents, for the document; empty for none."""
        raise NotImplementedError

    def enter(
        self, context: RequestContext, received: object, opening: Opening
    ) -> AbstractAsyncContextManager[C_co | Refusal]:
        """Give the call with what was received, or why the caller may not pass."""
        raise NotImplementedError

    async def admit(self, context: RequestContext) -> Admitted | Refusal:
        """Return who sends the body that comes, or why it is not read."""
        raise NotImplementedError


class OpenGate(Gate[Call[Any]], frozen=True):
    """Lets anyone pass; the handler opens the transactions that it needs."""

    @property
    def needs(self) -> str:
        """Return that no token is needed."""
        return ""

    @asynccontextmanager
    async def enter(
        self,
        context: RequestContext,
        received: object,
        opening: Opening,  # noqa: ARG002  # a gate's shape
    ) -> AsyncIterator[Call[Any] | Refusal]:
        """Find no one."""
        yield Call(context=context, body=received)


ANYONE: Final = OpenGate()


async def respond(
    gate: Gate[object],
    handler: Callable[..., Awaitable[HandlerResult]],
    context: RequestContext,
    received: object,
    in_path: Mapping[str, object],
    opening: Opening = Opening(),  # noqa: B008  # it is frozen
) -> HandlerResult:
    """Call a handler for one who may pass, with what was received, or return why not.

    The caller comes before the fields: a caller without a right learns nothing of what the
    request would have accepted (0009). Only a body that cannot be read comes before both.
    """
    if is_body_refusal(received) and not gate.admits_first:
        return received
    async with gate.enter(context, received, opening) as call:
        if isinstance(call, Refusal):
            return call
        if isinstance(received, Refusal):
            return received
        return await handler(call, **in_path)


def request_type(handler: HandlerFunction) -> type[Struct]:
    """Return the struct that the handler takes: the parameter of its call."""
    (body,) = get_args(next(iter(handler.__annotations__.values())))
    assert isinstance(body, type)
    assert issubclass(body, Struct)
    return body


def response_types(handler: HandlerFunction) -> Sequence[object]:
    """Return the structs of a success that the handler returns."""
    returned = handler.__annotations__["return"]
    return [one for one in get_args(returned) or [returned] if not issubclass(one, Refusal)]


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
