"""The addresses from which a member's credentials work: what was seen, and the binding."""

from typing import Final

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.console_errors import page_problem
from mudra.console.framework.navigation import member_path
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.render import sentence
from mudra.console.framework.session.identity_proof import RECENT
from mudra.console.framework.table import Column, Table
from mudra.http.auth.gates import ADMIN
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.memberships.admins import Requester
from mudra.localization.language import gettext, ngettext, translatable
from mudra.registry.ports import Registry
from mudra.shared.refusal import Refusal
from mudra.tokens.secrets.address_binding import (
    WATCHED_DAYS,
    AddressBinding,
    AddressesInUse,
    NoListedAddresses,
    TooManySwitches,
)
from mudra.tokens.secrets.binding_service import BindingService, BindingView
from mudra.tokens.secrets.foreign_addresses import EntityUse

_PATH: Final = "/entity/{entity_id:str}/addresses"
_CHOICES: Final = {AddressBinding.ENFORCE.value: "on", AddressBinding.NETWORK.value: "off"}
FOREIGN: Final = Table[EntityUse](
    "foreign",
    translatable("Addresses that are not listed"),
    (
        Column("address", translatable("Address"), lambda use: use.address, "code"),
        Column("count", translatable("Tokens"), lambda use: use.count, "number"),
        Column("last", translatable("Last used"), lambda use: use.last_used_at, "time"),
    ),
    first_sort="-last",
)


@page.get(_PATH, gate=ADMIN)
async def show(page_context: PageContext) -> Outcome:
    """Show which addresses the entry lists, and which others got tokens."""
    return await _page(page_context)


@page.post(_PATH, gate=ADMIN, proof=RECENT)
async def switch(page_context: PageContext, fields: Fields, entity_id: FromPath[str]) -> Outcome:
    """Switch the binding on or off."""
    chosen = fields.get("binding", "")
    if chosen not in _CHOICES:
        return await _page(page_context, InvalidField("binding must be enforce or network"))
    outcome = await page_context.tx.service(BindingService).bind(
        entity_id,
        AddressBinding(chosen),
        _requester(page_context),
        even_so=fields.get("evenSo") == "yes",
    )
    if isinstance(outcome, BindingView):
        notice = "exempt" if outcome.own is AddressBinding.WATCH else _CHOICES[chosen]
        return GoTo(f"{member_path(entity_id, 'addresses')}?told={notice}")
    return await _page(page_context, outcome)


async def _page(page_context: PageContext, refusal: Refusal | None = None) -> Outcome:
    view = await page_context.tx.service(BindingService).view(
        page_context.member.entity_id, _requester(page_context)
    )
    if isinstance(view, Refusal):
        return view
    record = await page_context.tx.service(Registry).record(page_context.member.entity_id)
    foreign = view.foreign if view.listed else view.uses
    export = FOREIGN.export(foreign, page_context.query)
    if export is not None:
        return export
    problem = page_problem(refusal) if refusal is not None else None
    return RenderedPage(
        "addresses.html",
        {
            "view": view,
            "registered": record is not None and record.live is not None,
            "days": WATCHED_DAYS,
            "foreign": FOREIGN.view(foreign, page_context.query),
            "problem": sentence(_text(refusal, problem.sentence)) if refusal and problem else "",
            "notice": page_context.query.get("told", "") if problem is None else "",
        },
        problem.status if problem else 200,
    )


def _text(refusal: Refusal, text: str) -> str:
    """Return why the binding cannot be switched on, in terms of the page."""
    match refusal:
        case NoListedAddresses():
            return gettext(
                "the live entry lists no address, so nothing could get a token: add addresses first"
            )
        case AddressesInUse(addresses=addresses):
            return ngettext(
                "%(num)s address that is not listed got tokens lately and would be refused: add it "
                "to the registration, or confirm that it is to be refused",
                "%(num)s addresses that are not listed got tokens lately and would be refused: add "
                "them to the registration, or confirm that they are to be refused",
                len(addresses),
            )
        case TooManySwitches():
            return gettext(
                "the binding is switched at most 10 times in 24 hours: ask the operator of the "
                "network, or wait"
            )
    return text


def _requester(page_context: PageContext) -> Requester:
    return Requester(page_context.caller, page_context.user)


handlers: Final[list[ControllerRouterHandler]] = [show, switch]
