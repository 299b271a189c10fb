"""Protection against forged forms (OWASP, Fetch Metadata).

Two checks: where the browser says the request came from, and a token of the
session that only our own pages have. The sign-in form has no session yet, so
there the first check alone decides and must not be silent.
"""

import secrets
from typing import Final
from urllib.parse import urlsplit

from mudra.http.request.request_context import AnyRequest
from mudra.identity.sessions.session import Session
from mudra.settings.settings import Settings

_NO_SITE: Final = ("", "")
CSRF_FIELD = "csrf_token"


def is_same_origin(request: AnyRequest, settings: Settings) -> bool | None:
    """Return whether the browser says that one of our pages sent this; None if it does not say."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("origin")
    if origin is None:
        return None
    sent = _site(origin)
    return sent == _site(settings.issuer) or (
        bool(sent[1]) and sent[1] == request.headers.get("host")
    )


def _site(address: str) -> tuple[str, str]:
    """Return scheme and host of an address; of a text that is none, nothing that is ours."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return _NO_SITE
    return parts.scheme, parts.netloc


def token_matches(session: Session, sent: str) -> bool:
    """Compare the token of a form with the session's, in constant time."""
    return secrets.compare_digest(session.csrf_token.encode(), sent.encode())
