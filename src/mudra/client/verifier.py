"""Verifies Entity Access Tokens offline: once, for programs with threads and on an event loop."""

import logging

import httpx2

from mudra.client import clock
from mudra.client.dpop.proof_memory import ProofMemory, UseProof
from mudra.client.entity_token import EntityToken
from mudra.client.exchange import Answer, Connected, Http, NoThread, Request, Work
from mudra.client.signing.body_signature import SIGNATURE_HEADER, signing_key_id
from mudra.client.tasks import OnTasks
from mudra.client.threads import OnThreads, run
from mudra.client.verification.check import Expected
from mudra.client.verification.key_cache import MAX_BYTES
from mudra.client.verification.key_location import KeyFetchError, check_size, check_status, locate
from mudra.client.verification.revocations import MAX_LIST_BYTES, ListRefused, Revocations
from mudra.client.verification.verification import Verification
from mudra.shared.dpop_proof import PresentedProof

_log = logging.getLogger("mudra.client")
_TIMEOUT_S = 5


class _TokenVerifier(Connected[Http]):
    """The work of both twins."""

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
        http: Http | None = None,
        wall: clock.Seconds = clock.wall,
        steady: clock.Seconds = clock.steady,
    ) -> None:
        self._location = locate(issuer, keys_url, ask_metadata=ask_metadata, allow_http=allow_http)
        self._connect(http, _TIMEOUT_S)
        self._verification = Verification(
            Expected(issuer, audience), remember, wall, steady, use_proof or ProofMemory()
        )
        self._revocations = Revocations(issuer, max_revocation_age, wall, steady)
        self._reads_revocations = revocations

    @property
    def issuer(self) -> str:
        """The issuer whose tokens and signatures it checks."""
        return self._location.issuer

    async def _verify(self, token: str, proof: PresentedProof | None) -> EntityToken:
        parsed = self._verification.parse(token)
        await self._refresh_keys(parsed.kid)
        verified = self._verification.verify(parsed)
        if self._reads_revocations:
            await self._refresh_revocations()
            self._revocations.check(verified)
        self._verification.check_binding(verified, token, proof)
        return verified

    async def _check_signature(self, body: bytes, signature: str) -> None:
        kid = signing_key_id(signature)
        await self._refresh_keys(kid)
        self._verification.check_signature(kid, body, signature)

    async def _refresh_keys(self, kid: str) -> None:
        if not self._verification.must_fetch(kid):
            return
        await self._take_turn(
            Work(
                name="mudra-keys",
                is_due=lambda: self._verification.must_fetch(kid),
                # With an old but valid key there is no need to wait for another call's fetch.
                must_wait=lambda: not self._verification.has_key(kid),
                run=lambda: self._fetch_keys(kid),
            )
        )

    async def _fetch_keys(self, kid: str) -> None:
        failed = True
        try:
            url = self._location.keys_url or self._location.keys_url_from(
                (await self._get(self._location.metadata_url)).body
            )
            answer = await self._get(url)
            cache_control = answer.headers.get("cache-control", "")
            failed = not self._verification.replace(answer.body, cache_control)
            if failed:
                _log.warning("%s has no RSA key for RS256", url)
        except (httpx2.HTTPError, KeyFetchError) as error:
            _log.warning("keys of %s not refreshed: %s", self._location.issuer, error)
        finally:
            self._verification.fetched(kid, failed=failed)

    async def _refresh_revocations(self) -> None:
        if not self._revocations.must_fetch():
            return
        work = Work(
            name="mudra-revocations",
            is_due=self._revocations.must_fetch,
            # With a list there is no need to wait: a token is checked against it.
            must_wait=lambda: self._revocations.is_empty,
            run=self._fetch_revocations,
            in_background=True,
        )
        try:
            await self._take_turn(work)
        except NoThread as error:
            _log.warning("list %s not refreshed: %s", self._revocations.url, error)
            self._revocations.fetched(failed=True)

    async def _fetch_revocations(self) -> None:
        failed, absent = True, False
        try:
            answer = await self._send(Request(url=self._revocations.url, max_bytes=MAX_LIST_BYTES))
            absent = self._revocations.is_absent(answer.status)
            if not absent:
                signature = answer.headers.get(SIGNATURE_HEADER, "")
                self._revocations.replace(answer.body, signature, self._verification.key)
            failed = False
        except (httpx2.HTTPError, ListRefused) as error:
            _log.warning("list %s not refreshed: %s", self._revocations.url, error)
        finally:
            self._revocations.fetched(failed=failed, absent=absent)

    async def _get(self, url: str) -> Answer:
        answer = await self._send(Request(url=url, max_bytes=MAX_BYTES))
        check_status(url, answer.status)
        check_size(url, len(answer.body))
        return answer


class TokenVerifier(_TokenVerifier[httpx2.Client], OnThreads):
    """Verifies tokens of one issuer; one instance serves all threads of a program.

    `issuer` is the network's base_url, exactly as in `iss`. Give `audience` always:
    left out, no audience is checked. Keys come from `{issuer}/protocol/openid-connect/certs`, from
    `keys_url`, or with `ask_metadata` from the address in the issuer's metadata.
    `remember` caches that many results, so that a token seen again costs no RSA.

    The issuer's list of revoked tokens is read every 15 seconds, unless `revocations`
    is False; with `max_revocation_age` (seconds) no token is accepted while the last
    list is older than that.

    A proof of a key (DPoP) is accepted once: in this process, or wherever `use_proof` looks.

    Raises ValueError for an address that is neither https nor on this machine,
    unless `allow_http` says that the network in between is trusted.
    """

    def verify(self, token: str, proof: PresentedProof | None = None) -> EntityToken:
        """Return the content of a valid token; one that is bound to a key needs its `proof`.

        `token` is the token alone, without `Bearer `. Raises a TokenRefused for what is to be
        answered by 401, and KeysUnavailable or RevocationsUnavailable
        when the issuer was out of reach for too long.
        """
        return run(self._verify(token, proof))

    def check_signature(self, body: bytes, signature: str) -> None:
        """Raise SignatureRefused unless the issuer signed these bytes (RFC 7797).

        So are the registry's answers, in `x-jws-signature`. Raises KeysUnavailable when the
        issuer was out of reach for too long.
        """
        run(self._check_signature(body, signature))


class AsyncTokenVerifier(_TokenVerifier[httpx2.AsyncClient], OnTasks):
    """TokenVerifier for asyncio: the same options, one instance for each event loop."""

    async def verify(self, token: str, proof: PresentedProof | None = None) -> EntityToken:
        """Return the content of a valid token; raises as TokenVerifier.verify does."""
        return await self._verify(token, proof)

    async def check_signature(self, body: bytes, signature: str) -> None:
        """Raise SignatureRefused unless the issuer signed these bytes; see TokenVerifier."""
        await self._check_signature(body, signature)
