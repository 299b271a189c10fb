"""The turn of a person whose registration is checked: as the API gives it (0074).

Who is signed in is found first, in a transaction of its own. So no one waits with a connection, and
only who is signed in has the check readied.
"""

import contextlib
from collections.abc import AsyncIterator

from mudra.console.framework.page import Fields, signed_in
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_responses import PageResponse, frame
from mudra.console.framework.session.sign_in_form import typed
from mudra.http.request.request_context import RequestContext
from mudra.registry.payload.refusals import PayloadNotChecked, too_many_checks
from mudra.shared.refusal import Refusal


@contextlib.asynccontextmanager
async def registry_turn(
    context: RequestContext, fields: Fields | Refusal
) -> AsyncIterator[PageResponse | None]:
    """Keep the one turn that a person has, here and in the API, and ready the check.

    Gives the response where a person sends too much, or no turn came in time.
    """
    visitor = await _visitor(context)
    if visitor is None:
        yield None  # the form is refused by its gate
        return
    dependencies, user_id = context.dependencies, visitor.user.user_id
    wait_s = dependencies.check_rate.wait_s(user_id)
    if wait_s:
        yield frame(visitor, too_many_checks(wait_s), typed(fields))
        return
    async with dependencies.registry_turns.turn(user_id) as admitted:
        if not admitted:
            yield frame(visitor, PayloadNotChecked(), typed(fields))
            return
        await dependencies.prepare_check(user_id)
        yield None


@contextlib.asynccontextmanager
async def ready_check(context: RequestContext, _: object) -> AsyncIterator[None]:
    """Ready the check for a page that is asked for, which has a turn as all pages do."""
    visitor = await _visitor(context)
    if visitor is not None:
        await context.dependencies.prepare_check(visitor.user.user_id)
    yield


async def _visitor(context: RequestContext) -> PageContext | None:
    async with context.dependencies.transaction() as tx:
        return await signed_in(context, tx)
