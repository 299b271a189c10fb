"""Protection against forged forms (quality I10; OWASP, Fetch Metadata).

Two checks: where the browser says the request came from, and a token of the
session that only our own pages have. The sign-in form has no session yet, so
there the first check alone decides and must not be silent.
"""

import secrets
from urllib.parse import urlsplit

from mudra.http.dependencies import HttpSettings
from mudra.http.request.request_context import AnyRequest
from mudra.identity.sessions.session import Session

CSRF_FIELD = "csrf_token"


def is_same_origin(request: AnyRequest, settings: HttpSettings) -> bool | None:
    """Return whether the browser says that one of our pages sent this; None if it does not say."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("origin")
    if origin is None:
        return None
    sent, ours = urlsplit(origin), urlsplit(settings.issuer)
    return (sent.scheme, sent.netloc) == (ours.scheme, ours.netloc) or (
        bool(sent.netloc) and sent.netloc == request.headers.get("host")
    )


def token_matches(session: Session, sent: str) -> bool:
    """Compare the token of a form with the session's, in constant time."""
    return secrets.compare_digest(session.csrf_token.encode(), sent.encode())
