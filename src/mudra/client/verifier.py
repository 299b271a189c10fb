"""Verifies Entity Access Tokens offline, for programs with threads."""

import logging

import httpx2

from mudra.client import clock
from mudra.client.dpop.proof_memory import ProofMemory, UseProof
from mudra.client.entity_token import EntityToken
from mudra.client.revocation_follower import RevocationFollower
from mudra.client.signing.body_signature import signing_key_id
from mudra.client.verification.check import Expected
from mudra.client.verification.key_location import KeyFetchError, check_size, check_status, locate
from mudra.client.verification.revocations import Revocations
from mudra.client.verification.verification import Verification
from mudra.shared.dpop_proof import PresentedProof
from mudra.shared.fork_lock import ForkLock

_log = logging.getLogger("mudra.client")


class TokenVerifier:
    """Verifies tokens of one issuer; one instance serves all threads of a program.

    `issuer` is the network's base_url, exactly as in `iss`. `audience` is required
    when given. Keys come from `{issuer}/protocol/openid-connect/certs`, from
    `keys_url`, or with `ask_metadata` from the address in the issuer's metadata.
    `remember` caches that many results, so that a token seen again costs no RSA.

    The issuer's list of revoked tokens is read every 15 seconds, unless `revocations`
    is False; with `max_revocation_age` (seconds) no token is accepted while the last
    list is older than that.

    A proof of a key (DPoP) is accepted once: in this process, or wherever `use_proof` looks.

    Raises ValueError for an address that is neither https nor on this machine,
    unless `allow_http` says that the network in between is trusted.
    """

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
        http: httpx2.Client | None = None,
        wall: clock.Seconds = clock.wall,
        steady: clock.Seconds = clock.steady,
    ) -> None:
        self._location = locate(issuer, keys_url, ask_metadata=ask_metadata, allow_http=allow_http)
        self._http = http or httpx2.Client(timeout=5)
        self._verification = Verification(
            Expected(issuer, audience), remember, wall, steady, use_proof or ProofMemory()
        )
        self._revocations = (
            RevocationFollower(
                Revocations(issuer, max_revocation_age, wall, steady),
                self._http,
                self._verification.key,
            )
            if revocations
            else None
        )
        self._fetching = ForkLock()

    def verify(self, token: str, proof: PresentedProof | None = None) -> EntityToken:
        """Return the content of a valid token; one that is bound to a key needs its `proof`.

        Raises a TokenRefused for what is to be answered by 401, and KeysUnavailable
        or RevocationsUnavailable when the issuer was out of reach for too long.
        """
        parsed = self._verification.parse(token)
        if self._verification.must_fetch(parsed.kid):
            self._refresh(parsed.kid)
        verified = self._verification.verify(parsed)
        if self._revocations is not None:
            self._revocations.check(verified)
        self._verification.check_binding(verified, token, proof)
        return verified

    def check_signature(self, body: bytes, signature: str) -> None:
        """Raise SignatureRefused unless the issuer signed these bytes (RFC 7797).

        So are the registry's answers, in `x-jws-signature`. Raises KeysUnavailable when the
        issuer was out of reach for too long.
        """
        kid = signing_key_id(signature)
        if self._verification.must_fetch(kid):
            self._refresh(kid)
        self._verification.check_signature(kid, body, signature)

    def close(self) -> None:
        """Close the connections to the issuer."""
        self._http.close()

    def _refresh(self, kid: str) -> None:
        # With an old but valid key there is no need to wait for another thread's fetch.
        if not self._fetching.acquire(blocking=not self._verification.has_key(kid)):
            return
        try:
            if self._verification.must_fetch(kid):
                self._fetch(kid)
        finally:
            self._fetching.release()

    def _fetch(self, kid: str) -> None:
        failed = True
        try:
            url = self._location.keys_url or self._location.keys_url_from(
                self._get(self._location.metadata_url)[0]
            )
            body, cache_control = self._get(url)
            failed = not self._verification.replace(body, cache_control)
            if failed:
                _log.warning("%s has no RSA key for RS256", url)
        except (httpx2.HTTPError, KeyFetchError) as error:
            _log.warning("keys of %s not refreshed: %s", self._location.issuer, error)
        finally:
            self._verification.fetched(kid, failed=failed)

    def _get(self, url: str) -> tuple[bytes, str]:
        with self._http.stream("GET", url, follow_redirects=False) as answer:
            check_status(url, answer.status_code)
            body = b""
            for chunk in answer.iter_bytes():
                body += chunk
                check_size(url, len(body))
            return body, answer.headers.get("cache-control", "")
