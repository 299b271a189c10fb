"""One request of a member about itself: authenticate, one use case in one transaction."""

from collections.abc import Callable, Mapping

from mudra.audit.event import Caller
from mudra.http.auth.bearer import calling_entity
from mudra.http.endpoint import B, Call, Endpoint, Handler, P, called
from mudra.http.request.body.body_errors import is_body_refusal
from mudra.http.request.request_context import RequestContext
from mudra.http.response.json_response import HandlerResult
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal
from mudra.tokens.authentication.bearer import EntityCaller
from mudra.unit_of_work import TRANSACTION_S, UnitOfWork


class EntityCall(Call[B], frozen=True, kw_only=True):
    """A request of an entity in an open unit of work."""

    work: UnitOfWork
    entity: EntityCaller

    @property
    def caller(self) -> Caller:
        """The entity, for the audit log."""
        return self.context.caller(f"entity:{self.entity.entity_id}")


def as_entity(
    *of_types: EntityType, within_s: float = TRANSACTION_S
) -> Callable[[Handler[EntityCall[B], P]], Endpoint]:
    """Let entities of these types call a handler, of any type where none is named."""

    def endpoint(handler: Handler[EntityCall[B], P]) -> Endpoint:
        async def respond(
            context: RequestContext, received: object, path: Mapping[str, object]
        ) -> HandlerResult:
            if is_body_refusal(received):
                return received
            entity = await calling_entity(context.request, context.dependencies, *of_types)
            if isinstance(entity, Refusal):
                return entity
            if isinstance(received, Refusal):
                return received
            async with context.dependencies.unit_of_work(within_s=within_s) as work:
                call = EntityCall(context=context, body=received, work=work, entity=entity)
                return await called(handler, call, path)

        return Endpoint(handler=handler, respond=respond, bearer=True)

    return endpoint
