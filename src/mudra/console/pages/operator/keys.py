"""Signing keys: the state of each, who has fetched it, and their rotation."""

from typing import Final

from litestar.types import ControllerRouterHandler
from msgspec import Struct

from mudra.console.framework import page
from mudra.console.framework.console_errors import PageRefusal
from mudra.console.framework.navigation import operator_path
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.session.identity_proof import RECENT
from mudra.console.framework.table import Column, Table
from mudra.http.auth.gates import operator
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.operators.operator import Scope
from mudra.localization.language import gettext, translatable
from mudra.registry.ports import Registry
from mudra.shared.refusal import Refusal
from mudra.tokens.claims import TokenKind
from mudra.tokens.signing_keys.key_fetch_store import KeyFetch
from mudra.tokens.signing_keys.key_lifecycle import KeyState, SigningKey
from mudra.tokens.signing_keys.signing_key_service import (
    KEY_CHANGE_S,
    KeyDetails,
    SigningKeyService,
)

DONE_TEXTS: Final = {
    "rotated": translatable("The next key will sign as soon as everyone can have fetched it."),
    "under-way": translatable("A rotation is already in progress. Nothing was changed."),
    "dropped": translatable("The key was dropped, and every token that it signed has ended."),
    "dropped-before": translatable("That key was dropped already. Nothing was changed."),
    "dropped-all": translatable(
        "Every key of this kind was dropped, and all tokens of these keys have ended."
    ),
    "dropped-all-before": translatable(
        "Every key of this kind was dropped minutes ago. Nothing was changed. To "
        "drop the new keys too, wait ten minutes, or use mudra keys rotate --emergency --all "
        "--again."
    ),
}
STATES: Final = {
    KeyState.ACTIVE: (translatable("active"), "good"),
    KeyState.PENDING: (translatable("pending"), "warn"),
    KeyState.RETIRING: (translatable("retiring"), "quiet"),
    KeyState.RETIRED: (translatable("retired"), "quiet"),
    KeyState.IMPORTED: (translatable("imported"), "quiet"),
}
KINDS: Final = {
    TokenKind.ENTITY: translatable("Entity Access Tokens"),
    TokenKind.USER: translatable("User Access Tokens"),
}
FETCHES: Final = Table[KeyFetch](
    "fetches",
    translatable("Who fetched the keys"),
    (
        Column("kid", translatable("Key"), lambda f: f.kid, "code"),
        Column(
            "entity", translatable("Member"), lambda f: f.entity_id or gettext("other addresses")
        ),
        Column("count", translatable("Times"), lambda f: f.count, "number"),
        Column("first", translatable("First"), lambda f: f.first_at, "time"),
        Column("last", translatable("Last"), lambda f: f.last_at, "time"),
    ),
    first_sort="-last",
)


class KeyRow(Struct, frozen=True):
    """A key as the page shows it; `members` is how many have fetched it."""

    key: SigningKey
    state: str
    tone: str
    members: int
    times: int


@page.get("/operator/keys", gate=operator(Scope.KEYS))
async def show_keys(page_context: PageContext) -> Outcome:
    """Show the keys that are published, and who has fetched them."""
    keys = [
        one
        for one in await page_context.tx.service(SigningKeyService).list(page_context.now)
        if one.state is not KeyState.RETIRED
    ]
    rows = [_row(one) for one in keys]
    fetches = [fetch for one in keys for fetch in one.fetches]
    return FETCHES.export(fetches, page_context.query) or RenderedPage(
        "operator_keys.html",
        {
            "kinds": [
                (kind, gettext(title), [one for one in rows if one.key.kind is kind])
                for kind, title in KINDS.items()
            ],
            "rotates_after": page_context.tx.service(SigningKeyService).rotate_after,
            "live_members": await page_context.tx.service(Registry).live_count(),
            "view": FETCHES.view(fetches, page_context.query),
            "done": gettext(DONE_TEXTS.get(page_context.query.get("told", ""), "")),
        },
    )


@page.post("/operator/keys/rotate", gate=operator(Scope.KEYS), proof=RECENT, within_s=KEY_CHANGE_S)
async def rotate(page_context: PageContext, fields: Fields) -> Outcome:
    """Rotate one kind of key, or drop one key or all; an emergency needs its kind typed."""
    kind = next((one for one in TokenKind if one == fields.get("kind")), None)
    if kind is None:
        return InvalidField("kind must be entity or user")
    emergency = fields.get("emergency") == "true"
    if emergency and fields.get("typed", "").strip().lower() != kind.value:
        return PageRefusal(gettext("to drop the key, type the word %(word)s", word=kind.value))
    if not emergency:
        changes = await page_context.tx.service(SigningKeyService).rotate(
            frozenset([kind]), page_context.caller, page_context.now, emergency=False
        )
        return _shown("rotated" if changes else "under-way")
    return await _drop(page_context, kind, fields)


async def _drop(page_context: PageContext, kind: TokenKind, fields: Fields) -> Outcome:
    """Drop the key that was chosen, every one of the kind, or else the one that signs now."""
    keys, by = page_context.tx.service(SigningKeyService), (page_context.caller, page_context.now)
    kinds, kid = frozenset([kind]), fields.get("kid", "")
    if fields.get("all") == "true":
        return _shown("dropped-all" if await keys.drop_all(kinds, *by) else "dropped-all-before")
    if not kid:
        await keys.rotate(kinds, *by, emergency=True)
        return _shown("dropped")
    changes = await keys.drop_key(kid, kinds, *by)
    if isinstance(changes, Refusal):
        return changes
    return _shown("dropped" if changes else "dropped-before")


def _shown(done: str) -> GoTo:
    return GoTo(operator_path(f"keys?told={done}"))


def _row(details: KeyDetails) -> KeyRow:
    state, tone = STATES[details.state]
    members = sum(1 for one in details.fetches if one.entity_id)
    return KeyRow(details.key, state, tone, members, sum(one.count for one in details.fetches))


handlers: Final[list[ControllerRouterHandler]] = [show_keys, rotate]
