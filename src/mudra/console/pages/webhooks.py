"""Webhooks: of the network (operators), of a member (its admins), and each person's own."""

from typing import Final, Literal
from uuid import UUID

from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Struct

from mudra.console.framework.console_errors import page_problem
from mudra.console.framework.navigation import ACCOUNT, member_path, operator_path
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import (
    Fields,
    FormHandler,
    PageHandler,
    member_form,
    member_page,
    operator_form,
    operator_page,
    own_form,
    own_form_with_proof,
    own_page,
)
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.render import sentence
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.health_requests import WebhookRequest
from mudra.http.request.request_context import AnyRequest
from mudra.http.request.validation import decode_struct
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.operators.operator import Scope
from mudra.localization.language import gettext, translatable
from mudra.metrics.notifications.webhook import (
    AddedWebhook,
    NoSuchWebhook,
    Owner,
    TooManyWebhooks,
)
from mudra.metrics.notifications.webhook_formats import Format
from mudra.shared.refusal import Refusal

_PAGES = Response[str] | Response[bytes]
_OPERATOR: Final = "/operator/webhooks"
_MEMBER: Final = "/entity/{entity_id:str}/webhooks"
_PERSON: Final = "/account/webhooks"
_ONE: Final = "/{webhook_id:uuid}"
_MESSAGES: Final = {
    "test": translatable(
        "A test message is on its way. Its result appears below within seconds: reload."
    ),
    "remove": translatable("The webhook was removed with its undelivered messages."),
}
_FORMATS: Final = {
    Format.STANDARD.value: translatable("Standard Webhooks (JSON, signed)"),
    Format.SLACK.value: "Slack",
    Format.TEAMS.value: "Microsoft Teams",
}
_MAX_TYPED: Final = 10_000


class _Place(Struct, frozen=True):
    """Whose webhooks a page is about, and where it is; `among` None means all but people's own."""

    path: str
    owner: Owner
    among: Owner | None
    kind: Literal["network", "member", "person"]


_NETWORK: Final = _Place(operator_path("webhooks"), Owner(), None, "network")


def _of_member(entity_id: str) -> _Place:
    return _Place(member_path(entity_id, "webhooks"), Owner(entity_id), Owner(entity_id), "member")


def _of_person(page_context: PageContext) -> _Place:
    owner = Owner(user_id=page_context.user.user_id)
    return _Place(f"{ACCOUNT}/webhooks", owner, owner, "person")


class _Shown(Struct, frozen=True):
    """What a form led to: a new key to show once, or what was typed and why it was refused."""

    added: AddedWebhook | None = None
    refusal: Refusal | None = None
    typed: Fields | None = None


async def _page(
    page_context: PageContext, place: _Place, shown: _Shown | None = None
) -> RenderedPage:
    shown = shown or _Shown()
    service = page_context.work.webhooks
    found = await service.list(place.among)
    wanted = shown.added.webhook.webhook_id if shown.added else page_context.query.get("of", "")
    opened = next((one for one in found if one.webhook_id == wanted), None)
    if opened is None and len(found) == 1:
        opened = found[0]
    attempts = await service.attempts(opened.webhook_id, place.among) if opened else []
    problem = page_problem(shown.refusal) if shown.refusal is not None else None
    facts = {
        "webhooks": found,
        "opened": opened.webhook_id if opened else "",
        "attempts": [] if isinstance(attempts, NoSuchWebhook) else attempts,
        "path": place.path,
        "kind": place.kind,
        "formats": _FORMATS,
        "entity_ids": sorted(await page_context.work.health.names())
        if place.kind == "network"
        else [],
        "secret": shown.added.secret if shown.added else None,
        "typed": shown.typed or {},
        "problem": sentence(problem.sentence) if problem else "",
        "too_many": _too_many(shown.refusal),
        "message": _MESSAGES.get(page_context.query.get("told", ""), ""),
    }
    return RenderedPage("webhooks.html", facts, problem.status if problem else 200)


def _too_many(refusal: Refusal | None) -> str:
    """Return the refusal that the page words itself; others are the API's, about what was typed."""
    if not isinstance(refusal, TooManyWebhooks):
        return ""
    text = gettext("there are %(most)s webhooks already: remove one first", most=refusal.most)
    return sentence(text)


async def _add(page_context: PageContext, place: _Place, fields: Fields) -> Outcome:
    asked = decode_struct(
        {
            "url": fields.get("url", "").strip(),
            "entityId": fields.get("entityId", "").strip(),
            "fips": fields.get("fips", "")[:_MAX_TYPED].replace(",", " ").split(),
            "format": fields.get("format", Format.STANDARD.value),
        },
        WebhookRequest,
    )
    if isinstance(asked, InvalidField):
        return await _page(page_context, place, _Shown(refusal=asked, typed=fields))
    owner = Owner(asked.entity_id) if place.kind == "network" else place.owner
    # A chat's messages lead to pages of operators, or to those of the person: not of a member.
    format_ = Format.STANDARD if place.kind == "member" else Format(asked.format)
    outcome = await page_context.work.webhooks.add(
        owner,
        asked.url,
        page_context.caller,
        page_context.now,
        fips=asked.fips,
        format_=format_,
    )
    if isinstance(outcome, Refusal):
        return await _page(page_context, place, _Shown(refusal=outcome, typed=fields))
    return await _page(page_context, place, _Shown(outcome))


async def _rotate(page_context: PageContext, place: _Place, webhook_id: UUID) -> Outcome:
    outcome = await page_context.work.webhooks.rotate(
        str(webhook_id), place.among, page_context.caller, page_context.now
    )
    if isinstance(outcome, Refusal):
        return outcome
    return await _page(page_context, place, _Shown(outcome))


async def _act(page_context: PageContext, place: _Place, webhook_id: UUID, act: str) -> Outcome:
    service, id_ = page_context.work.webhooks, str(webhook_id)
    if act == "test":
        outcome = await service.send_test(id_, place.among, page_context.caller, page_context.now)
    elif act == "remove":
        outcome = await service.remove(id_, place.among, page_context.caller)
    else:
        return InvalidField("the address must end in test or remove")
    if isinstance(outcome, Refusal):
        return outcome
    return GoTo(
        f"{place.path}?told={act}&of={id_}#{id_}" if act == "test" else f"{place.path}?told={act}"
    )


def _shows(place: _Place | None) -> PageHandler:
    async def handle(page_context: PageContext) -> Outcome:
        return await _page(page_context, place or _of_person(page_context))

    return handle


def _adds(place: _Place | None) -> FormHandler:
    async def handle(page_context: PageContext, fields: Fields) -> Outcome:
        return await _add(page_context, place or _of_person(page_context), fields)

    return handle


def _rotates(place: _Place | None, webhook_id: UUID) -> FormHandler:
    async def handle(page_context: PageContext, _: Fields) -> Outcome:
        return await _rotate(page_context, place or _of_person(page_context), webhook_id)

    return handle


def _acts(place: _Place | None, webhook_id: UUID, act: str) -> FormHandler:
    async def handle(page_context: PageContext, _: Fields) -> Outcome:
        return await _act(page_context, place or _of_person(page_context), webhook_id, act)

    return handle


@get(_OPERATOR, include_in_schema=False)
async def network(request: AnyRequest, dependencies: InjectedDependencies) -> _PAGES:
    """List the webhooks of the network and of members."""
    return await operator_page(request, dependencies, Scope.HEALTH, _shows(_NETWORK))


@post(_OPERATOR, include_in_schema=False)
async def add_network(request: AnyRequest, dependencies: InjectedDependencies) -> _PAGES:
    """Add one for the network or a member."""
    return await operator_form(
        request, dependencies, Scope.HEALTH, _adds(_NETWORK), needs_proof=True
    )


@post(f"{_OPERATOR}{_ONE}/rotate", include_in_schema=False)
async def rotate_network(
    request: AnyRequest, dependencies: InjectedDependencies, webhook_id: FromPath[UUID]
) -> _PAGES:
    """Make a new key."""
    handle = _rotates(_NETWORK, webhook_id)
    return await operator_form(request, dependencies, Scope.HEALTH, handle, needs_proof=True)


@post(f"{_OPERATOR}{_ONE}/{{act:str}}", include_in_schema=False)
async def act_network(
    request: AnyRequest,
    dependencies: InjectedDependencies,
    webhook_id: FromPath[UUID],
    act: FromPath[str],
) -> _PAGES:
    """Test or remove one."""
    handle = _acts(_NETWORK, webhook_id, act)
    return await operator_form(request, dependencies, Scope.HEALTH, handle)


@get(_MEMBER, include_in_schema=False)
async def of_member(
    entity_id: FromPath[str], request: AnyRequest, dependencies: InjectedDependencies
) -> _PAGES:
    """List the webhooks of a member."""
    return await member_page(request, dependencies, entity_id, _shows(_of_member(entity_id)))


@post(_MEMBER, include_in_schema=False)
async def add_of_member(
    entity_id: FromPath[str], request: AnyRequest, dependencies: InjectedDependencies
) -> _PAGES:
    """Add one for a member."""
    handle = _adds(_of_member(entity_id))
    return await member_form(request, dependencies, entity_id, handle, needs_proof=True)


@post(f"{_MEMBER}{_ONE}/rotate", include_in_schema=False)
async def rotate_of_member(
    entity_id: FromPath[str],
    request: AnyRequest,
    dependencies: InjectedDependencies,
    webhook_id: FromPath[UUID],
) -> _PAGES:
    """Make a new key."""
    handle = _rotates(_of_member(entity_id), webhook_id)
    return await member_form(request, dependencies, entity_id, handle, needs_proof=True)


@post(f"{_MEMBER}{_ONE}/{{act:str}}", include_in_schema=False)
async def act_of_member(
    entity_id: FromPath[str],
    request: AnyRequest,
    dependencies: InjectedDependencies,
    webhook_id: FromPath[UUID],
    act: FromPath[str],
) -> _PAGES:
    """Test or remove one."""
    handle = _acts(_of_member(entity_id), webhook_id, act)
    return await member_form(request, dependencies, entity_id, handle)


@get(_PERSON, include_in_schema=False)
async def own(request: AnyRequest, dependencies: InjectedDependencies) -> _PAGES:
    """Show the user's own webhook."""
    return await own_page(request, dependencies, _shows(None))


@post(_PERSON, include_in_schema=False)
async def add_own(request: AnyRequest, dependencies: InjectedDependencies) -> _PAGES:
    """Add the user's own."""
    return await own_form_with_proof(request, dependencies, _adds(None))


@post(f"{_PERSON}{_ONE}/rotate", include_in_schema=False)
async def rotate_own(
    request: AnyRequest, dependencies: InjectedDependencies, webhook_id: FromPath[UUID]
) -> _PAGES:
    """Make a new key."""
    return await own_form_with_proof(request, dependencies, _rotates(None, webhook_id))


@post(f"{_PERSON}{_ONE}/{{act:str}}", include_in_schema=False)
async def act_own(
    request: AnyRequest,
    dependencies: InjectedDependencies,
    webhook_id: FromPath[UUID],
    act: FromPath[str],
) -> _PAGES:
    """Test or remove it."""
    return await own_form(request, dependencies, _acts(None, webhook_id, act))


handlers: Final[list[ControllerRouterHandler]] = [
    *(network, add_network, rotate_network, act_network),
    *(of_member, add_of_member, rotate_of_member, act_of_member),
    *(own, add_own, rotate_own, act_own),
]
