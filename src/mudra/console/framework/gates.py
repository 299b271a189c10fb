"""Who may see a page: each gate returns the page's context, or the refusal."""

from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from mudra.console.framework.page_context import PageContext
from mudra.identity.memberships.member import MemberStatus, NotYourEntity
from mudra.identity.memberships.member_search import MemberFilter
from mudra.identity.operators.operator import NO_OPERATOR, Scope, ScopeMissing
from mudra.overview.suspension import suspension_of
from mudra.shared.refusal import Refusal

Gate = Callable[[PageContext], Awaitable[PageContext | Refusal]]


def own_entity(entity_id: str) -> Gate:
    """Let admins of the entity pass."""

    async def gate(page_context: PageContext) -> PageContext | Refusal:
        if entity_id not in page_context.user.administers:
            return NotYourEntity()
        return await _of_entity(page_context, entity_id)

    return gate


def seen_entity(entity_id: str) -> Gate:
    """Let admins and readers of the entity pass."""

    async def gate(page_context: PageContext) -> PageContext | Refusal:
        if not page_context.user.sees(entity_id):
            return NotYourEntity()
        return await _of_entity(page_context, entity_id)

    return gate


async def _of_entity(page_context: PageContext, entity_id: str) -> PageContext:
    work = page_context.work
    (found,) = await work.member_search.members(MemberFilter(entity_id=entity_id), "", 1)
    ended = await suspension_of(work, entity_id, MemberStatus(found.status))
    return replace(page_context, entity=found, suspension=ended)


def scoped(scope: Scope) -> Gate:
    """Let operators with the scope pass."""

    async def gate(page_context: PageContext) -> PageContext | Refusal:
        return page_context if scope in page_context.scopes else ScopeMissing(scope)

    return gate


async def any_operator(page_context: PageContext) -> PageContext | Refusal:
    """Let every operator pass."""
    return page_context if page_context.scopes else NO_OPERATOR


async def any_user(page_context: PageContext) -> PageContext | Refusal:
    """Let everyone pass who is signed in."""
    return page_context
