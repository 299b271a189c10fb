"""Verifies Entity Access Tokens offline, for programs on an event loop."""

import asyncio
import contextlib
import logging

import httpx2

from mudra.client import clock
from mudra.client.async_revocation_follower import AsyncRevocationFollower
from mudra.client.dpop.proof_memory import ProofMemory, UseProof
from mudra.client.entity_token import EntityToken
from mudra.client.signing.body_signature import signing_key_id
from mudra.client.verification.check import Expected
from mudra.client.verification.key_location import KeyFetchError, check_size, check_status, locate
from mudra.client.verification.revocations import Revocations
from mudra.client.verification.verification import Verification
from mudra.shared.dpop_proof import PresentedProof

_log = logging.getLogger("mudra.client")


class AsyncTokenVerifier:
    """TokenVerifier for asyncio: the same options, one instance for each event loop."""

    def __init__(  # noqa: PLR0913 -- all but the first are options with a default
        self,
        issuer: str,
        *,
        audience: str = "",
        keys_url: str = "",
        ask_metadata: bool = False,
        allow_http: bool = False,
        remember: int = 0,
        revocations: bool = True,
        max_revocation_age: float | None = None,
        use_proof: UseProof | None = None,
        http: httpx2.AsyncClient | None = None,
        wall: clock.Seconds = clock.wall,
        steady: clock.Seconds = clock.steady,
    ) -> None:
        self._location = locate(issuer, keys_url, ask_metadata=ask_metadata, allow_http=allow_http)
        self._http = http or httpx2.AsyncClient(timeout=5)
        self._verification = Verification(
            Expected(issuer, audience), remember, wall, steady, use_proof or ProofMemory()
        )
        self._revocations = (
            AsyncRevocationFollower(
                Revocations(issuer, max_revocation_age, wall, steady),
                self._http,
                self._verification.key,
            )
            if revocations
            else None
        )
        self._fetching: asyncio.Task[None] | None = None

    async def verify(self, token: str, proof: PresentedProof | None = None) -> EntityToken:
        """Return the content of a valid token; raises as TokenVerifier.verify does."""
        parsed = self._verification.parse(token)
        if self._verification.must_fetch(parsed.kid):
            await self._refresh(parsed.kid)
        verified = self._verification.verify(parsed)
        if self._revocations is not None:
            await self._revocations.check(verified)
        self._verification.check_binding(verified, token, proof)
        return verified

    async def check_signature(self, body: bytes, signature: str) -> None:
        """Raise SignatureRefused unless the issuer signed these bytes; see TokenVerifier."""
        kid = signing_key_id(signature)
        if self._verification.must_fetch(kid):
            await self._refresh(kid)
        self._verification.check_signature(kid, body, signature)

    async def aclose(self) -> None:
        """Close the connections to the issuer."""
        if self._revocations is not None:
            await self._revocations.aclose()
        if self._fetching is not None:
            self._fetching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._fetching
        await self._http.aclose()

    async def _refresh(self, kid: str) -> None:
        if self._fetching is not None:
            # With an old but valid key there is no need to wait for another call's fetch.
            if self._verification.has_key(kid):
                return
            await asyncio.shield(self._fetching)
            if not self._verification.must_fetch(kid):
                return
        # A task of its own: a call that is cancelled leaves the keys to those who wait for them.
        if self._fetching is None:
            self._fetching = asyncio.create_task(self._fetch(kid), name="mudra-keys")
        await asyncio.shield(self._fetching)

    async def _fetch(self, kid: str) -> None:
        failed = True
        try:
            url = self._location.keys_url or self._location.keys_url_from(
                (await self._get(self._location.metadata_url))[0]
            )
            body, cache_control = await self._get(url)
            failed = not self._verification.replace(body, cache_control)
            if failed:
                _log.warning("%s has no RSA key for RS256", url)
        except (httpx2.HTTPError, KeyFetchError) as error:
            _log.warning("keys of %s not refreshed: %s", self._location.issuer, error)
        finally:
            self._verification.fetched(kid, failed=failed)
            self._fetching = None

    async def _get(self, url: str) -> tuple[bytes, str]:
        async with self._http.stream("GET", url, follow_redirects=False) as answer:
            check_status(url, answer.status_code)
            body = b""
            async for chunk in answer.aiter_bytes():
                body += chunk
                check_size(url, len(body))
            return body, answer.headers.get("cache-control", "")
