"""Who made the browser send this form (quality I10; OWASP, Fetch Metadata).

Two checks: where the browser says the request came from, and a word of the
session that only our own pages hold. The sign-in form has no session yet, so
there the first check alone decides and must not be silent.
"""

import secrets
from urllib.parse import urlsplit

from mudra.http.dependencies import HttpSettings
from mudra.http.request.request_context import AnyRequest
from mudra.identity.sessions.session import Session

CSRF_FIELD = "csrf_token"


def is_same_origin(request: AnyRequest, settings: HttpSettings) -> bool | None:
    """Tell whether the browser says that one of our pages sent this; None when silent."""
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
    """Compare the word of a form with the session's, in constant time."""
    return secrets.compare_digest(session.csrf_token.encode(), sent.encode())
