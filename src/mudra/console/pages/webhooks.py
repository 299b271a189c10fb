"""Webhooks: of the network (operators), of a member (its admins), and each person's own."""

from collections.abc import Callable, Mapping
from typing import Final, Literal
from uuid import UUID

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Struct

from mudra.console.framework import page
from mudra.console.framework.console_errors import page_problem, refusal_text
from mudra.console.framework.navigation import ACCOUNT, member_path, operator_path
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.render import sentence
from mudra.console.framework.session.identity_proof import EACH_TIME, RECENT, AskedProof
from mudra.http.auth.gates import ADMIN, SIGNED_IN, PersonGate, operator
from mudra.http.request.health_requests import WebhookRequest
from mudra.http.request.validation import decode_struct
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.operators.operator import Scope
from mudra.localization.language import gettext, translatable
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.notifications.webhook import AddedWebhook, NoSuchWebhook, Owner, TooManyWebhooks
from mudra.metrics.notifications.webhook_formats import Format
from mudra.metrics.notifications.webhook_service import WebhookService
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal

_OPERATOR: Final = "/operator/webhooks"
_MEMBER: Final = "/entity/{entity_id:str}/webhooks"
_PERSON: Final = "/account/webhooks"
_ONE: Final = "/{webhook_id:uuid}"
_MESSAGES: Final = {
    "test": translatable(
        "A test message is on its way. Its result appears below within seconds: reload."
    ),
    "resend": translatable("The event is sent again, under the same ID. Reload for its result."),
    "remove": translatable("The webhook was removed with its undelivered messages."),
}
_STATES: Final = {
    "waiting": (translatable("waiting"), "warn"),
    "delivered": (translatable("delivered"), "good"),
    "failed": (translatable("failed"), "bad"),
}
_EVENTS: Final = {
    "incident.opened": translatable("an incident opened"),
    "incident.moved": translatable("another cause of an incident"),
    "incident.closed": translatable("an incident ended"),
    "incident.reopened": translatable("an incident opened again"),
    "incident.withdrawn": translatable("an incident was withdrawn"),
    "dispute": translatable("a step of a dispute"),
    "levels.report": translatable("a report of service levels"),
    "levels.budget": translatable("an error budget"),
    "webhook.test": translatable("a test"),
}
"""What events are about, by their name or what it begins with."""
_FORMATS: Final = {
    Format.STANDARD.value: "Standard Webhooks",
    Format.SLACK.value: "Slack",
    Format.TEAMS.value: "Microsoft Teams",
}
_MAX_TYPED: Final = 10_000


class _Place(Struct, frozen=True):
    """The owner of a page's webhooks, and where it is; `among` None means all but people's own."""

    path: str
    owner: Owner
    among: Owner | None
    kind: Literal["network", "member", "person"]


_NETWORK: Final = _Place(operator_path("webhooks"), Owner(), None, "network")


def _of_member(page_context: PageContext) -> _Place:
    entity_id = page_context.member.entity_id
    return _Place(member_path(entity_id, "webhooks"), Owner(entity_id), Owner(entity_id), "member")


def _of_person(page_context: PageContext) -> _Place:
    owner = Owner(user_id=page_context.user.user_id)
    return _Place(f"{ACCOUNT}/webhooks", owner, owner, "person")


class _Shown(Struct, frozen=True):
    """The outcome of a form: a new key to show once, or what was typed and why it was refused."""

    added: AddedWebhook | None = None
    refusal: Refusal | None = None
    typed: Fields | None = None


async def _page(
    page_context: PageContext, place: _Place, shown: _Shown | None = None
) -> RenderedPage:
    shown = shown or _Shown()
    service = page_context.tx.service(WebhookService)
    found = await service.list(place.among)
    wanted = shown.added.webhook.webhook_id if shown.added else page_context.query.get("of", "")
    opened = next((one for one in found if one.webhook_id == wanted), None)
    if opened is None and len(found) == 1:
        opened = found[0]
    events = await service.events(opened.webhook_id, place.among) if opened else []
    problem = page_problem(shown.refusal) if shown.refusal is not None else None
    facts = {
        "webhooks": sorted(found, key=lambda one: not one.problem),
        "opened": opened.webhook_id if opened else "",
        "events": [] if isinstance(events, NoSuchWebhook) else events,
        "states": _STATES,
        "words": _EVENTS,
        "path": place.path,
        "kind": place.kind,
        "formats": _FORMATS,
        "member_names": await _names(page_context) if place.kind != "person" else {},
        "secret": shown.added.secret if shown.added else None,
        "typed": shown.typed or {},
        "problem": refusal_text(shown.refusal) if shown.refusal else "",
        "too_many": _too_many(shown.refusal),
        "message": _MESSAGES.get(page_context.query.get("told", ""), ""),
    }
    return RenderedPage("webhooks.html", facts, problem.status if problem else 200)


async def _names(page_context: PageContext) -> Mapping[str, str]:
    """Returns the members of which a webhook may hear, by ID: of the network all, of a FIU FIPs."""
    names = await page_context.tx.service(HealthService).names()
    if page_context.entity is None:
        return names
    if page_context.entity.entity_type != EntityType.FIU:
        return {}
    fips = await page_context.tx.service(HealthService).onboarded_fips()
    return {fip_id: names.get(fip_id, fip_id) for fip_id in sorted(fips)}


def _too_many(refusal: Refusal | None) -> str:
    """Return the refusal that the page words itself; others are the API's, about what was typed."""
    if not isinstance(refusal, TooManyWebhooks):
        return ""
    text = gettext("webhooks are limited to %(most)s here: remove one first", most=refusal.most)
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
    outcome = await page_context.tx.service(WebhookService).add(
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
    outcome = await page_context.tx.service(WebhookService).rotate(
        str(webhook_id), place.among, page_context.caller, page_context.now
    )
    if isinstance(outcome, Refusal):
        return outcome
    return await _page(page_context, place, _Shown(outcome))


async def _act(page_context: PageContext, place: _Place, webhook_id: UUID, act: str) -> Outcome:
    service, id_ = page_context.tx.service(WebhookService), str(webhook_id)
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


async def _resend(
    page_context: PageContext, place: _Place, webhook_id: UUID, message_id: UUID
) -> Outcome:
    service, id_ = page_context.tx.service(WebhookService), str(webhook_id)
    outcome = await service.resend(
        id_, str(message_id), place.among, page_context.caller, page_context.now
    )
    if isinstance(outcome, Refusal):
        return outcome
    return GoTo(f"{place.path}?told=resend&of={id_}#{id_}")


def _mounted(
    path: str,
    gate: PersonGate[object],
    proof: AskedProof,
    place_of: Callable[[PageContext], _Place],
) -> list[ControllerRouterHandler]:
    """Mount the page and its forms for those who may see the webhooks of one kind of owner."""

    @page.get(path, gate=gate)
    async def show(page_context: PageContext) -> Outcome:
        """List the webhooks of the place."""
        return await _page(page_context, place_of(page_context))

    @page.post(path, gate=gate, proof=proof)
    async def add(page_context: PageContext, fields: Fields) -> Outcome:
        """Add one."""
        return await _add(page_context, place_of(page_context), fields)

    @page.post(f"{path}{_ONE}/rotate", gate=gate, proof=proof)
    async def rotate(page_context: PageContext, _: Fields, webhook_id: FromPath[UUID]) -> Outcome:
        """Make a new key."""
        return await _rotate(page_context, place_of(page_context), webhook_id)

    @page.post(f"{path}{_ONE}/{{act:str}}", gate=gate)
    async def act(
        page_context: PageContext, _: Fields, webhook_id: FromPath[UUID], act: FromPath[str]
    ) -> Outcome:
        """Test or remove one."""
        return await _act(page_context, place_of(page_context), webhook_id, act)

    @page.post(f"{path}{_ONE}/events/{{message_id:uuid}}", gate=gate)
    async def resend(
        page_context: PageContext, _: Fields, webhook_id: FromPath[UUID], message_id: FromPath[UUID]
    ) -> Outcome:
        """Send an event again."""
        return await _resend(page_context, place_of(page_context), webhook_id, message_id)

    return [show, add, rotate, act, resend]


handlers: Final[list[ControllerRouterHandler]] = [
    *_mounted(_OPERATOR, operator(Scope.HEALTH), RECENT, lambda _: _NETWORK),
    *_mounted(_MEMBER, ADMIN, RECENT, _of_member),
    *_mounted(_PERSON, SIGNED_IN, EACH_TIME, _of_person),
]
