"""A member's entry in the registry: form, JSON, findings, changes, submit."""

import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Final

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.console_errors import page_problem
from mudra.console.framework.navigation import member_path
from mudra.console.framework.page import Fields, signed_in
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_responses import PageResponse, frame
from mudra.console.framework.page_results import Download, GoTo, Outcome, RenderedPage, StreamedPage
from mudra.console.framework.render import sentence
from mudra.console.framework.session.identity_proof import RECENT
from mudra.console.framework.session.sign_in_form import typed
from mudra.console.framework.table import Column, Table
from mudra.console.pages.member.registration_draft import draft_of
from mudra.console.pages.member.registration_key import key_in
from mudra.console.pages.member.registration_labels import fields_in, findings_of, named, notes_of
from mudra.console.pages.operator.comparison import lines_of
from mudra.console.pages.operator.labels import tone
from mudra.http.auth.gates import ADMIN
from mudra.http.request.body.strict_json import JsonRefused, parse_json
from mudra.http.request.request_context import RequestContext
from mudra.localization.language import gettext, translatable
from mudra.registry.lifecycle.actor import Actor, member_admin
from mudra.registry.lifecycle.acts.draft_review import DraftReview, last_if_rejected
from mudra.registry.lifecycle.acts.registration import Receipt, RegistrationService, ReviewedDraft
from mudra.registry.lifecycle.record import Record, Version
from mudra.registry.payload.refusals import PayloadNotChecked, PayloadRefused, too_many_checks
from mudra.registry.ports import Registry
from mudra.server_protocol.body_reader import BodyLimits
from mudra.shared.finding import Finding
from mudra.shared.refusal import Refusal

_PATH: Final = "/entity/{entity_id:str}/registration"
_LIMITS: Final = BodyLimits(192 * 1024)
"""64 KiB of JSON; a form encodes one byte in up to three."""
_VERSIONS: Final = Table[Version](
    "versions",
    translatable("Versions"),
    (
        Column("number", translatable("Version"), lambda one: one.number),
        Column(
            "status",
            translatable("Status"),
            lambda one: one.status.value,
            "tag",
            tone=lambda one: tone(one.status.value),
        ),
        Column("submitted", translatable("Submitted"), lambda one: one.submitted_at, "time"),
        Column("decided", translatable("Decided"), lambda one: one.decided_at, "time"),
        Column("reason", translatable("Reason"), lambda one: one.reason or None),
    ),
    first_sort="-number",
)


@contextlib.asynccontextmanager
async def registry_turn(
    context: RequestContext, fields: Fields | Refusal
) -> AsyncIterator[PageResponse | None]:
    """Keep the one turn that a person has, here and in the API (0074), and ready the check.

    Who is signed in is found first, in a transaction of its own. So no one waits with a connection,
    and only who is signed in has the check readied.
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


@page.get(_PATH, gate=ADMIN, turn=ready_check)
async def registration(_: PageContext, entity_id: FromPath[str]) -> Outcome:
    """Show the current entry as a draft for the next version."""
    return StreamedPage("registration.html", {}, lambda then: _current(then, entity_id))


async def _current(page_context: PageContext, entity_id: str) -> Mapping[str, object] | Download:
    stored = await page_context.tx.service(Registry).history(entity_id)
    draft = draft_of(
        stored,
        entity_id=entity_id,
        name=page_context.member.name,
        entity_type=page_context.member.entity_type,
        now=page_context.now,
        txn_id=page_context.context.txn_id,
    )
    versions, more = (stored.versions, stored.left_out) if stored else ((), 0)
    cut = f"older versions, not shown: {more}" if more else ""
    export = _VERSIONS.export(versions, page_context.query, left_out=cut)
    if export is not None:
        return export
    return _page(page_context, draft, await _reviewed(page_context, draft), stored).facts


@page.post(f"{_PATH}/check", gate=ADMIN, limits=_LIMITS, turn=registry_turn)
async def check(page_context: PageContext, fields: Fields, entity_id: FromPath[str]) -> Outcome:
    """Show the findings in a draft; stores nothing."""
    draft = fields.get("payload", "")
    reviewed = await _reviewed(page_context, draft)
    if page_context.context.request.headers.get("hx-request"):
        return RenderedPage("registration_checked.html", _review_facts(reviewed.review, draft))
    stored = await page_context.tx.service(Registry).history(entity_id)
    return _page(page_context, draft, reviewed, stored)


@page.post(f"{_PATH}/submit", gate=ADMIN, proof=RECENT, limits=_LIMITS, turn=registry_turn)
async def submit(page_context: PageContext, fields: Fields, entity_id: FromPath[str]) -> Outcome:
    """Submit a draft, within the same budget of writes as /entityInfo, refused or not."""
    draft = fields.get("payload", "")
    reviewed = await _reviewed(page_context, draft)
    registration = page_context.tx.service(RegistrationService)
    outcome = await registration.submit_draft(reviewed.review, _actor(page_context))
    if isinstance(outcome, Receipt):
        return GoTo(f"{member_path(entity_id, 'registration')}?told={outcome.status}")
    stored = await page_context.tx.service(Registry).history(entity_id)
    return _page(page_context, draft, reviewed, stored, outcome)


async def _reviewed(page_context: PageContext, draft: str) -> ReviewedDraft:
    member, registration = page_context.member, page_context.tx.service(RegistrationService)
    payload: object
    try:
        payload = parse_json(draft.encode())
    except JsonRefused as refused:
        payload = Finding("$", refused.sentence())
    actor = _actor(page_context)
    return await registration.review(payload, member.entity_type, member.entity_id, actor)


def _actor(page_context: PageContext) -> Actor:
    user, caller = page_context.user, page_context.caller
    return member_admin(user.user_id, user.administers, caller.address, caller.txn_id)


def _review_facts(review: DraftReview, draft: str, *, sent: bool = False) -> dict[str, object]:
    """Return what the findings show; once it was `sent`, what is missing refuses it too."""
    return {
        "review": review,
        "changes": [(one, lines_of(one.before), lines_of(one.after)) for one in review.changes],
        "at_fields": findings_of(review.findings),
        "notes": notes_of(review.findings),
        "fields_in": fields_in,
        "sent": sent,
        "key": key_in(draft),
    }


def _page(
    page_context: PageContext,
    draft: str,
    reviewed: ReviewedDraft,
    stored: Record | None,
    refusal: Refusal | None = None,
) -> RenderedPage:
    problem = page_problem(refusal) if refusal is not None else None
    record, facts = reviewed.record, _review_facts(reviewed.review, draft, sent=bool(problem))
    shown = sentence(problem.sentence) if problem else ""
    all_versions = stored.versions if stored else ()
    if isinstance(refusal, PayloadRefused) and facts["at_fields"]:
        shown = gettext("Nothing was submitted. The findings say what to change.")
    return RenderedPage(
        "registration.html",
        {
            "versions": _VERSIONS.view(all_versions, page_context.query),
            "only": all_versions[0] if len(all_versions) == 1 else None,
            "left_out": stored.left_out if stored else 0,
            "rejected": last_if_rejected(record),
            "pending": record.pending if record else None,
            "draft": draft,
            **facts,
            "fi_types": named(reviewed.vocabulary.fi_types.listed),
            "identifiers": named(reviewed.vocabulary.identifier_types.listed),
            "problem": shown,
            "notice": page_context.query.get("told", ""),
        },
        problem.status if problem else 200,
    )


handlers: Final[list[ControllerRouterHandler]] = [registration, check, submit]
