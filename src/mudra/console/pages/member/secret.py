"""A member's secret: its state and use; show (to one who confirms), reset and retire it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Struct, field

from mudra.console.framework import page
from mudra.console.framework.console_errors import PROOF_TOO_OLD, page_problem
from mudra.console.framework.navigation import member_path
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.render import sentence
from mudra.console.framework.session.identity_proof import RECENT_ON_OWN_PAGE
from mudra.console.framework.table import Column, Table
from mudra.http.auth.gates import ADMIN, entity_in_path
from mudra.http.request.request_context import RequestContext
from mudra.http.request.validation import decode_struct
from mudra.http.response.errors import Problem
from mudra.identity.memberships.member import NotYourEntity
from mudra.identity.second_factor.second_factor_store import SecondFactors
from mudra.identity.sign_in.sign_in import SignInRefused
from mudra.localization.language import gettext, translatable
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText
from mudra.tokens.secrets.old_secret_use import AddressUse, last_use_sentence
from mudra.tokens.secrets.reset_rule import ResetLimitReached, ResetPermitted, ResetTooSoon
from mudra.tokens.secrets.secret import MAX_EXPIRY_DAYS, MAX_GRACE_DAYS, ExpiryDays, GraceDays
from mudra.tokens.secrets.secret_service import (
    ResetCommand,
    SecretDetails,
    SecretService,
    SecretUsage,
)

_PATH: Final = "/entity/{entity_id:str}/secret"


class ResetForm(Struct, frozen=True):
    """The fields of a reset's dialog, by the names of the API."""

    secret_expiry_days: ExpiryDays = field(name="secretExpiryDays")
    old_secret_validity: GraceDays = field(name="oldSecretValidity")


def _uses(name: str, title: str) -> Table[AddressUse]:
    return Table(
        name,
        title,
        (
            Column("address", translatable("Address"), lambda use: use.address, "code"),
            Column("count", translatable("Tokens"), lambda use: use.count, "number"),
            Column("last", translatable("Last used"), lambda use: use.last_used_at, "time"),
        ),
        first_sort="-last",
    )


_CURRENT = _uses("use", translatable("Use of the secret"))
_OLD = _uses("old", translatable("Use of the old secret"))


@page.get(_PATH, gate=ADMIN)
async def show(page_context: PageContext) -> Outcome:
    """Show the state of the secret, never its text."""
    usage = await _usage(page_context)
    if isinstance(usage, Refusal):
        return usage
    return (
        _CURRENT.export(usage.current_use.addresses, page_context.query)
        or _OLD.export(usage.old_use.addresses, page_context.query)
        or await _page(page_context, usage)
    )


@page.post(f"{_PATH}/show", gate=ADMIN, proof=RECENT_ON_OWN_PAGE)
async def show_text(page_context: PageContext, _: Fields, entity_id: FromPath[str]) -> Outcome:
    """Show the secret itself, once, to an admin who has just typed the password or a code."""
    if not page_context.is_proven:
        return await _outcome(page_context, _proof_refusal(page_context))
    details = await page_context.tx.service(SecretService).read(
        entity_id, page_context.user, page_context.caller
    )
    return await _outcome(page_context, details)


@asynccontextmanager
async def _in_turn(context: RequestContext, _: object) -> AsyncIterator[None]:
    """Let resets of the same entity wait for each other before they take a connection."""
    async with context.dependencies.reset_turns.turn(entity_in_path(context)):
        yield


@page.post(f"{_PATH}/reset", gate=ADMIN, proof=RECENT_ON_OWN_PAGE, turn=_in_turn)
async def reset(page_context: PageContext, fields: Fields, entity_id: FromPath[str]) -> Outcome:
    """Reset the secret and show the new one."""
    if not page_context.is_proven:
        return await _outcome(page_context, _proof_refusal(page_context), typed=fields)
    received = decode_struct(
        {name: _number(fields, name) for name in ("secretExpiryDays", "oldSecretValidity")},
        ResetForm,
    )
    if isinstance(received, Refusal):
        return await _outcome(page_context, received, typed=fields)
    expiry_days, keep_days = received.secret_expiry_days, received.old_secret_validity
    command = ResetCommand(entity_id, expiry_days, keep_days, _version(fields))
    details = await page_context.tx.service(SecretService).reset(
        command, page_context.user, page_context.caller
    )
    return await _outcome(page_context, details, done="reset")


@page.post(f"{_PATH}/retire", gate=ADMIN)
async def retire(page_context: PageContext, fields: Fields, entity_id: FromPath[str]) -> Outcome:
    """End the grace period of the old secret early."""
    # The version that the reader saw: programs may well use that of a later reset.
    old = await page_context.tx.service(SecretService).retire(
        entity_id, page_context.user, page_context.caller, _version(fields)
    )
    if isinstance(old, Refusal):
        return await _outcome(page_context, old)
    return GoTo(f"{member_path(entity_id, 'secret')}?told=retired")


async def _usage(page_context: PageContext) -> SecretUsage | NotYourEntity:
    return await page_context.tx.service(SecretService).usage(
        page_context.member.entity_id, page_context.user, page_context.caller
    )


def _proof_refusal(page_context: PageContext) -> Refusal:
    return page_context.proof_refused or PROOF_TOO_OLD


def _number(fields: Fields, name: str) -> int | str:
    """Return a whole number; anything else as it was typed, for the error text."""
    typed = fields.get(name, "")
    is_short_number = typed.isascii() and typed.isdigit() and len(typed) <= 4  # noqa: PLR2004  # characters
    return int(typed) if is_short_number else typed


def _version(fields: Fields) -> int:
    """Return the version of the secret that the form is about; 0, which no secret has, for none."""
    typed = _number(fields, "version")
    return typed if isinstance(typed, int) else 0


async def _outcome(
    page_context: PageContext,
    details: SecretDetails | Refusal,
    *,
    done: str = "",
    typed: Fields | None = None,
) -> Outcome:
    """Show the page with the secret, or with why it was refused."""
    usage = await _usage(page_context)
    if isinstance(usage, Refusal):
        return usage
    if isinstance(details, Refusal):
        return await _page(page_context, usage, refusal=details, typed=typed)
    return await _page(page_context, usage, text=details.text, done=done)


async def _page(
    page_context: PageContext,
    usage: SecretUsage,
    *,
    text: SecretText | None = None,
    refusal: Refusal | None = None,
    done: str = "",
    typed: Fields | None = None,
) -> RenderedPage:
    """Show the page; with what was `typed` into the dialog of a reset, that is open again."""
    problem = page_problem(refusal) if refusal is not None else None
    next_reset = usage.next_reset
    enrolled = await SecondFactors(page_context.tx).enrolled(page_context.user.user_id)
    permitted = isinstance(next_reset, ResetPermitted)
    return RenderedPage(
        "secret.html",
        {
            "usage": usage,
            "text": text,
            "current_view": _CURRENT.view(usage.current_use.addresses, page_context.query),
            "current_summary": last_use_sentence(usage.current_use, usage.now),
            "old_view": _OLD.view(usage.old_use.addresses, page_context.query),
            "old_summary": last_use_sentence(usage.old_use, usage.now),
            "problem": sentence(_problem_text(refusal, problem)) if refusal and problem else "",
            "typed": typed,
            "done": done or page_context.query.get("told", ""),
            "proven": page_context.is_proven,
            "enrolled": enrolled,
            "permitted": permitted,
            "left": next_reset.left if isinstance(next_reset, ResetPermitted) else 0,
            "retry_at": None if isinstance(next_reset, ResetPermitted) else next_reset.retry_at,
            "limit_reached": isinstance(next_reset, ResetLimitReached),
            "max_expiry": MAX_EXPIRY_DAYS,
            "max_grace": MAX_GRACE_DAYS,
        },
        problem.status if problem else 200,
    )


def _problem_text(refusal: Refusal, problem: Problem) -> str:
    match refusal:
        case ResetTooSoon() | ResetLimitReached():
            return gettext("nothing was reset; see below when the next reset is permitted")
        case SignInRefused():
            return gettext("that is not your password; nothing was shown or changed")
    return problem.sentence


handlers: Final[list[ControllerRouterHandler]] = [show, show_text, reset, retire]
