"""Mount the pages and forms of the console: who may pass, what is asked of them, their handler.

Page files have one function for each address, under `@page.get` or `@page.post`. Rights are
decided by the gates of the API and are read from the database for each request.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Concatenate, Final, ParamSpec

import litestar
import structlog
from litestar.handlers import HTTPRouteHandler
from msgspec import Struct
from msgspec.structs import replace

from mudra.console.framework.console_errors import CrossSiteForm, StaleForm
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_language import write_in_own_language
from mudra.console.framework.page_responses import PageResponse, frame, not_signed_in
from mudra.console.framework.page_results import LongAct, Outcome, StreamedPage
from mudra.console.framework.page_zone import write_in_own_zone
from mudra.console.framework.session.cookie import session_cookie
from mudra.console.framework.session.csrf import CSRF_FIELD, is_same_origin, token_matches
from mudra.console.framework.session.identity_proof import (
    NO_PROOF,
    AskedProof,
    Proof,
    ask_again,
    by_second_factor,
    by_typed_password,
    has_proof,
    without_proof,
)
from mudra.console.framework.session.sign_in_form import form_without_session, typed
from mudra.console.framework.streamed_page import begin, supports_streaming, whole
from mudra.http.auth.gates import MemberGate, PersonGate, entity_in_path
from mudra.http.dependencies import InjectedDependencies
from mudra.http.endpoint import take_signature
from mudra.http.request.body.request_body import FORM_LIMITS, read_form
from mudra.http.request.request_context import AnyRequest, RequestContext, new_context
from mudra.http.response.http_refusals import UNEXPECTED
from mudra.identity.memberships.member import MemberStatus
from mudra.identity.memberships.member_search import MemberFilter
from mudra.identity.memberships.member_search_store import MemberSearch
from mudra.identity.second_factor.second_factor_store import SecondFactors
from mudra.identity.sessions.console_sessions import authenticate_session
from mudra.identity.sessions.session import Stage
from mudra.overview.suspension import suspension_of
from mudra.server_protocol.body_reader import BodyLimits
from mudra.shared.refusal import Refusal
from mudra.shared.unavailable import ServiceUnavailable
from mudra.storage.database.deadline import PAGE_S, TRANSACTION_S
from mudra.storage.database.transaction import Transaction

P = ParamSpec("P")
_log = structlog.get_logger()
Fields = Mapping[str, str]
"""The fields that a form sent."""


Turn = Callable[
    [RequestContext, Fields | Refusal], AbstractAsyncContextManager[PageResponse | None]
]
"""What a visit waits for without a connection; gives the response where it may not go on."""
PageHandler = Callable[Concatenate[PageContext, P], Awaitable[Outcome | LongAct]]
FormHandler = Callable[Concatenate[PageContext, Fields, P], Awaitable[Outcome | LongAct]]
_FULL: Final = frozenset({Stage.FULL})
_ENROLLING: Final = frozenset({Stage.FULL, Stage.ENROLL})


def _no_turn(*_: object) -> AbstractAsyncContextManager[None]:
    return nullcontext()


class _Form(Struct, frozen=True, kw_only=True):
    """A form with all that is asked of who sends it; see `post`."""

    handler: Callable[..., Awaitable[Outcome | LongAct]]
    gate: PersonGate[object]
    stages: frozenset[Stage]
    limits: BodyLimits
    within_s: float
    proof: AskedProof | None
    turn: Turn


def get(
    path: str,
    *,
    gate: PersonGate[object],
    enrolling: bool = False,
    reads: bool = False,
    turn: Turn = _no_turn,
) -> Callable[[PageHandler[P]], HTTPRouteHandler]:
    """Mount a page for those whom the gate lets pass.

    `enrolling` people see it before their second factor is set up. One that `reads` alone may use
    a replica; the right is checked on the primary.
    """
    stages = _ENROLLING if enrolling else _FULL

    def mount(handler: PageHandler[P]) -> HTTPRouteHandler:
        show: Callable[..., Awaitable[Outcome | LongAct]] = handler

        async def handle(
            request: AnyRequest, dependencies: InjectedDependencies, **in_path: object
        ) -> PageResponse:
            context = new_context(request, dependencies)
            async with turn(context, {}) as refused:
                return refused or await _page_response(
                    context, gate, stages, lambda visit: show(visit, **in_path), reads=reads
                )

        take_signature(handle, handler, given=1)
        return litestar.get(path, include_in_schema=False, opt={"gate": gate})(handle)

    return mount


def post(
    path: str,
    *,
    gate: PersonGate[object],
    enrolling: bool = False,
    proof: AskedProof | None = None,
    limits: BodyLimits = FORM_LIMITS,
    within_s: float = TRANSACTION_S,
    turn: Turn = _no_turn,
) -> Callable[[FormHandler[P]], HTTPRouteHandler]:
    """Mount a form for those whom the gate lets pass; `enrolling` as for `get`.

    A serious act asks for a `proof`. Once it is read, the form waits for its `turn`.
    """

    def mount(handler: FormHandler[P]) -> HTTPRouteHandler:
        form = _Form(
            handler=handler,
            gate=gate,
            stages=_ENROLLING if enrolling else _FULL,
            limits=limits,
            within_s=within_s,
            proof=proof,
            turn=turn,
        )

        async def handle(
            request: AnyRequest, dependencies: InjectedDependencies, **in_path: object
        ) -> PageResponse:
            fields = await read_form(request.receive, request.scope["headers"], limits)
            context = new_context(request, dependencies)
            async with turn(context, fields) as refused:
                return refused or await _form_response(form, context, fields, in_path)

        take_signature(handle, handler, given=2)
        return litestar.post(path, include_in_schema=False, opt={"gate": gate})(handle)

    return mount


async def _page_response(
    context: RequestContext,
    gate: PersonGate[object],
    stages: frozenset[Stage],
    handle: Callable[[PageContext], Awaitable[Outcome | LongAct]],
    *,
    reads: bool,
) -> PageResponse:
    dependencies = context.dependencies
    on_replica = reads and dependencies.has_replica
    passed: PageContext | Refusal | None = None
    try:
        async with dependencies.transaction(within_s=PAGE_S) as tx:
            page_context = await signed_in(context, tx, stages)
            if page_context is None:
                return not_signed_in(context)
            passed = await _passed(page_context, gate)
            if isinstance(passed, Refusal):
                return frame(page_context, passed)
            outcome = None if on_replica else await _outcome(passed, handle)
        if outcome is None:
            passed = replace(passed, on_replica=True)
            async with dependencies.reads(within_s=PAGE_S) as tx:
                outcome = await _outcome(replace(passed, tx=tx), handle)
        if isinstance(outcome, LongAct):
            outcome = await outcome.run()
        return await asyncio.to_thread(_written, passed, outcome)
    except ServiceUnavailable:
        raise
    except Exception as error:
        if not isinstance(passed, PageContext):
            raise
        _log.error("unexpected fault", txn_id=context.txn_id, exc_info=error)
        return frame(passed, UNEXPECTED)  # with the menu: others of the pages may be well


def _written(page_context: PageContext, outcome: Outcome) -> PageResponse:
    """Write a page, in a thread: some take 30 ms, and each some 0.1 s the first time (0220)."""
    if isinstance(outcome, StreamedPage):
        return begin(page_context, outcome)
    return frame(page_context, outcome)


async def _outcome(
    page_context: PageContext, handle: Callable[[PageContext], Awaitable[Outcome | LongAct]]
) -> Outcome | LongAct:
    outcome = await handle(page_context)
    if isinstance(outcome, StreamedPage) and not supports_streaming(page_context):
        return await whole(page_context, outcome)
    return outcome


async def _form_response(
    form: _Form,
    context: RequestContext,
    fields: Fields | Refusal,
    in_path: Mapping[str, object],
) -> PageResponse:
    proof = await _prove(form, context, fields)
    async with context.dependencies.transaction(within_s=form.within_s) as tx:
        page_context = await signed_in(context, tx, form.stages)
        if page_context is None:
            return form_without_session(context, fields)
        passed = _form_refused(page_context, fields) or await _passed(page_context, form.gate)
        outcome: Outcome | LongAct
        if isinstance(passed, Refusal):
            outcome = passed
        elif isinstance(fields, Refusal):
            outcome = fields
        else:
            page_context = passed
            outcome = await _act(form, passed, fields, proof, in_path)
    if isinstance(outcome, LongAct):
        outcome = await outcome.run()
    kept = () if isinstance(outcome, CrossSiteForm) else typed(fields)
    return frame(page_context, outcome, kept)


async def _act(
    form: _Form,
    page_context: PageContext,
    fields: Fields,
    proof: Proof,
    in_path: Mapping[str, object],
) -> Outcome | LongAct:
    """Carry the form out, once its proof is enough; what proves is no field of its handler."""
    asked = form.proof
    if asked is None:
        return await form.handler(page_context, fields, **in_path)
    refused = await asked.check(page_context, fields) if asked.check else None
    if refused is not None:
        return refused
    enrolled = await SecondFactors(page_context.tx).enrolled(page_context.user.user_id)
    by_code_alone = asked.each_time and enrolled.any
    if by_code_alone:
        proof = await by_second_factor(page_context, fields)
    shown = replace(page_context, proof_refused=proof.refusal, proof_given=proof.is_accepted)
    is_enough = proof.is_accepted or (shown.is_proven and not by_code_alone)
    if not (asked.on_own_page or is_enough):
        return ask_again(shown, fields, enrolled)
    return await form.handler(shown, without_proof(fields), **in_path)


async def _prove(form: _Form, context: RequestContext, fields: Fields | Refusal) -> Proof:
    """Check the password or code that came with a form of one who may submit it.

    A code that is asked for each time is left to the transaction of the act.
    """
    if form.proof is None or isinstance(fields, Refusal) or not has_proof(fields):
        return NO_PROOF
    if fields.get("passkey"):
        await context.dependencies.passkeys.load()
    async with context.dependencies.transaction() as tx:
        page_context = await signed_in(context, tx, form.stages)
        if page_context is None or _form_refused(page_context, fields) is not None:
            return NO_PROOF  # shown by what comes after
        if _gate_refused(page_context, form.gate) is not None:
            return NO_PROOF
        if (await SecondFactors(tx).enrolled(page_context.user.user_id)).any:
            if form.proof.each_time:
                return NO_PROOF
            return await by_second_factor(page_context, fields)
    return await by_typed_password(page_context, fields)


async def signed_in(
    context: RequestContext, tx: Transaction, stages: frozenset[Stage] = _FULL
) -> PageContext | None:
    """Find who is signed in; None when no one is, no longer, or not yet with a second factor."""
    found = await authenticate_session(
        tx, session_cookie(context.request, context.dependencies.settings), stages=stages
    )
    if found is None:
        return None
    visit = PageContext(context, tx, found.user, found.scopes, found.session, found.now)
    write_in_own_language(visit)
    write_in_own_zone(visit)
    return visit


def _gate_refused(page_context: PageContext, gate: PersonGate[object]) -> Refusal | None:
    entity_id = entity_in_path(page_context.context)
    return gate.refusal(page_context.user, page_context.scopes, entity_id)


async def _passed(page_context: PageContext, gate: PersonGate[object]) -> PageContext | Refusal:
    """Return the visit behind the gate: that of a member's page has the member."""
    refused = _gate_refused(page_context, gate)
    if refused is not None or not isinstance(gate, MemberGate):
        return refused or page_context
    tx, entity_id = page_context.tx, entity_in_path(page_context.context)
    (found,) = await MemberSearch(tx).members(MemberFilter(entity_id=entity_id), "", 1)
    ended = await suspension_of(tx, entity_id, MemberStatus(found.status))
    return replace(page_context, entity=found, suspension=ended)


def _form_refused(page_context: PageContext, fields: Fields | Refusal) -> Refusal | None:
    if is_same_origin(page_context.context.request, page_context.dependencies.settings) is False:
        return CrossSiteForm()
    if not isinstance(fields, Mapping):
        return fields
    return None if token_matches(page_context.session, fields.get(CSRF_FIELD, "")) else StaleForm()
