"""`auth=` of requests: our Entity Access Token, and on wish a signature, on every request.

Without an import of requests: it calls whatever it is given with the prepared request.
"""

from collections.abc import Callable, MutableMapping
from typing import Any, Protocol
from urllib.parse import urlsplit

from mudra.client.address import is_safe
from mudra.client.dpop.key import PROOF_HEADER
from mudra.client.grant import BEARER, DPOP
from mudra.client.signing.body_signature import SIGNATURE_HEADER, BodySigner
from mudra.client.token_source import EntityTokenSource
from mudra.client.web.token_headers import AUTHORIZATION, header_value

_UNAUTHORIZED = 401


class PreparedRequest(Protocol):
    """The part of `requests.PreparedRequest` that is used."""

    method: str | None
    url: str | None
    body: Any
    headers: MutableMapping[str, str]

    def copy(self) -> "PreparedRequest":
        """Return a copy of the request."""

    def register_hook(self, event: str, hook: Callable[..., Any]) -> None:
        """Have the response handed to `hook`."""


class RequestsTokenAuth:
    """Send the token of `source` with every request of `requests`, as `EntityTokenAuth` does.

    `requests.post(url, json=consent, auth=RequestsTokenAuth(tokens, header="aa_api_key"))`, or
    `session.auth = RequestsTokenAuth(tokens)`. After a 401 the request is sent once more with a new
    token, unless its body was a stream. On a redirect the token stays behind: requests would send
    a header other than `Authorization` on to another host.

    Raises ValueError for a request over plain http to another machine, unless `allow_http`, and for
    a body that is a stream where it is to be signed.
    """

    def __init__(
        self,
        source: EntityTokenSource,
        *,
        header: str = AUTHORIZATION,
        signer: BodySigner | None = None,
        allow_http: bool = False,
    ) -> None:
        self._source = source
        self._header = header
        self._signer = signer
        self._allow_http = allow_http

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        """Prepare one request; requests calls it."""
        token = self._source.token()
        self._prepare(request, token)

        def look(response: Any, **options: Any) -> Any:
            return self._answered(response, token, options)

        request.register_hook("response", look)
        return request

    def _prepare(self, request: PreparedRequest, token: str) -> None:
        url = str(request.url)
        parts = urlsplit(url)
        if not is_safe(parts.scheme, parts.hostname or "", allow_http=self._allow_http):
            raise ValueError(
                f"a token is not sent to {parts.hostname} over plain http; use https, or pass"
                " allow_http=True if the network in between is yours"
            )
        key = self._source.dpop
        scheme = BEARER if key is None else DPOP
        request.headers[self._header] = header_value(self._header, token, scheme)
        if key is not None:
            request.headers[PROOF_HEADER] = key.proof(str(request.method), url, token)
        if self._signer is not None:
            request.headers[SIGNATURE_HEADER] = self._signer.sign(_bytes_of(request.body))

    def _answered(self, response: Any, token: str, options: dict[str, Any]) -> Any:
        if response.is_redirect:
            for name in (self._header, PROOF_HEADER, SIGNATURE_HEADER):
                response.request.headers.pop(name, None)
            return response
        if response.status_code != _UNAUTHORIZED or not _is_held(response.request.body):
            return response
        another = self._source.token_instead_of(token)
        if another == token:
            return response
        _ = response.content  # read to its end, so that the connection can be used again
        response.close()
        request = response.request.copy()
        self._prepare(request, another)
        repeated = response.connection.send(request, **options)
        repeated.history.append(response)
        repeated.request = request
        return repeated


def _is_held(body: object) -> bool:
    return body is None or isinstance(body, bytes | str)


def _bytes_of(body: object) -> bytes:
    if not _is_held(body):
        raise ValueError("a body that is a stream cannot be signed; pass its bytes")
    return body.encode() if isinstance(body, str) else body or b""  # type: ignore[return-value]  # a file is refused above
