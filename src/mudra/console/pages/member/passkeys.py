"""The user's own passkeys: added under a name, listed (second_factor.py), removed."""

from typing import Final

from litestar import Response, post
from litestar.types import ControllerRouterHandler

from mudra.console.framework.console_errors import page_problem
from mudra.console.framework.navigation import SECOND_FACTOR
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import Fields, own_form, own_form_with_proof
from mudra.console.framework.page_responses import SIGN_IN
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.render import sentence
from mudra.console.framework.session.cookie import set_session_cookie
from mudra.console.pages.member.second_factor import (
    completed_alone,
    is_still_open,
    shown_codes,
)
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.identity.passkeys.challenge import ask_to_create
from mudra.identity.passkeys.manage_passkeys import (
    PASSKEYS_OFF,
    add_passkey,
    may_add,
    passkey_kept,
    passkey_name,
    remove_passkey,
)
from mudra.identity.sessions.session import (
    BegunSession,
    end_other_sessions,
)
from mudra.localization.language import gettext, translatable
from mudra.shared.refusal import Refusal

_PAGES = Response[str] | Response[bytes]
_PATH: Final = "/account/second-factor/passkey"
_REFUSALS: Final = (
    translatable("name must be 1 to 40 printable characters"),
    translatable("you have 10 passkeys: remove one first"),
)
"""Texts of the API with its limits, which `page_problem` translates."""


@post(f"{_PATH}/begin", include_in_schema=False, status_code=200)
async def begin(request: AnyRequest, dependencies: InjectedDependencies) -> _PAGES:
    """Show the page on which the browser makes a new passkey."""
    party = dependencies.passkeys.relying_party

    async def check(page_context: PageContext, fields: Fields) -> Refusal | None:
        if party is None:
            return PASSKEYS_OFF
        name = passkey_name(fields.get("name", ""))
        if isinstance(name, Refusal):
            return name
        return await may_add(page_context.work, page_context.user)

    async def handle(page_context: PageContext, fields: Fields) -> Outcome:
        name = passkey_name(fields.get("name", ""))
        if party is None:
            return PASSKEYS_OFF
        if isinstance(name, Refusal):
            return name
        options = await ask_to_create(
            page_context.work,
            page_context.user,
            page_context.session.key,
            party,
            dependencies.settings.network_name,
            dependencies.random_bytes,
        )
        return RenderedPage("passkey_setup.html", {"options": options, "name": name, "problem": ""})

    await dependencies.passkeys.load()
    return await own_form_with_proof(request, dependencies, handle, check=check, enrolling=True)


@post(f"{_PATH}/add", include_in_schema=False, status_code=200)
async def add(request: AnyRequest, dependencies: InjectedDependencies) -> _PAGES:
    """Store the passkey that the browser made; with the first factor, show recovery codes."""
    begun: list[BegunSession] = []

    async def handle(page_context: PageContext, fields: Fields) -> Outcome:
        work, session = page_context.work, page_context.session
        if not await is_still_open(page_context):
            return GoTo(f"{SIGN_IN}?told=ended")
        codes = await add_passkey(
            work,
            page_context.user,
            fields.get("name", ""),
            fields.get("passkey", ""),
            session.key,
            page_context.caller,
            passkey_id=dependencies.new_id(),
            verifier=dependencies.passkeys,
            random_bytes=dependencies.random_bytes,
        )
        if isinstance(codes, Refusal):
            problem = page_problem(codes)
            # Without new options: the sender has shown no proof for another challenge.
            facts = {"options": "", "name": "", "problem": sentence(problem.sentence)}
            return RenderedPage("passkey_setup.html", facts, problem.status)
        completed = await completed_alone(page_context)
        if completed is None:
            return GoTo(f"{SIGN_IN}?told=ended")
        begun.append(completed)
        if not codes:
            return GoTo(f"{SECOND_FACTOR}?told=passkey-added")
        return shown_codes(codes, gettext("The passkey was added."), completed)

    await dependencies.passkeys.load()
    response = await own_form(request, dependencies, handle, enrolling=True)
    if begun and isinstance(response.content, str):
        set_session_cookie(response, begun[0].cookie, dependencies.settings)
    return response


@post(f"{_PATH}/remove", include_in_schema=False)
async def remove(request: AnyRequest, dependencies: InjectedDependencies) -> _PAGES:
    """Remove a passkey, unless it is the last factor of one whose role needs one."""
    roles = dependencies.settings.factor_roles

    async def check(page_context: PageContext, fields: Fields) -> Refusal | None:
        work, chosen = page_context.work, fields.get("id", "")
        return await passkey_kept(work, page_context.user, chosen, roles)

    async def handle(page_context: PageContext, fields: Fields) -> Outcome:
        work, session = page_context.work, page_context.session
        refused = await remove_passkey(
            work,
            page_context.user,
            fields.get("id", ""),
            roles,
            page_context.caller,
        )
        if refused is not None:
            return refused
        await end_other_sessions(session, page_context.caller, work.sessions, work.audit_log)
        return GoTo(f"{SECOND_FACTOR}?told=passkey-removed")

    return await own_form_with_proof(request, dependencies, handle, check=check)


handlers: Final[list[ControllerRouterHandler]] = [begin, add, remove]
