"""WSGI middleware that answers the registry's question for our key; all else goes on."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mudra.client.errors import MudraClientError
from mudra.client.signing.body_signature import SIGNATURE_HEADER
from mudra.client.signing.key_proof import MAX_QUESTION, KeyProof, is_question, signature_of
from mudra.client.verifier import TokenVerifier

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_NAME = f"HTTP_{SIGNATURE_HEADER.upper().replace('-', '_')}"


class KeyProofMiddleware:
    """Answer `POST {base_url}/.well-known/entity-key-proof`, for questions of the issuer alone.

    Put it around EntityTokenMiddleware: the registry sends no token.
    """

    def __init__(self, app: "WSGIApplication", verifier: TokenVerifier, proof: KeyProof) -> None:
        self._app = app
        self._verifier = verifier
        self._proof = proof

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Answer or pass on one request (PEP 3333)."""
        path = str(environ.get("SCRIPT_NAME", "")) + str(environ.get("PATH_INFO", ""))
        if not is_question(str(environ.get("REQUEST_METHOD", "")), path):
            return self._app(environ, start_response)
        try:
            question = _body(environ)
            self._verifier.check_signature(question, signature_of(environ.get(_NAME)))
            body, headers = self._proof.answer(question)
        except MudraClientError:
            start_response("400 Bad Request", [("Content-Length", "0")])
            return [b""]
        sent = [*headers.items(), ("Content-Length", str(len(body)))]
        start_response("200 OK", sent)
        return [body]


def _body(environ: "WSGIEnvironment") -> bytes:
    """Return the body, or nothing of one without a length or with one that is too long."""
    length = str(environ.get("CONTENT_LENGTH") or "")
    if not (length.isascii() and length.isdigit()) or int(length) > MAX_QUESTION:
        return b""
    body = environ["wsgi.input"].read(int(length))
    return body if isinstance(body, bytes) else b""
