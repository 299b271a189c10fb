"""A member's entry in the registry: form and JSON side by side, findings, difference, submit."""

from collections.abc import Mapping, Sequence
from typing import Final

from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Struct

from mudra.console.framework.console_errors import page_problem
from mudra.console.framework.navigation import member_path
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import Fields, member_act, member_page
from mudra.console.framework.page_results import Download, GoTo, Outcome, RenderedPage, StreamedPage
from mudra.console.framework.render import sentence
from mudra.console.framework.table import Column, Table
from mudra.console.pages.member.registration_draft import draft_of
from mudra.console.pages.operator.comparison import lines_of
from mudra.console.pages.operator.labels import tone
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_body import BodyLimits
from mudra.http.request.request_context import AnyRequest
from mudra.http.request.strict_json import JsonRefused, parse_document
from mudra.registry.lifecycle.actor import Actor, ActorKind, may_submit
from mudra.registry.lifecycle.decision import Decision
from mudra.registry.lifecycle.difference import FieldChange, difference, matters, needs_approval
from mudra.registry.lifecycle.record import Record, Version, VersionStatus
from mudra.registry.lifecycle.register import submit_entry, update_entry
from mudra.registry.lifecycle.submission import Repeat
from mudra.registry.payload.refusals import PayloadRefused, TooManyWrites
from mudra.registry.payload.validation import CheckedPayload
from mudra.registry.payload.vocabulary import Vocabulary
from mudra.shared.finding import Finding

_PATH: Final = "/entity/{entity_id:str}/registration"
_PAGES = Response[str] | Response[bytes]
_LIMITS: Final = BodyLimits(192 * 1024)
"""64 KiB of JSON, of which a form writes up to three bytes for one."""
_OF_THE_REQUEST: Final = ("$.timestamp", "$.txnid")
_VERSIONS: Final = Table[Version](
    "versions",
    "Versions",
    (
        Column("number", "Version", lambda one: one.number),
        Column(
            "status",
            "Status",
            lambda one: one.status.value,
            "tag",
            tone=lambda one: tone(one.status.value),
        ),
        Column("submitted", "Submitted", lambda one: one.submitted_at, "time"),
        Column("decided", "Decided", lambda one: one.decided_at, "time"),
        Column("reason", "Reason", lambda one: one.reason or None),
    ),
    first_sort="-number",
)


class Judged(Struct, frozen=True):
    """What is found in a draft: findings, and what it would change of the live version."""

    findings: Sequence[Finding]
    checked: CheckedPayload | None
    changes: Sequence[FieldChange]
    first: bool
    approval: bool
    waits: bool
    """Whether the version that waits already says the same."""
    against: str
    """What the changes are told against."""
    rejected: int | None
    """The version that says the same and was the last to be rejected."""

    @property
    def compared(self) -> list[tuple[FieldChange, list[str], list[str]]]:
        """Each change with the lines of now and those of then, as the approver reads them."""
        return [(one, lines_of(one.before), lines_of(one.after)) for one in self.changes]

    @property
    def worth_sending(self) -> bool:
        """Tell whether submitting it would do anything."""
        if self.checked is None or self.waits:
            return False
        return self.first or matters(tuple(self.changes))


@get(_PATH, include_in_schema=False)
async def registration(
    entity_id: FromPath[str], request: AnyRequest, service: InjectedDependencies
) -> _PAGES:
    """Show the entry as it stands, as a draft for the next version."""

    async def look(page_context: PageContext) -> Outcome:  # noqa: ARG001  # its opening is the frame's
        return StreamedPage("registration.html", {}, lambda then: _as_it_stands(then, entity_id))

    return await member_page(request, service, entity_id, look)


async def _as_it_stands(
    page_context: PageContext, entity_id: str
) -> Mapping[str, object] | Download:
    record = await page_context.service.registry.registry(page_context.caller).history(entity_id)
    draft = draft_of(
        record,
        entity_id=entity_id,
        name=page_context.member.name,
        entity_type=page_context.member.entity_type,
        now=page_context.now,
        txn_id=page_context.context.txn_id,
    )
    export = _VERSIONS.export(record.versions if record else (), page_context.query)
    return export or (await _page(page_context, record, draft)).facts


@post(f"{_PATH}/check", include_in_schema=False, status_code=200)
async def check(
    entity_id: FromPath[str], request: AnyRequest, service: InjectedDependencies
) -> _PAGES:
    """Say what is found in a draft; keeps nothing."""

    async def do(page_context: PageContext, fields: Fields) -> Outcome:
        draft = fields.get("payload", "")
        record = await service.registry.registry(page_context.caller).history(entity_id)
        if request.headers.get("hx-request"):
            words = await service.registry.vocabulary()
            judged = _judge(page_context, record, draft, words)
            return RenderedPage("registration_checked.html", {"judged": judged})
        return await _page(page_context, record, draft)

    return await member_act(request, service, entity_id, do, _LIMITS)


@post(f"{_PATH}/submit", include_in_schema=False, status_code=200)
async def submit(
    entity_id: FromPath[str], request: AnyRequest, service: InjectedDependencies
) -> _PAGES:
    """Submit a draft by the use cases of /entityInfo, within the same budget of writes."""

    async def do(page_context: PageContext, fields: Fields) -> Outcome:
        draft = fields.get("payload", "")
        registry = service.registry.registry(page_context.caller)
        record = await registry.history(entity_id)
        judged = _judge(page_context, record, draft, await service.registry.vocabulary())
        if judged.checked is None:
            refused = PayloadRefused(tuple(judged.findings))
            return await _page(page_context, record, draft, refused)
        actor = _actor(page_context)
        wait_s = await service.registry_budget.wait_s(actor.name)
        if wait_s:
            return await _page(page_context, record, draft, TooManyWrites(wait_s))
        write = submit_entry if judged.first else update_entry
        outcome = await write(registry, judged.checked, actor)
        if not isinstance(outcome, Decision | Repeat):
            return await _page(page_context, record, draft, outcome)
        return GoTo(f"{member_path(entity_id, 'registration')}?told={outcome.status}")

    return await member_act(request, service, entity_id, do, _LIMITS)


def _judge(
    page_context: PageContext, record: Record | None, draft: str, words: Vocabulary
) -> Judged:
    first = record is None or (record.live is None and record.pending is None)
    findings, checked = _checked(page_context, draft, words)
    live, pending = (record.live, record.pending) if record else (None, None)
    base = live or pending
    changes = difference(base.entry, checked.entry) if base and checked else ()
    shown = tuple(change for change in changes if change.path not in _OF_THE_REQUEST)
    approval = live is None or needs_approval(changes)
    waits = pending is not None and _says_the_same(pending, checked)
    last = _rejected(record)
    rejected = last.number if last and _says_the_same(last, checked) else None
    against = "live version" if live else "version that waits" if pending else "registry"
    return Judged(findings, checked, shown, first, approval, waits, against, rejected)


def _rejected(record: Record | None) -> Version | None:
    last = record.versions[-1] if record and record.versions else None
    return last if last and last.status is VersionStatus.REJECTED else None


def _says_the_same(version: Version, checked: CheckedPayload | None) -> bool:
    return checked is not None and not matters(difference(version.entry, checked.entry))


def _actor(page_context: PageContext) -> Actor:
    user = page_context.user
    return Actor(ActorKind.MEMBER_ADMIN, f"user:{user.user_id}", frozenset(user.administers))


def _checked(
    page_context: PageContext, draft: str, words: Vocabulary
) -> tuple[Sequence[Finding], CheckedPayload | None]:
    member = page_context.member
    try:
        raw = parse_document(draft.encode())
    except JsonRefused as refused:
        return [Finding("$", refused.sentence())], None
    checked = page_context.service.registry.check(raw, words, member.entity_type, member.entity_id)
    if not isinstance(checked, CheckedPayload):
        return checked, None
    barred = may_submit(_actor(page_context), checked.entry)
    if barred is not None:  # all but the requester is checked above
        return [Finding("$.requester.id", "is another's", member.entity_id)], None
    return checked.notes, checked


async def _page(
    page_context: PageContext, record: Record | None, draft: str, refusal: object | None = None
) -> RenderedPage:
    problem = page_problem(refusal) if refusal is not None else None
    words = await page_context.service.registry.vocabulary()
    return RenderedPage(
        "registration.html",
        {
            "versions": _VERSIONS.view(record.versions if record else (), page_context.query),
            "rejected": _rejected(record),
            "pending": record.pending if record else None,
            "draft": draft,
            "judged": _judge(page_context, record, draft, words),
            "fi_types": words.fi_types.listed,
            "problem": sentence(problem.sentence) if problem else "",
            "told": page_context.query.get("told", ""),
        },
        problem.status if problem else 200,
    )


handlers: Final[list[ControllerRouterHandler]] = [registration, check, submit]
