"""ASGI middleware that answers the registry's question for our key; all else goes on."""

from collections.abc import Iterable

from mudra.client.errors import MudraClientError
from mudra.client.signing.body_signature import SIGNATURE_HEADER
from mudra.client.signing.key_proof import MAX_QUESTION, KeyProof, is_question, signature_of
from mudra.client.verifier import AsyncTokenVerifier
from mudra.client.web.asgi import App, Receive, Scope, Send

_NAME = SIGNATURE_HEADER.encode()


class KeyProofMiddleware:
    """Answer `POST {base_url}/.well-known/entity-key-proof`, for questions of the issuer alone.

    Put it around EntityTokenMiddleware: the registry sends no token.
    """

    def __init__(self, app: App, verifier: AsyncTokenVerifier, proof: KeyProof) -> None:
        self._app = app
        self._verifier = verifier
        self._proof = proof

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or pass on one request (ASGI 3)."""
        method, path = str(scope.get("method", "")), str(scope.get("path", ""))
        if scope["type"] != "http" or not is_question(method, path):
            await self._app(scope, receive, send)
            return
        question = await _body(receive)
        try:
            await self._verifier.check_signature(question, signature_of(_signature(scope)))
            body, headers = self._proof.answer(question)
        except MudraClientError:
            status, body, headers = 400, b"", {}
        else:
            status = 200
        headers["Content-Length"] = str(len(body))
        sent = [(name.lower().encode(), text.encode()) for name, text in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": sent})
        await send({"type": "http.response.body", "body": body})


async def _body(receive: Receive) -> bytes:
    """Return the body, or nothing of one that is too long."""
    body = b""
    while len(body) <= MAX_QUESTION:
        message = await receive()
        if message["type"] != "http.request":
            return b""
        part = message.get("body", b"")
        body += part if isinstance(part, bytes) else b""
        if not message.get("more_body"):
            return body
    return b""


def _signature(scope: Scope) -> str | None:
    headers = scope.get("headers", [])
    if not isinstance(headers, Iterable):
        return None
    found = [value.decode("latin-1") for name, value in headers if bytes(name).lower() == _NAME]
    return found[0] if len(found) == 1 else None
