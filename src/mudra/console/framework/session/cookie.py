"""The cookie of a session.

Over https it is `__Host-mudra`: Secure, of this host only, never readable by a
script. Browsers reject such a cookie over plain http, so a service whose
address is http on a loopback host uses one without the prefix; any other http
address gets none, and the sign-in page says why (decision 0060).
"""

import enum
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from litestar import Response
from litestar.datastructures import Cookie

from mudra.http.request.request_context import AnyRequest
from mudra.identity.sessions.session import LIFE
from mudra.settings.settings import Settings
from mudra.shared.network_address import is_loopback
from mudra.shared.secret_text import SecretText

_HOST_NAME: Final = "__Host-mudra"
_LOOPBACK_NAME: Final = "mudra"
_MAX_LENGTH: Final = 64


class BrowserCookie(enum.StrEnum):
    """The values of a browser before anyone is signed in there; the value ends its name."""

    CHALLENGE = "-challenge"
    SIGN_ON = "-sign-on"


def sessions_are_safe(settings: Settings) -> bool:
    """Return whether the service's address is safe for session cookies."""
    return _is_https(settings) or is_loopback(urlsplit(settings.issuer).hostname or "")


def session_cookie(request: AnyRequest, settings: Settings) -> SecretText | None:
    """Return the session cookie of the request, if it has one."""
    value = request.cookies.get(_name(settings), "")
    return SecretText(value) if 0 < len(value) <= _MAX_LENGTH else None


def set_session_cookie(response: Response[str], value: SecretText, settings: Settings) -> None:
    """Store the session in the browser until it ends."""
    response.set_cookie(_cookie(settings, value.reveal(), int(LIFE.total_seconds())))


def delete_session_cookie(response: Response[str], settings: Settings) -> None:
    """Delete the session from the browser."""
    response.set_cookie(_cookie(settings, "", 0))


def browser_cookie(
    request: AnyRequest, what: BrowserCookie, settings: Settings
) -> SecretText | None:
    """Return what binds a sign-in that has begun to this browser."""
    value = request.cookies.get(_name(settings) + what.value, "")
    return SecretText(value) if 0 < len(value) <= _MAX_LENGTH else None


def set_browser_cookie(
    response: Response[bytes] | Response[str],
    what: BrowserCookie,
    value: SecretText,
    max_age: timedelta,
    settings: Settings,
) -> None:
    """Store what binds a sign-in to this browser; an empty value deletes it."""
    age_s = int(max_age.total_seconds()) if len(value) else 0
    response.set_cookie(_cookie(settings, value.reveal(), age_s, what.value))


def _cookie(settings: Settings, value: str, max_age_s: int, what: str = "") -> Cookie:
    return Cookie(
        key=_name(settings) + what,
        value=value,
        path="/",
        max_age=max_age_s,
        secure=_is_https(settings),
        httponly=True,
        samesite="lax",  # so that links in emails work; forms have a CSRF token
    )


def _name(settings: Settings) -> str:
    return _HOST_NAME if _is_https(settings) else _LOOPBACK_NAME


def _is_https(settings: Settings) -> bool:
    return settings.issuer.startswith("https://")
