"""Guards of a page: who is signed in, what they may do; then one use case, then rendering.

Page files call `member_page`, `member_form`, `operator_page` and `operator_form`. Rights come
from the same functions as in the API and are read from the database for each request.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from typing import Final

from litestar import Response
from msgspec.structs import replace

from mudra.console.framework.console_errors import CrossSiteForm, StaleForm
from mudra.console.framework.gates import (
    Gate,
    any_operator,
    any_user,
    own_entity,
    scoped,
    seen_entity,
)
from mudra.console.framework.identity_proof import (
    NO_PROOF,
    Proof,
    ask_again,
    by_second_factor,
    by_typed_password,
    has_proof,
    without_proof,
)
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_language import write_in_own_language
from mudra.console.framework.page_responses import frame, not_signed_in
from mudra.console.framework.page_results import LongAct, Outcome, StreamedPage
from mudra.console.framework.page_zone import write_in_own_zone
from mudra.console.framework.session.cookie import session_cookie
from mudra.console.framework.session.csrf import CSRF_FIELD, is_same_origin, token_matches
from mudra.console.framework.session.sign_in_form import form_without_session, typed
from mudra.console.framework.streamed_page import begin, supports_streaming, whole
from mudra.http.dependencies import HttpDependencies
from mudra.http.request.body.request_body import FORM_LIMITS, BodyLimits, read_form
from mudra.http.request.request_context import AnyRequest, RequestContext, new_context
from mudra.identity.operators.operator import Scope
from mudra.identity.second_factor.ports import EnrolledFactors
from mudra.identity.sessions.session import Stage, authenticate_session
from mudra.shared.fair_queue import Queue
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import PAGE_S, TRANSACTION_S, UnitOfWork

Fields = Mapping[str, str]
"""What a form sent."""


Turn = Callable[
    [RequestContext, Fields | Refusal],
    AbstractAsyncContextManager[Response[str] | Response[bytes] | None],
]
"""What a form waits for without a connection; gives the response where it may not go on."""
PageHandler = Callable[[PageContext], Awaitable[Outcome]]
FormHandler = Callable[[PageContext, Fields], Awaitable[Outcome | LongAct]]
PageCheck = Callable[[PageContext, Fields], Awaitable[Outcome | None]]
_ProofHandler = Callable[
    [PageContext, Fields, Proof, EnrolledFactors], Awaitable[Outcome | LongAct]
]
_FULL: Final = frozenset({Stage.FULL})
_ENROLLING: Final = frozenset({Stage.FULL, Stage.ENROLL})


async def member_page(
    request: AnyRequest,
    dependencies: HttpDependencies,
    entity_id: str,
    handle: PageHandler,
    *,
    readers: bool = False,
) -> Response[str] | Response[bytes]:
    """Show a page of an entity to its admins, and to its `readers` where it is theirs, too."""
    gate = seen_entity(entity_id) if readers else own_entity(entity_id)
    return await _page_response(request, dependencies, gate, handle)


async def member_form(
    request: AnyRequest,
    dependencies: HttpDependencies,
    entity_id: str,
    handle: FormHandler,
    limits: BodyLimits = FORM_LIMITS,
    *,
    needs_proof: bool = False,
    turn: Turn | None = None,
) -> Response[str] | Response[bytes]:
    """Handle a form that an admin of the entity submitted; `needs_proof` for a serious act.

    Once it is read it waits for its `turn`, if it needs one.
    """
    fields = await read_form(request.receive, request.scope["headers"], limits)
    context = new_context(request, dependencies)
    async with AsyncExitStack() as held:
        refused = await held.enter_async_context(turn(context, fields)) if turn else None
        if refused is not None:
            return refused
        if needs_proof:
            return await _handle_proven_form(context, fields, own_entity(entity_id), handle)
        return await _handle_form(context, fields, own_entity(entity_id), handle)


async def member_form_with_proof(
    request: AnyRequest,
    dependencies: HttpDependencies,
    entity_id: str,
    handle: FormHandler,
    turns: Queue | None = None,
) -> Response[str] | Response[bytes]:
    """Handle a form that shows a secret: its `password` or `code` proves who submits it.

    `handle` must check `page_context.is_proven`: its page has a field for the proof. With `turns`,
    changes of the same entity wait for each other before they take a connection.
    """
    context = new_context(request, dependencies)
    fields = await read_form(request.receive, request.scope["headers"], FORM_LIMITS)
    gate = own_entity(entity_id)
    proof = await _prove(context, fields, gate, _FULL)

    async def with_proof(page_context: PageContext, sent: Fields) -> Outcome | LongAct:
        return await handle(replace(page_context, proof_refused=proof.refusal), sent)

    async with turns.turn(entity_id) if turns is not None else nullcontext():
        return await _handle_form(context, fields, gate, with_proof)


async def operator_page(
    request: AnyRequest,
    dependencies: HttpDependencies,
    scope: Scope,
    handle: PageHandler,
    *,
    reads: bool = False,
) -> Response[str] | Response[bytes]:
    """Show a page to operators who have the scope; one that `reads` alone may use a replica."""
    return await _page_response(request, dependencies, scoped(scope), handle, reads=reads)


async def operator_form(
    request: AnyRequest,
    dependencies: HttpDependencies,
    scope: Scope,
    handle: FormHandler,
    limits: BodyLimits = FORM_LIMITS,
    *,
    within_s: float = TRANSACTION_S,
    needs_proof: bool = False,
) -> Response[str] | Response[bytes]:
    """Handle a form that an operator with the scope submitted; `needs_proof` for a serious act."""
    fields = await read_form(request.receive, request.scope["headers"], limits)
    context = new_context(request, dependencies)
    if needs_proof:
        return await _handle_proven_form(context, fields, scoped(scope), handle, within_s)
    return await _handle_form(context, fields, scoped(scope), handle, within_s)


async def any_operator_page(
    request: AnyRequest, dependencies: HttpDependencies, handle: PageHandler
) -> Response[str] | Response[bytes]:
    """Show a page to every operator; its content depends on their scopes."""
    return await _page_response(request, dependencies, any_operator, handle)


async def own_page(
    request: AnyRequest,
    dependencies: HttpDependencies,
    handle: PageHandler,
    *,
    enrolling: bool = False,
) -> Response[str] | Response[bytes]:
    """Show a user a page about themselves; `enrolling` ones before a second factor is set up."""
    stages = _ENROLLING if enrolling else _FULL
    return await _page_response(request, dependencies, any_user, handle, stages)


async def own_form(
    request: AnyRequest,
    dependencies: HttpDependencies,
    handle: FormHandler,
    *,
    enrolling: bool = False,
) -> Response[str] | Response[bytes]:
    """Handle a form that a user submitted about themselves; `enrolling` as for `own_page`."""
    fields = await read_form(request.receive, request.scope["headers"], FORM_LIMITS)
    context = new_context(request, dependencies)
    stages = _ENROLLING if enrolling else _FULL
    return await _handle_form(context, fields, any_user, handle, stages=stages)


async def own_form_with_proof(
    request: AnyRequest,
    dependencies: HttpDependencies,
    handle: FormHandler,
    *,
    check: PageCheck | None = None,
    enrolling: bool = False,
) -> Response[str] | Response[bytes]:
    """Handle a form about the user's own second factor; without a proof, ask for one.

    Who has a second factor sends a code with the very form, however lately one was typed: a stolen
    session does not change it. `check` as in `_handle_checked_form`.
    """

    async def act(
        page_context: PageContext, sent: Fields, proof: Proof, enrolled: EnrolledFactors
    ) -> Outcome | LongAct:
        proven = replace(page_context, proof_refused=proof.refusal)
        if not (proof.is_accepted or (proven.is_proven and not enrolled.any)):
            return ask_again(proven, sent, enrolled)
        return await handle(proven, without_proof(sent))

    stages = _ENROLLING if enrolling else _FULL
    return await _handle_checked_form(request, dependencies, check, act, stages)


async def own_form_with_proof_field(
    request: AnyRequest, dependencies: HttpDependencies, check: PageCheck, handle: FormHandler
) -> Response[str] | Response[bytes]:
    """Handle a form of a user's own page that has a field for the proof.

    `check` as in `_handle_checked_form`. `handle` must check `page_context.proof_given`: what was
    typed before does not count.
    """

    async def act(
        page_context: PageContext, sent: Fields, proof: Proof, _: EnrolledFactors
    ) -> Outcome | LongAct:
        shown = replace(page_context, proof_refused=proof.refusal, proof_given=proof.is_accepted)
        return await handle(shown, without_proof(sent))

    return await _handle_checked_form(request, dependencies, check, act, _FULL)


async def _handle_checked_form(
    request: AnyRequest,
    dependencies: HttpDependencies,
    check: PageCheck | None,
    act: _ProofHandler,
    stages: frozenset[Stage],
) -> Response[str] | Response[bytes]:
    """Handle a user's own form that a code of a second factor comes with.

    `check` comes before the code, which is used up in the transaction of the act: neither a form
    that is refused nor an act that fails costs a code (0075).
    """
    fields = await read_form(request.receive, request.scope["headers"], FORM_LIMITS)
    context = new_context(request, dependencies)
    password = await _prove(context, fields, any_user, stages, codes=False)

    async def with_proof(page_context: PageContext, sent: Fields) -> Outcome | LongAct:
        refused = await check(page_context, sent) if check else None
        if refused is not None:
            return refused
        enrolled = await page_context.work.second_factors.enrolled(page_context.user.user_id)
        proof = await by_second_factor(page_context, sent) if enrolled.any else password
        return await act(page_context, sent, proof, enrolled)

    return await _handle_form(context, fields, any_user, with_proof, stages=stages)


async def _page_response(
    request: AnyRequest,
    dependencies: HttpDependencies,
    gate: Gate,
    handle: PageHandler,
    stages: frozenset[Stage] = _FULL,
    *,
    reads: bool = False,
) -> Response[str] | Response[bytes]:
    context = new_context(request, dependencies)
    on_replica = reads and dependencies.has_replica
    async with dependencies.unit_of_work(within_s=PAGE_S) as work:
        page_context = await signed_in(context, work, stages)
        if page_context is None:
            return not_signed_in(context)
        passed = await gate(page_context)
        if not isinstance(passed, PageContext):
            return frame(page_context, passed)
        outcome = None if on_replica else await _outcome(passed, handle)
    if outcome is None:
        passed = replace(passed, on_replica=True)
        async with dependencies.reads(within_s=PAGE_S) as work:
            outcome = await _outcome(replace(passed, work=work), handle)
    return begin(passed, outcome) if isinstance(outcome, StreamedPage) else frame(passed, outcome)


async def _outcome(page_context: PageContext, handle: PageHandler) -> Outcome:
    outcome = await handle(page_context)
    if isinstance(outcome, StreamedPage) and not supports_streaming(page_context):
        return await whole(page_context, outcome)
    return outcome


async def _handle_form(
    context: RequestContext,
    fields: Mapping[str, str] | Refusal,
    gate: Gate,
    handle: FormHandler,
    within_s: float = TRANSACTION_S,
    *,
    stages: frozenset[Stage] = _FULL,
) -> Response[str] | Response[bytes]:
    async with context.dependencies.unit_of_work(within_s=within_s) as work:
        page_context = await signed_in(context, work, stages)
        if page_context is None:
            return form_without_session(context, fields)
        passed = _form_refused(page_context, fields) or await gate(page_context)
        outcome: Outcome | LongAct
        if isinstance(passed, Refusal):
            outcome = passed
        elif isinstance(fields, Refusal):
            outcome = fields
        else:
            page_context, outcome = passed, await handle(passed, fields)
    if isinstance(outcome, LongAct):
        outcome = await outcome.run()
    kept = () if isinstance(outcome, CrossSiteForm) else typed(fields)
    return frame(page_context, outcome, kept)


async def _handle_proven_form(
    context: RequestContext,
    fields: Mapping[str, str] | Refusal,
    gate: Gate,
    handle: FormHandler,
    within_s: float = TRANSACTION_S,
) -> Response[str] | Response[bytes]:
    """Handle a form of one who typed password or code lately; ask any other for it."""
    proof = await _prove(context, fields, gate, _FULL)

    async def with_proof(page_context: PageContext, sent: Fields) -> Outcome | LongAct:
        proven = replace(page_context, proof_refused=proof.refusal)
        enrolled = await page_context.work.second_factors.enrolled(page_context.user.user_id)
        if not (proof.is_accepted or proven.is_proven):
            return ask_again(proven, sent, enrolled)
        return await handle(proven, without_proof(sent))

    return await _handle_form(context, fields, gate, with_proof, within_s)


async def _prove(
    context: RequestContext,
    fields: Mapping[str, str] | Refusal,
    gate: Gate,
    stages: frozenset[Stage],
    *,
    codes: bool = True,
) -> Proof:
    """Check the password or code that came with a form of one who may submit it.

    Without `codes` passwords alone: what a second factor shows is left to the act's transaction.
    """
    if isinstance(fields, Refusal) or not has_proof(fields):
        return NO_PROOF
    if fields.get("passkey"):
        await context.dependencies.passkeys.load()
    async with context.dependencies.unit_of_work() as work:
        page_context = await signed_in(context, work, stages)
        if page_context is None or _form_refused(page_context, fields) is not None:
            return NO_PROOF  # shown by what comes after
        if not isinstance(await gate(page_context), PageContext):
            return NO_PROOF
        if (await work.second_factors.enrolled(page_context.user.user_id)).any:
            return await by_second_factor(page_context, fields) if codes else NO_PROOF
    return await by_typed_password(page_context, fields)


async def signed_in(
    context: RequestContext, work: UnitOfWork, stages: frozenset[Stage] = _FULL
) -> PageContext | None:
    """Find who is signed in; None when no one is, no longer, or not yet with a second factor."""
    found = await authenticate_session(
        session_cookie(context.request, context.dependencies.settings),
        sessions=work.sessions,
        people=work.people,
        memberships=work.memberships,
        stages=stages,
    )
    if found is None:
        return None
    visit = PageContext(context, work, found.user, found.scopes, found.session, found.now)
    write_in_own_language(visit)
    write_in_own_zone(visit)
    return visit


def _form_refused(page_context: PageContext, fields: Mapping[str, str] | Refusal) -> Refusal | None:
    if is_same_origin(page_context.context.request, page_context.dependencies.settings) is False:
        return CrossSiteForm()
    if not isinstance(fields, Mapping):
        return fields
    return None if token_matches(page_context.session, fields.get(CSRF_FIELD, "")) else StaleForm()
