"""An entity's admins: add, remove, hand over, backup contact."""

from typing import Final

from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.console_errors import page_problem
from mudra.console.framework.navigation import CONSOLE, member_path
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.render import sentence
from mudra.console.framework.session.identity_proof import RECENT
from mudra.http.auth.gates import ADMIN, READER
from mudra.http.request.account_requests import (
    AdminChangeRequest,
    AdminRemovalRequest,
    AdminRequest,
    ContactRequest,
    OwnHandOverRequest,
    SendAgainRequest,
)
from mudra.http.request.validation import decode_struct
from mudra.identity.memberships.admins import (
    AdminsChanged,
    EntityAdmins,
    LastAdmin,
    NotAnAdmin,
    Requester,
    admins_of,
)
from mudra.identity.memberships.hand_over import NoInvitation
from mudra.identity.memberships.member import NotYourEntity, able_admins
from mudra.localization.language import current, gettext, translatable
from mudra.shared.refusal import Refusal

_PATH: Final = "/entity/{entity_id:str}/people"
_FIELDS: Final = {"email": "the email address", "name": "the name", "phone": "the telephone"}
_STATES: Final = {
    "active": translatable("active"),
    "invited": translatable("invited"),
    "disabled": translatable("disabled"),
}
_ROLES: Final = {"admin": translatable("admin"), "reader": translatable("reader")}
_REFUSALS: Final = (
    translatable(
        "the email address must be one email address with plain letters before the @, such as "
        "admin@bank.example"
    ),
    translatable("the email address must be one email address with a valid domain after the @"),
    translatable("the email address must be at most 254 characters"),
    translatable("the email address must be an email address"),
    translatable("the email address must be an email address, not empty"),
    translatable("the email address must be another person's than the one who leaves"),
    translatable("the email address is an admin already: remove yourself instead"),
    translatable(
        "the email address is invited to take over from another admin, who alone can change that"
    ),
    translatable("the telephone must be a telephone number, such as +91 80 4000 1234"),
    translatable(
        "the telephone must be a telephone number that is answered day and night, or empty"
    ),
    translatable("the name must be at most 64 letters, with spaces, hyphens and initials"),
    translatable("the name must be 1 to 100 characters"),
    translatable("the name must be a name of at most 100 characters"),
    translatable("the name must not contain control characters or '=?'"),
    translatable("the name must be a name, not an address of the web ('://')"),
    translatable(
        "the email address has an account of the other kind: operators and admins of entities "
        "use accounts of their own"
    ),
    translatable("an entity sends at most 10 invitations in 24 hours"),
    translatable(
        "the contact's email is changed at most 3 times in 24 hours: leave it empty, or ask the "
        "operator of the network"
    ),
)
"""Texts of the API, in terms of the page's fields: `_text` and `page_problem` translate them."""
_NOT_THIS: Final = ', not "'


@page.get(_PATH, gate=READER)
async def people(page_context: PageContext) -> Outcome:
    """List the admins and the backup contact."""
    return await _page(page_context)


def _form(path: str, request_type: type[AdminChangeRequest], done: str) -> HTTPRouteHandler:
    """Return the route of a form that changes the admins; `done` names its notice."""

    @page.post(f"{_PATH}/{path}", gate=ADMIN, proof=RECENT)
    async def change(
        page_context: PageContext, fields: Fields, entity_id: FromPath[str]
    ) -> Outcome:
        body = decode_struct({**fields, "entityId": entity_id}, request_type)
        if isinstance(body, Refusal):
            return await _page(page_context, body, fields, done)
        requester = Requester(page_context.caller, page_context.user)
        outcome = await body.run(page_context.tx, requester)
        match outcome:
            case NotYourEntity():
                return outcome
            case Refusal():
                return await _page(page_context, outcome, fields, done)
        if page_context.user.user_id not in {admin.user_id for admin in outcome.admins}:
            return GoTo(f"{CONSOLE}?told=left")
        notice = _notice(outcome, done)
        return GoTo(f"{member_path(entity_id, 'people')}?told={notice}")

    return change


def _notice(outcome: EntityAdmins, done: str) -> str:
    """Name the notice of what a form has changed."""
    match outcome:
        case AdminsChanged(changed=False):
            return "known"
        case AdminsChanged(withdrawn=True):
            return "withdrawn"
    return done


async def _page(
    page_context: PageContext,
    refusal: Refusal | None = None,
    fields: Fields | None = None,
    refused: str = "",
) -> Outcome:
    """Show the page; a refusal appears at its form, with what was typed there."""
    problem = page_problem(refusal) if refusal is not None else None
    requester = Requester(page_context.caller, page_context.user)
    found = await admins_of(page_context.tx, requester, page_context.member.entity_id)
    if not isinstance(found, EntityAdmins):
        return found
    admins = found.admins
    return RenderedPage(
        "people.html",
        {
            "admins": admins,
            "states": _STATES,
            "roles": _ROLES,
            "able": able_admins(admins),
            "contact": found.contact.email,
            "phone": found.contact.phone,
            "problem": sentence(_text(refusal, problem.sentence)) if refusal and problem else "",
            "refused": refused,
            "typed": {name: (fields or {}).get(name, "")[:254] for name in (*_FIELDS, "role")},
            "notice": page_context.query.get("told", ""),
        },
        problem.status if problem else 200,
    )


def _text(refusal: Refusal, text: str) -> str:
    """Return the API's text in terms of the page's fields."""
    match refusal:
        case LastAdmin():
            return gettext(
                "that is the last admin who can act for this entity: add another one first"
            )
        case NoInvitation():
            return gettext("that invitation no longer waits: it was accepted, or has ended")
        case NotAnAdmin():
            return gettext("that person is no longer an admin of this entity")
    field, _, rest = text.partition(" ")
    if field not in _FIELDS:
        return text
    rule, no, value = rest.partition(_NOT_THIS)
    rule = current().translate(f"{_FIELDS[field]} {rule}")
    return gettext('%(rule)s, not "%(value)s', rule=rule, value=value) if no else rule


handlers: Final[list[ControllerRouterHandler]] = [
    people,
    _form("add", AdminRequest, "added"),
    _form("remove", AdminRemovalRequest, "removed"),
    _form("hand-over", OwnHandOverRequest, "handed-over"),
    _form("invite-again", SendAgainRequest, "sent-again"),
    _form("contact", ContactRequest, "contact"),
]
