"""`auth=` of httpx2: our Entity Access Token, and on wish a signature, on every request."""

from collections.abc import AsyncGenerator, Generator
from typing import Final, Generic, TypeVar

import httpx2

from mudra.client.address import is_safe
from mudra.client.dpop.key import PROOF_HEADER
from mudra.client.grant import BEARER, DPOP
from mudra.client.signing.body_signature import SIGNATURE_HEADER, BodySigner
from mudra.client.token_source import AsyncEntityTokenSource, EntityTokenSource
from mudra.client.web.token_headers import AUTHORIZATION, header_value

_UNAUTHORIZED: Final = 401


_Source = TypeVar("_Source", EntityTokenSource, AsyncEntityTokenSource)


class _TokenAuth(httpx2.Auth, Generic[_Source]):
    requires_request_body = True

    def __init__(
        self,
        source: _Source,
        *,
        header: str = AUTHORIZATION,
        signer: BodySigner | None = None,
        allow_http: bool = False,
    ) -> None:
        self._source: _Source = source
        self._header = header
        self._signer = signer
        self._allow_http = allow_http

    def _prepared(self, request: httpx2.Request, token: str) -> httpx2.Request:
        if not is_safe(request.url.scheme, request.url.host, allow_http=self._allow_http):
            raise ValueError(
                f"a token is not sent to {request.url.host} over plain http; use https, or pass"
                " allow_http=True if the network in between is yours"
            )
        key = self._source.dpop
        scheme = BEARER if key is None else DPOP
        request.headers[self._header] = header_value(self._header, token, scheme)
        if key is not None:
            request.headers[PROOF_HEADER] = key.proof(request.method, str(request.url), token)
        if self._signer is not None:
            request.headers[SIGNATURE_HEADER] = self._signer.sign(request.content)
        return request


class EntityTokenAuth(_TokenAuth[EntityTokenSource]):
    """Send the token of `source` with every request of an `httpx2.Client`.

    `header` is where the peer expects it: one of `mudra.client.TOKEN_HEADERS`. With `signer` the
    body is signed in `x-jws-signature`; where `source` has a key (`dpop`), each request proves it.
    After a 401 the request is sent once more with a new token. Request bodies are held in memory
    for that. Leave redirects off, as httpx2 does: it would send a header other than `Authorization`
    on to another host.

    Raises ValueError for a request over plain http to another machine, unless `allow_http`.
    """

    def auth_flow(
        self, request: httpx2.Request
    ) -> Generator[httpx2.Request, httpx2.Response, None]:
        """Refuse an `httpx2.AsyncClient`, which would send the request without a token."""
        raise TypeError(f"pass AsyncEntityTokenAuth to an httpx2.AsyncClient ({request.url.host})")

    def sync_auth_flow(
        self, request: httpx2.Request
    ) -> Generator[httpx2.Request, httpx2.Response, None]:
        """Yield the request with its token, and again with another after a 401."""
        request.read()
        token = self._source.token()
        response = yield self._prepared(request, token)
        if response.status_code == _UNAUTHORIZED:
            another = self._source.token_instead_of(token)
            if another != token:
                yield self._prepared(request, another)


class AsyncEntityTokenAuth(_TokenAuth[AsyncEntityTokenSource]):
    """EntityTokenAuth for `httpx2.AsyncClient`: the same options."""

    def auth_flow(
        self, request: httpx2.Request
    ) -> Generator[httpx2.Request, httpx2.Response, None]:
        """Refuse an `httpx2.Client`, which would send the request without a token."""
        raise TypeError(f"pass EntityTokenAuth to an httpx2.Client ({request.url.host})")

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Yield the request with its token, and again with another after a 401."""
        await request.aread()
        token = await self._source.token()
        response = yield self._prepared(request, token)
        if response.status_code == _UNAUTHORIZED:
            another = await self._source.token_instead_of(token)
            if another != token:
                yield self._prepared(request, another)
