"""The key of a registration, read out of a pasted text or a file; nothing of it is stored."""

from typing import Final

import msgspec
from litestar import Response, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import Fields, member_form
from mudra.console.framework.page_results import Outcome, RenderedPage
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.body.request_body import BodyLimits
from mudra.http.request.request_context import AnyRequest
from mudra.localization.language import gettext, translatable
from mudra.registry.payload.read_key import MAX_TEXT, KeyUnread, ReadKey, read_key
from mudra.shared.undecodable import UNDECODABLE

_LIMITS: Final = BodyLimits(4 * MAX_TEXT)
_PROBLEMS: Final = {
    KeyUnread.EMPTY: translatable("Paste a public key, or choose a file."),
    KeyUnread.PRIVATE: translatable(
        "That is a private key, which must never leave your systems. Make a new pair, and paste "
        "the public key."
    ),
    KeyUnread.NOT_RSA: translatable("That is not an RSA key, the only kind that the registry has."),
    KeyUnread.SEVERAL: translatable("That set has several signing keys. Paste one of them."),
    KeyUnread.UNKNOWN: translatable(
        "That is not a public key in PEM, a certificate, or a JSON Web Key."
    ),
}


@post("/entity/{entity_id:str}/registration/key", include_in_schema=False, status_code=200)
async def key(
    entity_id: FromPath[str], request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """Answer with what a text is, and the key in it as the entry holds it."""

    async def handle(_: PageContext, fields: Fields) -> Outcome:
        found = read_key(fields.get("text", ""))
        if isinstance(found, KeyUnread):
            facts: dict[str, object] = {"unread": gettext(_PROBLEMS[found])}
        else:
            facts = {"key": found, "jwk": msgspec.json.encode(found.jwk).decode()}
        return RenderedPage("registration_key.html", facts)

    return await member_form(request, dependencies, entity_id, handle, _LIMITS)


def key_in(payload: str) -> ReadKey | None:
    """Return the key in a draft; None when it has none that can be read."""
    try:
        draft = msgspec.json.decode(payload)
        text = msgspec.json.encode(draft["entityinfo"]["certificate"]).decode()
    except (*UNDECODABLE, msgspec.MsgspecError, KeyError, TypeError):
        return None
    found = read_key(text)
    return None if isinstance(found, KeyUnread) else found


handlers: Final[list[ControllerRouterHandler]] = [key]
