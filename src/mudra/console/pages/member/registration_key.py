"""The key of a registration, read out of a pasted text or a file; nothing of it is stored."""

from typing import Final

import msgspec
from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Outcome, RenderedPage
from mudra.http.auth.gates import ADMIN
from mudra.localization.language import gettext, translatable
from mudra.registry.payload.read_key import MAX_TEXT, KeyUnread, ReadKey, read_key
from mudra.server_protocol.body_reader import BodyLimits
from mudra.shared.text.undecodable import UNDECODABLE

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


@page.post("/entity/{entity_id:str}/registration/key", gate=ADMIN, limits=_LIMITS)
async def key(_: PageContext, fields: Fields) -> Outcome:
    """Answer with what a text is, and the key in it as the entry holds it."""
    found = read_key(fields.get("text", ""))
    if isinstance(found, KeyUnread):
        facts: dict[str, object] = {"unread": gettext(_PROBLEMS[found])}
    else:
        facts = {"key": found, "jwk": msgspec.json.encode(found.jwk).decode()}
    return RenderedPage("registration_key.html", facts)


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
