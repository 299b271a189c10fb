"""WSGI middleware: Flask, Django and every other framework of PEP 3333."""

import logging
import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes

from mudra.client import clock
from mudra.client.dpop.key import PROOF_HEADER
from mudra.client.errors import MudraClientError, TokenMissing
from mudra.client.verifier import TokenVerifier
from mudra.client.web.presented_proof import checked_origins, encoded, presented_proof
from mudra.client.web.refusal_response import refusal_response
from mudra.client.web.token_headers import TOKEN_HEADERS, presented_token

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

ENTITY: Final = "mudra.entity"
"""Where the verified EntityToken is in `environ`."""
_NAMES: Final = tuple(f"HTTP_{name.upper()}" for name in TOKEN_HEADERS)
_PROOF: Final = f"HTTP_{PROOF_HEADER.upper()}"
_AS_SENT: Final = ("RAW_URI", "REQUEST_URI")
"""The request target as it was sent: gunicorn has the one, uWSGI and waitress the other."""
_INSTEAD: Final = 'run the app by gunicorn with header_map = "dangerous", or by uWSGI, instead'
_DROPPING: Final = {
    "Werkzeug": f"{_INSTEAD} of `flask run`",
    "WSGIServer": f"{_INSTEAD}, if this is Django's runserver",
    "waitress": _INSTEAD,
    "gevent": _INSTEAD,
    "gunicorn": 'set header_map = "dangerous"',
}
"""Servers that by default pass on of TOKEN_HEADERS only Authorization."""
_log = logging.getLogger("mudra.client")
_ORIGIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?]*")


class EntityTokenMiddleware:
    """Answer 401 to anyone who has no valid Entity Access Token; pass the others on.

    The app finds the caller as `environ["mudra.entity"]`, an EntityToken. Requests whose path is
    in `public_paths`, such as a health check, are passed on without one. gunicorn passes headers
    with an underscore on only with `header_map = "dangerous"`, nginx only with
    `underscores_in_headers on`; `flask run` (Werkzeug), waitress, gevent's own server and Django's
    runserver never do. `Authorization` needs none of it.

    A token that is bound to a key (DPoP) is accepted with its proof alone, and only where `origins`
    says under which origins peers call the app, such as https://fip.example.org.
    """

    def __init__(
        self,
        app: "WSGIApplication",
        verifier: TokenVerifier,
        *,
        public_paths: Iterable[str] = (),
        origins: Iterable[str] = (),
        wall: clock.Seconds = clock.wall,
    ) -> None:
        self._app = app
        self._verifier = verifier
        self._public = frozenset(public_paths)
        self._origins = checked_origins(origins)
        self._wall = wall
        self._said = False

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Check one request (PEP 3333)."""
        if environ.get("PATH_INFO", "") in self._public:
            return self._app(environ, start_response)
        values = [str(environ[name]) for name in _NAMES if name in environ]
        try:
            # Two headers arrive as one with a comma, which is no proof.
            sent = [str(environ[_PROOF])] if _PROOF in environ else []
            method, path = str(environ.get("REQUEST_METHOD", "")), _path(environ) if sent else ""
            proof = presented_proof(sent, method, path, self._origins)
            environ[ENTITY] = self._verifier.verify(presented_token(values), proof)
        except MudraClientError as error:
            if isinstance(error, TokenMissing):
                self._say_what_drops(str(environ.get("SERVER_SOFTWARE", "")))
            answer = refusal_response(error, self._wall)
            status = f"{answer.status} {HTTPStatus(answer.status).phrase}"
            start_response(status, list(answer.headers.items()))
            return [answer.body]
        return self._app(environ, start_response)

    def _say_what_drops(self, server: str) -> None:
        """Warn once where the server itself drops most of the headers that hold tokens."""
        name = server.partition("/")[0]
        if name in _DROPPING and not self._said:
            self._said = True
            _log.warning("%s drops headers with an underscore: %s", name, _DROPPING[name])


def _path(environ: "WSGIEnvironment") -> str:
    """Return the path percent-encoded: as it was sent, where the server says so.

    PEP 3333 gives it decoded, so that `%2F` looks like `/`. Where that is all there is, the app
    does not see them apart either.
    """
    script, path = str(environ.get("SCRIPT_NAME", "")), str(environ.get("PATH_INFO", ""))
    for name in _AS_SENT:
        sent = _path_of(str(environ.get(name, "")))
        decoded = unquote_to_bytes(sent.encode("latin-1", "replace")).decode("latin-1")
        if decoded == script + path:
            return sent
        if decoded == path:  # what is before it was taken off by a proxy
            return encoded(script.encode("latin-1")) + sent
    return encoded((script + path).encode("latin-1"))


def _path_of(target: str) -> str:
    """Return the path of a request target, which may be a whole URL (RFC 9112 3.2)."""
    if not target.startswith("/"):
        target = _ORIGIN.sub("", target, count=1)
    return target.partition("?")[0]
