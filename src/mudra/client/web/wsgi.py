"""WSGI middleware: Flask, Django and every other framework of PEP 3333."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from mudra.client import clock
from mudra.client.errors import MudraClientError
from mudra.client.verifier import TokenVerifier
from mudra.client.web.refusal_response import refusal_response
from mudra.client.web.token_headers import TOKEN_HEADERS, presented_token

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

ENTITY: Final = "mudra.entity"
"""Where the verified EntityToken is in `environ`."""
_NAMES: Final = tuple(f"HTTP_{name.upper()}" for name in TOKEN_HEADERS)


class EntityTokenMiddleware:
    """Answer 401 to anyone who has no valid Entity Access Token; pass the others on.

    The app finds the caller as `environ["mudra.entity"]`, an EntityToken. Requests whose path is
    in `public_paths`, such as a health check, are passed on without one. gunicorn passes headers
    with an underscore on only with `header_map = "dangerous"`, nginx only with
    `underscores_in_headers on`; `Authorization` needs neither.
    """

    def __init__(
        self,
        app: "WSGIApplication",
        verifier: TokenVerifier,
        *,
        public_paths: Iterable[str] = (),
        wall: clock.Seconds = clock.wall,
    ) -> None:
        self._app = app
        self._verifier = verifier
        self._public = frozenset(public_paths)
        self._wall = wall

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Check one request (PEP 3333)."""
        if environ.get("PATH_INFO", "") in self._public:
            return self._app(environ, start_response)
        values = [str(environ[name]) for name in _NAMES if name in environ]
        try:
            environ[ENTITY] = self._verifier.verify(presented_token(values))
        except MudraClientError as error:
            answer = refusal_response(error, self._wall)
            status = f"{answer.status} {HTTPStatus(answer.status).phrase}"
            start_response(status, list(answer.headers.items()))
            return [answer.body]
        return self._app(environ, start_response)
