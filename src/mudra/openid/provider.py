"""One OpenID Connect provider: its metadata and keys, the way there, and the exchange of a code.

Metadata and keys are fetched when they are first needed and every ten minutes; keys also when a
token names one that is not known, at most once a minute. Nothing is fetched at start: a provider
that is down stops no one but those who sign in by it.
"""

import asyncio
import base64
import hashlib
import ssl
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import cache
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

import httpx2
import msgspec
import structlog
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from msgspec import Struct

from mudra.identity.single_sign_on.ports import ProviderFailed, SignOnRequest
from mudra.identity.single_sign_on.terms import SignOnTerms
from mudra.openid.id_token import ExpectedToken, TokenNotAccepted, verify
from mudra.shared.network_address import is_loopback
from mudra.shared.secret_text import SecretText
from mudra.shared.text.undecodable import UNDECODABLE

MAX_BYTES: Final = 256 * 1024
WHOLE_S: Final = 10.0
_CONNECT_S: Final = 3.0


class ProviderUnreachable(Exception):
    """The provider did not answer as it must; the text is a word for the log, nothing it sent."""


def is_safe(url: str) -> bool:
    """Return whether a URL is https, or of this machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))


async def get_object(url: str) -> Mapping[str, object]:
    """Fetch a JSON object."""
    return await _exchanged(httpx2.Request("GET", url, headers={"Accept": "application/json"}))


async def post_form(
    url: str, form: Mapping[str, str], headers: Mapping[str, str]
) -> Mapping[str, object]:
    """Send a form and return the JSON object that answers it."""
    accepted = {"Accept": "application/json", **headers}
    return await _exchanged(httpx2.Request("POST", url, data=dict(form), headers=accepted))


async def _exchanged(request: httpx2.Request) -> Mapping[str, object]:
    if not is_safe(str(request.url)):
        raise ProviderUnreachable("not-https")
    try:
        async with asyncio.timeout(WHOLE_S):
            return await _answered(request)
    except TimeoutError as error:
        raise ProviderUnreachable("no-answer-in-time") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
        raise ProviderUnreachable(type(error).__name__) from error


async def _answered(request: httpx2.Request) -> Mapping[str, object]:
    timeout = httpx2.Timeout(WHOLE_S, connect=_CONNECT_S)
    async with httpx2.AsyncClient(verify=_trusted(), trust_env=False, timeout=timeout) as client:
        response = await client.send(request, stream=True)
        try:
            body = b""
            async for chunk in response.aiter_bytes(16 * 1024):
                body += chunk
                if len(body) > MAX_BYTES:
                    raise ProviderUnreachable("answer-too-large")
        finally:
            await response.aclose()
    if response.status_code != httpx2.codes.OK:
        raise ProviderUnreachable(f"status-{response.status_code}")
    try:
        return msgspec.json.decode(body, type=dict[str, object])
    except UNDECODABLE as error:
        raise ProviderUnreachable("no-json-object") from error


@cache
def _trusted() -> ssl.SSLContext:
    """Returns the trusted authorities, read once."""
    return httpx2.create_ssl_context()


_log = structlog.get_logger()
_FRESH: Final = timedelta(minutes=10)
_AGAIN: Final = timedelta(minutes=1)
_MAX_KEYS: Final = 100
_UNKNOWN_KEY: Final = "InvalidKeyIdError"


class _Metadata(Struct, frozen=True):
    """The metadata of OpenID Connect Discovery 3 that is needed here."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class _Keys(Struct, frozen=True):
    keys: KeySet
    fetched_at: datetime


class OpenIdProvider:
    """Implements `IdentityProvider`."""

    def __init__(
        self,
        terms: SignOnTerms,
        secret: SecretText,
        clock: Callable[[], datetime],
        scopes: str = "openid email profile",
    ) -> None:
        self._terms = terms
        self._secret = secret
        self._clock = clock
        self._scopes = scopes
        self._metadata: tuple[_Metadata, datetime] | None = None
        self._keys: _Keys | None = None

    @property
    def terms(self) -> SignOnTerms:
        """The terms under which it signs operators in."""
        return self._terms

    def now(self) -> datetime:
        """Return the machine's time, which the provider shares; no sandbox moves it."""
        return self._clock()

    async def address(self, request: SignOnRequest) -> str | ProviderFailed:
        """Return where the browser goes."""
        try:
            metadata = await self._known()
        except ProviderUnreachable as failed:
            return _failed("metadata", str(failed))
        challenge = hashlib.sha256(request.verifier.reveal().encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self._terms.client_id,
            "redirect_uri": request.redirect_uri,
            "scope": self._scopes,
            "state": request.state,
            "nonce": request.nonce,
            "code_challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        if request.fresh:
            query |= {"prompt": "login", "max_age": "0"}
        joint = "&" if "?" in metadata.authorization_endpoint else "?"
        return f"{metadata.authorization_endpoint}{joint}{urlencode(query)}"

    async def redeem(
        self, code: str, request: SignOnRequest
    ) -> Mapping[str, object] | ProviderFailed:
        """Exchange a code for verified claims: issuer, audience, nonce, times and signature."""
        try:
            metadata = await self._known()
            answer = await post_form(metadata.token_endpoint, *self._grant(metadata, code, request))
            token = answer.get("id_token")
            if not isinstance(token, str):
                return _failed("token", "no-id-token")
            return await self._verified(metadata, token, request.nonce)
        except (ProviderUnreachable, TokenNotAccepted) as failed:
            return _failed("token", str(failed))

    def _grant(
        self, metadata: _Metadata, code: str, request: SignOnRequest
    ) -> tuple[dict[str, str], dict[str, str]]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": request.redirect_uri,
            "code_verifier": request.verifier.reveal(),
        }
        client_id, secret = self._terms.client_id, self._secret.reveal()
        if "client_secret_basic" in metadata.token_endpoint_auth_methods_supported:
            pair = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"  # RFC 6749 2.3.1
            return form, {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
        return form | {"client_id": client_id, "client_secret": secret}, {}

    async def _verified(self, metadata: _Metadata, token: str, nonce: str) -> Mapping[str, object]:
        expected = ExpectedToken(self._terms.issuer, self._terms.client_id, nonce)
        keys, now = await self._known_keys(metadata, _FRESH), int(self._clock().timestamp())
        try:
            return verify(token, keys, expected, now)
        except TokenNotAccepted as refused:
            if str(refused) != _UNKNOWN_KEY:
                raise
            return verify(token, await self._known_keys(metadata, _AGAIN), expected, now)

    async def _known(self) -> _Metadata:
        now = self._clock()
        if self._metadata is None or now >= self._metadata[1] + _FRESH:
            path = f"{self._terms.issuer.rstrip('/')}/.well-known/openid-configuration"
            try:
                found = msgspec.convert(await get_object(path), _Metadata, strict=True)
            except msgspec.ValidationError as error:
                raise ProviderUnreachable("metadata-incomplete") from error
            urls = (found.authorization_endpoint, found.token_endpoint, found.jwks_uri)
            if found.issuer != self._terms.issuer or not all(is_safe(url) for url in urls):
                raise ProviderUnreachable("metadata-of-another-issuer")
            self._metadata = (found, now)
        return self._metadata[0]

    async def _known_keys(self, metadata: _Metadata, age: timedelta) -> KeySet:
        now = self._clock()
        if self._keys is None or now >= self._keys.fetched_at + age:
            sent = (await get_object(metadata.jwks_uri)).get("keys")
            if not isinstance(sent, list) or len(sent) > _MAX_KEYS:
                raise ProviderUnreachable("keys-incomplete")
            try:
                keys = KeySet.import_key_set({"keys": sent})
            except (JoseError, ValueError, TypeError, LookupError) as error:
                raise ProviderUnreachable("keys-unreadable") from error
            self._keys = _Keys(keys, now)
        return self._keys.keys


def _failed(step: str, reason: str) -> ProviderFailed:
    _log.warning("single sign-on failed", step=step, cause=reason)
    return ProviderFailed(reason)
