"""Signing keys: where each stands, who has fetched it, and their rotation."""

from collections.abc import Sequence
from typing import Final

from litestar import Response, get, post
from litestar.types import ControllerRouterHandler
from msgspec import Struct

from mudra.console.framework.navigation import operator_path
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import Fields, operator_export, operator_page
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.table import Column, Table
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.operators.operator import Scope
from mudra.tokens.issuing.claims import TokenKind
from mudra.tokens.ports import KeyFetch
from mudra.tokens.signing_keys.key_lifecycle import KeyState, SigningKey

TOLD: Final = {
    "rotated": "The next key is appointed: it signs as soon as everybody can have fetched it.",
    "under-way": "A rotation is under way already: nothing was changed.",
    "dropped": "The key is dropped, and every token that it signed has ended.",
}
STATES: Final = {
    KeyState.ACTIVE: ("signs", "good"),
    KeyState.PENDING: ("waits", "warn"),
    KeyState.RETIRING: ("still checked", "quiet"),
    KeyState.RETIRED: ("gone", "quiet"),
}
KINDS: Final = {TokenKind.ENTITY: "Entity Access Tokens", TokenKind.USER: "User Access Tokens"}
FETCHES: Final = Table[KeyFetch](
    "fetches",
    "Who fetched the keys",
    (
        Column("kid", "Key", lambda f: f.kid, "code"),
        Column("entity", "Member", lambda f: f.entity_id or "addresses of no member"),
        Column("count", "Times", lambda f: f.count, "number"),
        Column("first", "First", lambda f: f.first_at, "time"),
        Column("last", "Last", lambda f: f.last_at, "time"),
    ),
    first_sort="-last",
)


class KeyRow(Struct, frozen=True):
    """A key with what is told of it; `members` is how many have fetched it."""

    key: SigningKey
    words: str
    tone: str
    members: int
    times: int


@get("/operator/keys", include_in_schema=False)
async def show_keys(
    request: AnyRequest, service: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """Show the keys that are published, and who has fetched them."""

    async def look(page_context: PageContext) -> Outcome:
        fetches = await page_context.work.key_fetches.fetches()
        keys = [
            _shown(key, page_context, fetches)
            for key in await page_context.work.keys.all_keys()
            if key.state(page_context.now) is not KeyState.RETIRED
        ]
        published = {one.key.kid for one in keys}
        rows = [one for one in fetches if one.kid in published]
        directory = await page_context.service.directory.log.current()
        return FETCHES.export(rows, page_context.query) or RenderedPage(
            "operator_keys.html",
            {
                "kinds": [
                    (kind, title, [one for one in keys if one.key.kind is kind])
                    for kind, title in KINDS.items()
                ],
                "live_members": len(directory.listed),
                "view": FETCHES.view(rows, page_context.query),
                "told": TOLD.get(page_context.query.get("told", ""), ""),
            },
        )

    return await operator_page(request, service, Scope.KEYS, look)


@post("/operator/keys/rotate", include_in_schema=False)
async def rotate(
    request: AnyRequest, service: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """Rotate one kind of key; an emergency needs its kind typed."""

    async def do(page_context: PageContext, fields: Fields) -> Outcome:
        kind = next((one for one in TokenKind if one == fields.get("kind")), None)
        if kind is None:
            return InvalidField("kind must be entity or user")
        emergency = fields.get("emergency") == "true"
        if emergency and fields.get("typed", "").strip().lower() != kind.value:
            return InvalidField(f"to drop the key, type the word {kind.value}")
        changes = await service.rotate_keys(
            frozenset([kind]), page_context.caller, emergency=emergency
        )
        done = "dropped" if emergency else "rotated" if changes else "under-way"
        return GoTo(operator_path(f"keys?told={done}"))

    return await operator_export(request, service, Scope.KEYS, do)


def _shown(key: SigningKey, page_context: PageContext, fetches: Sequence[KeyFetch]) -> KeyRow:
    mine = [one for one in fetches if one.kid == key.kid]
    words, tone = STATES[key.state(page_context.now)]
    members = sum(1 for one in mine if one.entity_id)
    return KeyRow(key, words, tone, members, sum(one.count for one in mine))


handlers: Final[list[ControllerRouterHandler]] = [show_keys, rotate]
