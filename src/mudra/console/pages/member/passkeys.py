"""The user's own passkeys: added under a name, listed (second_factor.py), removed."""

import contextlib
from collections.abc import AsyncIterator
from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.console_errors import page_problem
from mudra.console.framework.navigation import SECOND_FACTOR
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_responses import SIGN_IN
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.render import sentence
from mudra.console.framework.session.identity_proof import EACH_TIME
from mudra.console.pages.member.second_factor import completed_alone, is_still_open, shown_codes
from mudra.http.auth.gates import SIGNED_IN
from mudra.http.request.request_context import RequestContext
from mudra.identity.passkeys.challenge import ask_to_create
from mudra.identity.passkeys.manage_passkeys import (
    PASSKEYS_OFF,
    add_passkey,
    may_add,
    passkey_kept,
    passkey_name,
    remove_passkey,
)
from mudra.identity.sessions.console_sessions import end_other_sessions
from mudra.localization.language import gettext, translatable
from mudra.shared.refusal import Refusal

_PATH: Final = "/account/second-factor/passkey"
_REFUSALS: Final = (
    translatable("name must be 1 to 40 printable characters"),
    translatable("you have 10 passkeys: remove one first"),
)
"""Texts of the API with its limits, which `page_problem` translates."""


@contextlib.asynccontextmanager
async def _loaded(context: RequestContext, _: object) -> AsyncIterator[None]:
    await context.dependencies.passkeys.load()
    yield


async def _may_add(page_context: PageContext, fields: Fields) -> Refusal | None:
    if page_context.dependencies.passkeys.relying_party is None:
        return PASSKEYS_OFF
    name = passkey_name(fields.get("name", ""))
    if isinstance(name, Refusal):
        return name
    return await may_add(page_context.tx, page_context.user)


@page.post(
    f"{_PATH}/begin",
    gate=SIGNED_IN,
    enrolling=True,
    proof=EACH_TIME.after(_may_add),
    turn=_loaded,
)
async def begin(page_context: PageContext, fields: Fields) -> Outcome:
    """Show the page on which the browser makes a new passkey."""
    dependencies = page_context.dependencies
    party, name = dependencies.passkeys.relying_party, passkey_name(fields.get("name", ""))
    if party is None:
        return PASSKEYS_OFF
    if isinstance(name, Refusal):
        return name
    options = await ask_to_create(
        page_context.tx,
        page_context.user,
        page_context.session.key,
        party,
        dependencies.settings.network_name,
        dependencies.random_bytes,
    )
    return RenderedPage("passkey_setup.html", {"options": options, "name": name, "problem": ""})


@page.post(f"{_PATH}/add", gate=SIGNED_IN, enrolling=True, turn=_loaded)
async def add(page_context: PageContext, fields: Fields) -> Outcome:
    """Store the passkey that the browser made; with the first factor, show recovery codes."""
    dependencies = page_context.dependencies
    if not await is_still_open(page_context):
        return GoTo(f"{SIGN_IN}?told=ended")
    codes = await add_passkey(
        page_context.tx,
        page_context.user,
        fields.get("name", ""),
        fields.get("passkey", ""),
        page_context.session.key,
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
    if not codes:
        return GoTo(f"{SECOND_FACTOR}?told=passkey-added", begun=completed)
    return shown_codes(codes, gettext("The passkey was added."), completed)


async def _passkey_kept(page_context: PageContext, fields: Fields) -> Refusal | None:
    roles, chosen = page_context.dependencies.settings.factor_roles, fields.get("id", "")
    return await passkey_kept(page_context.tx, page_context.user, chosen, roles)


@page.post(f"{_PATH}/remove", gate=SIGNED_IN, proof=EACH_TIME.after(_passkey_kept))
async def remove(page_context: PageContext, fields: Fields) -> Outcome:
    """Remove a passkey, unless it is the last factor of one whose role needs one."""
    tx, session = page_context.tx, page_context.session
    refused = await remove_passkey(
        tx,
        page_context.user,
        fields.get("id", ""),
        page_context.dependencies.settings.factor_roles,
        page_context.caller,
    )
    if refused is not None:
        return refused
    await end_other_sessions(tx, session, page_context.caller)
    return GoTo(f"{SECOND_FACTOR}?told=passkey-removed")


handlers: Final[list[ControllerRouterHandler]] = [begin, add, remove]
