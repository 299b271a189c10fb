"""ASGI middleware: FastAPI, Starlette, Litestar, Django's ASGI and Quart."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Final

from mudra.client import clock
from mudra.client.dpop.key import PROOF_HEADER
from mudra.client.errors import MudraClientError
from mudra.client.verifier import AsyncTokenVerifier
from mudra.client.web.presented_proof import checked_origins, encoded, presented_proof
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
_PROOF: Final = frozenset({PROOF_HEADER.lower().encode()})
_POLICY_VIOLATION: Final = 1008


class EntityTokenMiddleware:
    """Answer 401 to anyone who has no valid Entity Access Token; pass the others on.

    The app finds the caller as `scope["state"]["mudra_entity"]`, an EntityToken. Requests whose
    path is in `public_paths`, such as a health check, are passed on without one. Web sockets are
    refused in the same way. nginx passes headers with an underscore on only with
    `underscores_in_headers on`.

    A token that is bound to a key (DPoP) is accepted with its proof alone, and only where `origins`
    says under which origins peers call the app, such as https://fip.example.org.
    """

    def __init__(
        self,
        app: App,
        verifier: AsyncTokenVerifier,
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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request (ASGI 3)."""
        if scope["type"] not in {"http", "websocket"} or scope["path"] in self._public:
            await self._app(scope, receive, send)
            return
        try:
            proof = presented_proof(
                _values(scope, _PROOF), str(scope.get("method", "GET")), _path(scope), self._origins
            )
            entity = await self._verifier.verify(presented_token(_values(scope, _NAMES)), proof)
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


def _path(scope: Scope) -> str:
    raw = scope.get("raw_path")
    return raw.decode("latin-1") if isinstance(raw, bytes) else encoded(str(scope["path"]).encode())


def _values(scope: Scope, names: frozenset[bytes]) -> list[str]:
    headers = scope.get("headers", [])
    if not isinstance(headers, Iterable):
        return []
    return [value.decode("latin-1") for name, value in headers if bytes(name).lower() in names]
