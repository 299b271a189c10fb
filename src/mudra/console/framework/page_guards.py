"""One visit of a page: who is signed in, may they, one use case, render.

`member_page`, `member_act`, `operator_page` and `operator_act` are what page
files call. Rights come from the same functions as in the API and are read from
the database at each visit.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext

from litestar import Response
from msgspec.structs import replace

from mudra.bootstrap.unit_of_work import Work
from mudra.console.framework.console_errors import ForeignForm, StaleForm
from mudra.console.framework.cookie import session_cookie
from mudra.console.framework.csrf import FORM_WORD, comes_from_us, word_matches
from mudra.console.framework.navigation import CONSOLE
from mudra.console.framework.page_context import Visit
from mudra.console.framework.page_responses import frame, nobody_signed_in
from mudra.console.framework.page_results import Begun, GoTo, Outcome
from mudra.console.framework.sign_in_form import form_without_session, typed
from mudra.console.framework.streamed_page import begin, begins_early, whole
from mudra.http.auth.operator_access import NoOperator, Operator, as_operator
from mudra.http.auth.with_password import with_password
from mudra.http.dependencies import Service
from mudra.http.request.request_body import FORM_LIMITS, BodyLimits, read_form
from mudra.http.request.request_context import AnyRequest, Exchange, new_exchange
from mudra.http.server.concurrency import Turns
from mudra.identity.accounts.user import User, UserState
from mudra.identity.memberships.memberships import Scope
from mudra.identity.sessions.session import session_key
from mudra.shared.secret_text import SecretText
from mudra.storage.identity.member_search import MemberFilter
from mudra.tokens.secrets.manage_secret import NotYourEntity

Fields = Mapping[str, str]
"""What a form sent."""


Look = Callable[[Visit], Awaitable[Outcome]]
Do = Callable[[Visit, Fields], Awaitable[Outcome]]
_Gate = Callable[[Visit], Awaitable[Visit | object]]


async def member_page(
    request: AnyRequest, service: Service, entity_id: str, look: Look
) -> Response[str] | Response[bytes]:
    """Show a page of an entity to its admins."""
    return await _visited(request, service, _own(entity_id), look)


async def member_act(
    request: AnyRequest,
    service: Service,
    entity_id: str,
    do: Do,
    limits: BodyLimits = FORM_LIMITS,
) -> Response[str] | Response[bytes]:
    """Take a form of an entity's page from one of its admins."""
    return await _done(request, service, _own(entity_id), do, limits)


async def member_proven_act(
    request: AnyRequest, service: Service, entity_id: str, do: Do, turns: Turns | None = None
) -> Response[str] | Response[bytes]:
    """Do the same for what shows a secret: a `password` in the form proves who it is.

    `do` must ask `visit.may_show_secrets`. With `turns`, those
    who change the same entity wait for each other before they take a connection.
    """
    exchange = new_exchange(request, service)
    fields = await read_form(request.receive, request.scope["headers"], FORM_LIMITS)
    gate = _own(entity_id)
    refused: object | None = None
    if isinstance(fields, Mapping) and fields.get("password"):
        refused = await _prove(exchange, fields, gate)

    async def with_proof(visit: Visit, sent: Fields) -> Outcome:
        return await do(replace(visit, proof_refused=refused), sent)

    async with turns.of(entity_id) if turns else nullcontext():
        return await _taken(exchange, fields, gate, with_proof)


async def operator_page(
    request: AnyRequest, service: Service, scope: Scope, look: Look
) -> Response[str] | Response[bytes]:
    """Show a page to operators who have the scope."""
    return await _visited(request, service, _scoped(scope), look)


async def operator_act(
    request: AnyRequest,
    service: Service,
    scope: Scope,
    do: Do,
    limits: BodyLimits = FORM_LIMITS,
) -> Response[str] | Response[bytes]:
    """Take a form from an operator who has the scope."""
    return await _done(request, service, _scoped(scope), do, limits)


async def operator_errand(
    request: AnyRequest, service: Service, scope: Scope, do: Do
) -> Response[str] | Response[bytes]:
    """Take a form from an operator, for a use case that opens its own transactions.

    `do` runs when the visit's transaction has ended: it must not touch `visit.work`.
    """
    passed: list[tuple[Visit, Fields]] = []

    async def remember(visit: Visit, fields: Fields) -> Outcome:
        passed.append((visit, fields))
        return GoTo(CONSOLE)

    refused = await _done(request, service, _scoped(scope), remember, FORM_LIMITS)
    if not passed:
        return refused
    visit, fields = passed[0]
    return frame(visit, await do(visit, fields), typed(fields))


async def any_operator_page(
    request: AnyRequest, service: Service, look: Look
) -> Response[str] | Response[bytes]:
    """Show a page to operators of whatever scope; what it shows depends on their scopes."""
    return await _visited(request, service, _any_operator, look)


async def own_page(
    request: AnyRequest, service: Service, look: Look
) -> Response[str] | Response[bytes]:
    """Show a page to anybody who is signed in, about themselves."""
    return await _visited(request, service, _anybody, look)


async def own_act(request: AnyRequest, service: Service, do: Do) -> Response[str] | Response[bytes]:
    """Take a form from anybody who is signed in, about themselves."""
    return await _done(request, service, _anybody, do, FORM_LIMITS)


async def _visited(
    request: AnyRequest, service: Service, gate: _Gate, look: Look
) -> Response[str] | Response[bytes]:
    exchange = new_exchange(request, service)
    async with service.open_work() as work:
        visit = await _signed_in(exchange, work)
        if visit is None:
            return nobody_signed_in(exchange)
        passed = await gate(visit)
        if not isinstance(passed, Visit):
            return frame(visit, passed)
        outcome = await look(passed)
        if isinstance(outcome, Begun) and not begins_early(passed):
            outcome = await whole(passed, outcome)
    return begin(passed, outcome) if isinstance(outcome, Begun) else frame(passed, outcome)


async def _done(
    request: AnyRequest, service: Service, gate: _Gate, do: Do, limits: BodyLimits
) -> Response[str] | Response[bytes]:
    fields = await read_form(request.receive, request.scope["headers"], limits)
    return await _taken(new_exchange(request, service), fields, gate, do)


async def _taken(
    exchange: Exchange, fields: object, gate: _Gate, do: Do
) -> Response[str] | Response[bytes]:
    async with exchange.service.open_work() as work:
        visit = await _signed_in(exchange, work)
        if visit is None:
            return form_without_session(exchange, fields)
        passed: object = _form_refused(visit, fields)
        if passed is None:
            passed = await gate(visit)
        outcome = passed
        if isinstance(passed, Visit) and isinstance(fields, Mapping):
            outcome = await do(passed, fields)
    kept = () if isinstance(outcome, ForeignForm) else typed(fields)
    return frame(passed if isinstance(passed, Visit) else visit, outcome, kept)


async def _prove(exchange: Exchange, fields: Fields, gate: _Gate) -> object | None:
    """Check the typed password by the rules of signing in; gives its refusal."""
    async with exchange.service.open_work() as work:
        visit = await _signed_in(exchange, work)
        if visit is None or _form_refused(visit, fields) is not None:
            return None  # told by what comes after
        if not isinstance(await gate(visit), Visit):
            return None
    session = visit.session

    async def enter(work: Work, _: User) -> None:
        await work.sessions.proven(session, await work.people.now())

    typed = SecretText(fields["password"])
    return await with_password(exchange, visit.user.email, typed, enter)


async def _signed_in(exchange: Exchange, work: Work) -> Visit | None:
    """Find who is signed in; None when nobody is, or no longer."""
    service = exchange.service
    cookie = session_cookie(exchange.request, service.settings)
    session = await work.sessions.find(session_key(cookie)) if cookie else None
    now = await work.people.now()
    if session is None or not session.is_open(now):
        return None
    user = await work.people.by_id(session.user_id)
    if user is None or user.state is not UserState.ACTIVE:
        return None
    await work.sessions.used(session, now)
    return Visit(exchange, work, user, await work.roster.scopes(user.user_id), session, now)


def _form_refused(visit: Visit, fields: object) -> object | None:
    if comes_from_us(visit.exchange.request, visit.service.settings) is False:
        return ForeignForm()
    if not isinstance(fields, Mapping):
        return fields
    return None if word_matches(visit.session, fields.get(FORM_WORD, "")) else StaleForm()


def _own(entity_id: str) -> _Gate:
    async def gate(visit: Visit) -> Visit | object:
        if entity_id not in visit.user.administers:
            return NotYourEntity()
        found = await visit.work.directory.members(MemberFilter(entity_id=entity_id), "", 1)
        return replace(visit, entity=found[0])

    return gate


def _scoped(scope: Scope) -> _Gate:
    async def gate(visit: Visit) -> Visit | object:
        found = await as_operator(visit.user, visit.work, scope)
        return visit if isinstance(found, Operator) else found

    return gate


async def _any_operator(visit: Visit) -> Visit | object:
    return visit if visit.scopes else NoOperator()


async def _anybody(visit: Visit) -> Visit | object:
    return visit
