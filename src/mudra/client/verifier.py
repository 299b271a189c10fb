"""Checks Entity Access Tokens offline, for programs with threads."""

import logging
import threading

import httpx

from mudra.client import clock
from mudra.client.check import Expected
from mudra.client.entity_token import EntityToken
from mudra.client.key_location import KeyFetchError, check_size, check_status, locate
from mudra.client.verification import Verification

_log = logging.getLogger("mudra.client")


class TokenVerifier:
    """Verifies tokens of one issuer; one instance serves all threads of a program.

    `issuer` is the network's base_url, exactly as in `iss`. `audience` is asked for
    when given. Keys come from `{issuer}/protocol/openid-connect/certs`, from
    `keys_url`, or with `ask_metadata` from where the issuer's metadata say.
    `remember` keeps that many results, so that a token seen again costs no RSA.

    Raises ValueError for an address that is neither https nor this machine's own,
    unless `allow_http` says that the network between is trusted.
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
        http: httpx.Client | None = None,
        wall: clock.Seconds = clock.wall,
        steady: clock.Seconds = clock.steady,
    ) -> None:
        self._location = locate(issuer, keys_url, ask_metadata=ask_metadata, allow_http=allow_http)
        self._http = http or httpx.Client(timeout=5)
        self._core = Verification(Expected(issuer, audience), remember, wall, steady)
        self._fetching = threading.Lock()

    def verify(self, token: str) -> EntityToken:
        """What the token says, if it may be trusted.

        Raises a TokenRefused for what is to be answered by 401, and KeysUnavailable
        when the issuer was out of reach for longer than its keys are good.
        """
        parsed = self._core.parse(token)
        if self._core.must_fetch(parsed.kid):
            self._refresh(parsed.kid)
        return self._core.verify(parsed)

    def close(self) -> None:
        """Close the connections to the issuer."""
        self._http.close()

    def _refresh(self, kid: str) -> None:
        # Whoever holds an old but good key does not wait for another thread's fetch.
        if not self._fetching.acquire(blocking=not self._core.has_key(kid)):
            return
        try:
            if self._core.must_fetch(kid):
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
            failed = not self._core.replace(body, cache_control)
            if failed:
                _log.warning("%s holds no RSA key for RS256", url)
        except (httpx.HTTPError, KeyFetchError) as error:
            _log.warning("keys of %s not refreshed: %s", self._location.issuer, error)
        finally:
            self._core.fetched(kid, failed=failed)

    def _get(self, url: str) -> tuple[bytes, str]:
        with self._http.stream("GET", url, follow_redirects=False) as answer:
            check_status(url, answer.status_code)
            body = b""
            for chunk in answer.iter_bytes():
                body += chunk
                check_size(url, len(body))
            return body, answer.headers.get("cache-control", "")
