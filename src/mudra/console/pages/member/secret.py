"""A member's secret: its state and use, shown after a typed password, reset, retired."""

from typing import Final

from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework.console_errors import ProofTooOld, SecretMoved, page_problem
from mudra.console.framework.navigation import member_path
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import Fields, member_act, member_page, member_proven_act
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.render import sentence
from mudra.console.framework.table import Column, Table
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.http.request.validation import decode_struct
from mudra.http.response.problem import ErrorCode, Problem
from mudra.http.token.requests import EntitySecretResetRequest
from mudra.http.token.secret_reset import reset_and_notify
from mudra.tokens.secrets.manage_secret import (
    ResetCommand,
    SecretDetails,
    SecretUsage,
    read_secret,
    retire_old_secret,
    secret_use,
)
from mudra.tokens.secrets.old_secret_use import AddressUse, last_use_sentence
from mudra.tokens.secrets.reset_rule import ResetLimitReached, ResetPermitted
from mudra.tokens.secrets.secret import MAX_EXPIRY_DAYS, MAX_GRACE_DAYS, EntitySecret

_PATH: Final = "/entity/{entity_id:str}/secret"
_PAGES = Response[str] | Response[bytes]


def _uses(name: str, title: str) -> Table[AddressUse]:
    return Table(
        name,
        title,
        (
            Column("address", "Address", lambda use: use.address, "code"),
            Column("count", "Tokens", lambda use: use.count, "number"),
            Column("last", "Last used", lambda use: use.last_used_at, "time"),
        ),
        first_sort="-last",
    )


_CURRENT = _uses("use", "Use of the secret")
_OLD = _uses("old", "Use of the old secret")


@get(_PATH, include_in_schema=False)
async def show(
    entity_id: FromPath[str], request: AnyRequest, service: InjectedDependencies
) -> _PAGES:
    """Show the state of the secret, never its text."""

    async def look(page_context: PageContext) -> Outcome:
        used = await _use(page_context)
        if not isinstance(used, SecretUsage):
            return used
        return (
            _CURRENT.export(used.current_use.addresses, page_context.query)
            or _OLD.export(used.old_use.addresses, page_context.query)
            or _page(page_context, used)
        )

    return await member_page(request, service, entity_id, look)


@post(f"{_PATH}/show", include_in_schema=False, status_code=200)
async def show_text(
    entity_id: FromPath[str], request: AnyRequest, service: InjectedDependencies
) -> _PAGES:
    """Show the secret itself, once, to one who has just typed the password."""

    async def do(page_context: PageContext, _: Fields) -> Outcome:
        used = await _use(page_context)
        if not isinstance(used, SecretUsage) or not page_context.may_show_secrets:
            return _unproven(page_context, used)
        read = await read_secret(
            entity_id,
            page_context.user.administers,
            page_context.caller,
            page_context.work.secrets,
            page_context.work.journal,
        )
        return _page(page_context, used, text=read) if isinstance(read, SecretDetails) else read

    return await member_proven_act(request, service, entity_id, do)


@post(f"{_PATH}/reset", include_in_schema=False, status_code=200)
async def reset(
    entity_id: FromPath[str], request: AnyRequest, service: InjectedDependencies
) -> _PAGES:
    """Reset the secret and show the new one."""

    async def do(page_context: PageContext, fields: Fields) -> Outcome:
        used = await _use(page_context)
        if not isinstance(used, SecretUsage) or not page_context.may_show_secrets:
            return _unproven(page_context, used, fields)
        if fields.get("version") != str(used.current.version):
            return _page(
                page_context, used, problem=page_problem(SecretMoved(used.current.version))
            )
        order = decode_struct(_wire(entity_id, fields), EntitySecretResetRequest)
        if not isinstance(order, EntitySecretResetRequest):
            return _page(page_context, used, problem=page_problem(order), typed=fields)
        done = await reset_and_notify(
            ResetCommand(entity_id, order.secret_expiry_days, order.old_secret_validity),
            page_context.user,
            page_context.caller,
            page_context.work,
            service.random_bytes,
        )
        if not isinstance(done, SecretDetails):
            return _page(page_context, used, problem=page_problem(done))
        now_used = await _use(page_context)
        return (
            _page(page_context, now_used, text=done, told="reset")
            if isinstance(now_used, SecretUsage)
            else now_used
        )

    return await member_proven_act(request, service, entity_id, do, service.reset_turns)


@post(f"{_PATH}/retire", include_in_schema=False)
async def retire(
    entity_id: FromPath[str], request: AnyRequest, service: InjectedDependencies
) -> _PAGES:
    """End the grace period of the old secret early."""

    async def do(page_context: PageContext, fields: Fields) -> Outcome:
        used = await _use(page_context)
        if not isinstance(used, SecretUsage):
            return used
        # One of another reset than the reader saw, which programs may well use.
        if used.old is not None and fields.get("version") != str(used.old.version):
            return _page(
                page_context, used, problem=page_problem(SecretMoved(used.current.version))
            )
        old = await retire_old_secret(
            entity_id,
            page_context.user.administers,
            page_context.caller,
            page_context.work.secrets,
            page_context.work.journal,
        )
        if not isinstance(old, EntitySecret):
            return _page(page_context, used, problem=page_problem(old))
        return GoTo(f"{member_path(entity_id, 'secret')}?told=retired")

    return await member_act(request, service, entity_id, do)


async def _use(page_context: PageContext) -> SecretUsage | object:
    work = page_context.work
    return await secret_use(
        page_context.member.entity_id, page_context.user.administers, work.secrets, work.uses
    )


def _unproven(page_context: PageContext, used: object, typed: Fields | None = None) -> Outcome:
    if not isinstance(used, SecretUsage):
        return used
    refused = (
        page_context.proof_refused if page_context.proof_refused is not None else ProofTooOld()
    )
    return _page(page_context, used, problem=page_problem(refused), typed=typed)


def _wire(entity_id: str, fields: Fields) -> dict[str, object]:
    """Name the fields as the API does; a number that is none stays as it was typed."""
    wire: dict[str, object] = {"entityId": entity_id}
    for name in ("secretExpiryDays", "oldSecretValidity"):
        typed = fields.get(name, "")
        short = typed.isascii() and typed.isdigit() and len(typed) <= 4  # noqa: PLR2004
        wire[name] = int(typed) if short else typed
    return wire


def _page(
    page_context: PageContext,
    used: SecretUsage,
    *,
    text: SecretDetails | None = None,
    problem: Problem | None = None,
    told: str = "",
    typed: Fields | None = None,
) -> RenderedPage:
    """Show the page; with what was `typed` into the dialog of a reset, that is open again."""
    proven = page_context.may_show_secrets
    permitted = isinstance(used.next_reset, ResetPermitted)
    return RenderedPage(
        "secret.html",
        {
            "used": used,
            "text": text.text if text else None,
            "current_view": _CURRENT.view(used.current_use.addresses, page_context.query),
            "current_words": last_use_sentence(used.current_use, used.now),
            "old_view": _OLD.view(used.old_use.addresses, page_context.query),
            "old_words": last_use_sentence(used.old_use, used.now),
            "problem": sentence(_words(problem)) if problem else "",
            "typed": typed,
            "told": told or page_context.query.get("told", ""),
            "proven": proven,
            "permitted": permitted,
            "left": used.next_reset.left if isinstance(used.next_reset, ResetPermitted) else 0,
            "retry_at": None
            if isinstance(used.next_reset, ResetPermitted)
            else used.next_reset.retry_at,
            "limit_reached": isinstance(used.next_reset, ResetLimitReached),
            "max_expiry": MAX_EXPIRY_DAYS,
            "max_grace": MAX_GRACE_DAYS,
        },
        problem.status if problem else 200,
    )


def _words(problem: Problem) -> str:
    if problem.code in {ErrorCode.RESET_TOO_SOON, ErrorCode.RESET_LIMIT_REACHED}:
        return "nothing was reset; when the next reset is permitted stands below"
    if problem.status == 401:  # noqa: PLR2004  # the only 401 here is of the typed password
        return "that is not your password; nothing was shown or changed"
    wait = problem.headers.get("Retry-After", "")
    return problem.sentence.replace("wait as Retry-After says", f"try again in {wait} seconds")


handlers: Final[list[ControllerRouterHandler]] = [show, show_text, reset, retire]
