"""ASGI middleware: FastAPI, Starlette, Litestar, Django's ASGI and Quart."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Final

from mudra.client import clock
from mudra.client.async_verifier import AsyncTokenVerifier
from mudra.client.errors import MudraClientError
from mudra.client.web.refusal_response import refusal_response
from mudra.client.web.token_headers import TOKEN_HEADERS, presented_token

Scope = MutableMapping[str, object]
Message = MutableMapping[str, object]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

ENTITY: Final = "mudra_entity"
"""Where the verified EntityToken is: `scope["state"]`, so `request.state.mudra_entity`."""
_NAMES: Final = frozenset(name.lower().encode() for name in TOKEN_HEADERS)
_POLICY_VIOLATION: Final = 1008


class EntityTokenMiddleware:
    """Answer 401 to anyone who has no valid Entity Access Token; pass the others on.

    The app finds the caller as `scope["state"]["mudra_entity"]`, an EntityToken. Requests whose
    path is in `public_paths`, such as a health check, are passed on without one. Web sockets are
    refused in the same way. nginx passes headers with an underscore on only with
    `underscores_in_headers on`.
    """

    def __init__(
        self,
        app: App,
        verifier: AsyncTokenVerifier,
        *,
        public_paths: Iterable[str] = (),
        wall: clock.Seconds = clock.wall,
    ) -> None:
        self._app = app
        self._verifier = verifier
        self._public = frozenset(public_paths)
        self._wall = wall

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request (ASGI 3)."""
        if scope["type"] not in {"http", "websocket"} or scope["path"] in self._public:
            await self._app(scope, receive, send)
            return
        try:
            entity = await self._verifier.verify(presented_token(_values(scope)))
        except MudraClientError as error:
            await self._refuse(scope, send, error)
            return
        state = scope.setdefault("state", {})
        if not isinstance(state, MutableMapping):
            raise TypeError("scope['state'] is no mapping; a middleware before this one changed it")
        state[ENTITY] = entity
        await self._app(scope, receive, send)

    async def _refuse(self, scope: Scope, send: Send, error: MudraClientError) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
            return
        answer = refusal_response(error, self._wall)
        headers = [(name.lower().encode(), text.encode()) for name, text in answer.headers.items()]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body})


def _values(scope: Scope) -> list[str]:
    headers = scope.get("headers", [])
    if not isinstance(headers, Iterable):
        return []
    return [value.decode("latin-1") for name, value in headers if bytes(name).lower() in _NAMES]
