"""One visit of a page: who is signed in, may they, one use case, render.

`member_page`, `member_act`, `operator_page` and `operator_act` are what page
files call. Rights come from the same functions as in the API and are read from
the database at each visit.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext

from litestar import Response
from msgspec.structs import replace

from mudra.console.framework.console_errors import ForeignForm, StaleForm
from mudra.console.framework.cookie import session_cookie
from mudra.console.framework.csrf import CSRF_FIELD, is_same_origin, token_matches
from mudra.console.framework.navigation import CONSOLE
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_responses import frame, not_signed_in
from mudra.console.framework.page_results import GoTo, Outcome, StreamedPage
from mudra.console.framework.sign_in_form import form_without_session, typed
from mudra.console.framework.streamed_page import begin, supports_streaming, whole
from mudra.http.auth.with_password import with_password
from mudra.http.dependencies import HttpDependencies
from mudra.http.request.request_body import FORM_LIMITS, BodyLimits, read_form
from mudra.http.request.request_context import AnyRequest, RequestContext, new_context
from mudra.http.server.concurrency import KeyedLock
from mudra.identity.accounts.user import User
from mudra.identity.memberships.member import NotYourEntity
from mudra.identity.memberships.member_search import MemberFilter
from mudra.identity.operators.manage_operators import operator_with_scope
from mudra.identity.operators.operator import NoOperator, Operator, Scope
from mudra.identity.sessions.session import authenticate_session
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText
from mudra.unit_of_work import TRANSACTION_S, UnitOfWork

Fields = Mapping[str, str]
"""What a form sent."""


PageHandler = Callable[[PageContext], Awaitable[Outcome]]
FormHandler = Callable[[PageContext, Fields], Awaitable[Outcome]]
_Gate = Callable[[PageContext], Awaitable[PageContext | Refusal]]


async def member_page(
    request: AnyRequest, service: HttpDependencies, entity_id: str, look: PageHandler
) -> Response[str] | Response[bytes]:
    """Show a page of an entity to its admins."""
    return await _visited(request, service, _own(entity_id), look)


async def member_act(
    request: AnyRequest,
    service: HttpDependencies,
    entity_id: str,
    do: FormHandler,
    limits: BodyLimits = FORM_LIMITS,
) -> Response[str] | Response[bytes]:
    """Take a form of an entity's page from one of its admins."""
    return await _done(request, service, _own(entity_id), do, limits)


async def member_proven_act(
    request: AnyRequest,
    service: HttpDependencies,
    entity_id: str,
    do: FormHandler,
    turns: KeyedLock | None = None,
) -> Response[str] | Response[bytes]:
    """Do the same for what shows a secret: a `password` in the form proves who it is.

    `do` must ask `visit.may_show_secrets`. With `turns`, those
    who change the same entity wait for each other before they take a connection.
    """
    context = new_context(request, service)
    fields = await read_form(request.receive, request.scope["headers"], FORM_LIMITS)
    gate = _own(entity_id)
    refused: Refusal | None = None
    if isinstance(fields, Mapping) and fields.get("password"):
        refused = await _prove(context, fields, gate)

    async def with_proof(page_context: PageContext, sent: Fields) -> Outcome:
        return await do(replace(page_context, proof_refused=refused), sent)

    async with turns.of(entity_id) if turns else nullcontext():
        return await _taken(context, fields, gate, with_proof)


async def operator_page(
    request: AnyRequest, service: HttpDependencies, scope: Scope, look: PageHandler
) -> Response[str] | Response[bytes]:
    """Show a page to operators who have the scope."""
    return await _visited(request, service, _scoped(scope), look)


async def operator_act(
    request: AnyRequest,
    service: HttpDependencies,
    scope: Scope,
    do: FormHandler,
    limits: BodyLimits = FORM_LIMITS,
    *,
    within_s: float = TRANSACTION_S,
) -> Response[str] | Response[bytes]:
    """Take a form from an operator who has the scope."""
    fields = await read_form(request.receive, request.scope["headers"], limits)
    return await _taken(new_context(request, service), fields, _scoped(scope), do, within_s)


async def operator_export(
    request: AnyRequest, service: HttpDependencies, scope: Scope, do: FormHandler
) -> Response[str] | Response[bytes]:
    """Take a form from an operator, for a use case that opens its own transactions.

    `do` runs when the visit's transaction has ended: it must not touch `visit.work`.
    """
    passed: list[tuple[PageContext, Fields]] = []

    async def remember(page_context: PageContext, fields: Fields) -> Outcome:
        passed.append((page_context, fields))
        return GoTo(CONSOLE)

    refused = await _done(request, service, _scoped(scope), remember, FORM_LIMITS)
    if not passed:
        return refused
    page_context, fields = passed[0]
    return frame(page_context, await do(page_context, fields), typed(fields))


async def any_operator_page(
    request: AnyRequest, service: HttpDependencies, look: PageHandler
) -> Response[str] | Response[bytes]:
    """Show a page to operators of whatever scope; what it shows depends on their scopes."""
    return await _visited(request, service, _any_operator, look)


async def own_page(
    request: AnyRequest, service: HttpDependencies, look: PageHandler
) -> Response[str] | Response[bytes]:
    """Show a page to anybody who is signed in, about themselves."""
    return await _visited(request, service, _anybody, look)


async def own_act(
    request: AnyRequest, service: HttpDependencies, do: FormHandler
) -> Response[str] | Response[bytes]:
    """Take a form from anybody who is signed in, about themselves."""
    return await _done(request, service, _anybody, do, FORM_LIMITS)


async def _visited(
    request: AnyRequest, service: HttpDependencies, gate: _Gate, look: PageHandler
) -> Response[str] | Response[bytes]:
    context = new_context(request, service)
    async with service.unit_of_work() as work:
        page_context = await _signed_in(context, work)
        if page_context is None:
            return not_signed_in(context)
        passed = await gate(page_context)
        if not isinstance(passed, PageContext):
            return frame(page_context, passed)
        outcome = await look(passed)
        if isinstance(outcome, StreamedPage) and not supports_streaming(passed):
            outcome = await whole(passed, outcome)
    return begin(passed, outcome) if isinstance(outcome, StreamedPage) else frame(passed, outcome)


async def _done(
    request: AnyRequest, service: HttpDependencies, gate: _Gate, do: FormHandler, limits: BodyLimits
) -> Response[str] | Response[bytes]:
    fields = await read_form(request.receive, request.scope["headers"], limits)
    return await _taken(new_context(request, service), fields, gate, do)


async def _taken(
    context: RequestContext,
    fields: Mapping[str, str] | Refusal,
    gate: _Gate,
    do: FormHandler,
    within_s: float = TRANSACTION_S,
) -> Response[str] | Response[bytes]:
    async with context.service.unit_of_work(within_s=within_s) as work:
        page_context = await _signed_in(context, work)
        if page_context is None:
            return form_without_session(context, fields)
        passed = _form_refused(page_context, fields) or await gate(page_context)
        outcome: Outcome
        if isinstance(passed, Refusal):
            outcome = passed
        elif isinstance(fields, Refusal):
            outcome = fields
        else:
            page_context, outcome = passed, await do(passed, fields)
    kept = () if isinstance(outcome, ForeignForm) else typed(fields)
    return frame(page_context, outcome, kept)


async def _prove(context: RequestContext, fields: Fields, gate: _Gate) -> Refusal | None:
    """Check the typed password by the rules of signing in; gives its refusal."""
    async with context.service.unit_of_work() as work:
        page_context = await _signed_in(context, work)
        if page_context is None or _form_refused(page_context, fields) is not None:
            return None  # shown by what comes after
        if not isinstance(await gate(page_context), PageContext):
            return None
    session = page_context.session

    async def enter(work: UnitOfWork, _: User) -> None:
        await work.sessions.proven(session, await work.people.now())

    typed = SecretText(fields["password"])
    return await with_password(context, page_context.user.email, typed, enter)


async def _signed_in(context: RequestContext, work: UnitOfWork) -> PageContext | None:
    """Find who is signed in; None when no one is, or no longer."""
    found = await authenticate_session(
        session_cookie(context.request, context.service.settings),
        sessions=work.sessions,
        people=work.people,
        memberships=work.memberships,
    )
    if found is None:
        return None
    return PageContext(context, work, found.user, found.scopes, found.session, found.now)


def _form_refused(page_context: PageContext, fields: Mapping[str, str] | Refusal) -> Refusal | None:
    if is_same_origin(page_context.context.request, page_context.service.settings) is False:
        return ForeignForm()
    if not isinstance(fields, Mapping):
        return fields
    return None if token_matches(page_context.session, fields.get(CSRF_FIELD, "")) else StaleForm()


def _own(entity_id: str) -> _Gate:
    async def gate(page_context: PageContext) -> PageContext | Refusal:
        if entity_id not in page_context.user.administers:
            return NotYourEntity()
        found = await page_context.work.member_search.members(
            MemberFilter(entity_id=entity_id), "", 1
        )
        return replace(page_context, entity=found[0])

    return gate


def _scoped(scope: Scope) -> _Gate:
    async def gate(page_context: PageContext) -> PageContext | Refusal:
        found = await operator_with_scope(page_context.work, page_context.user, scope)
        return page_context if isinstance(found, Operator) else found

    return gate


async def _any_operator(page_context: PageContext) -> PageContext | Refusal:
    return page_context if page_context.scopes else NoOperator()


async def _anybody(page_context: PageContext) -> PageContext | Refusal:
    return page_context
