"""Checks Entity Access Tokens offline, for programs with threads."""

import logging
import threading

import httpx

from mudra.client import clock
from mudra.client.check import Expected
from mudra.client.entity_token import EntityToken
from mudra.client.key_answer import KeyAnswerError, check_size, check_status, locate
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
        self._where = locate(issuer, keys_url, ask_metadata=ask_metadata, allow_http=allow_http)
        self._http = http or httpx.Client(timeout=5)
        self._core = Verification(Expected(issuer, audience), remember, wall, steady)
        self._fetching = threading.Lock()

    def verify(self, token: str) -> EntityToken:
        """What the token says, if it may be trusted.

        Raises a TokenRefused for what is to be answered by 401, and KeysUnavailable
        when the issuer was out of reach for longer than its keys are good.
        """
        presented = self._core.open(token)
        if self._core.must_fetch(presented.kid):
            self._refresh(presented.kid)
        return self._core.conclude(presented)

    def close(self) -> None:
        """Close the connections to the issuer."""
        self._http.close()

    def _refresh(self, kid: str) -> None:
        # Whoever holds an old but good key does not wait for another thread's fetch.
        if not self._fetching.acquire(blocking=not self._core.can_do_without(kid)):
            return
        try:
            if self._core.must_fetch(kid):
                self._fetch(kid)
        finally:
            self._fetching.release()

    def _fetch(self, kid: str) -> None:
        self._core.begin_fetch(kid)
        try:
            url = self._where.keys_url or self._where.keys_url_from(
                self._get(self._where.metadata_url)[0]
            )
            body, cache_control = self._get(url)
            if not self._core.take(body, cache_control):
                raise KeyAnswerError(f"{url} holds no RSA key for RS256")  # noqa: TRY301 -- one way out for all
        except (httpx.HTTPError, KeyAnswerError) as error:
            _log.warning("keys of %s not refreshed: %s", self._where.issuer, error)

    def _get(self, url: str) -> tuple[bytes, str]:
        with self._http.stream("GET", url, follow_redirects=False) as answer:
            check_status(url, answer.status_code)
            body = b""
            for chunk in answer.iter_bytes():
                body += chunk
                check_size(url, len(body))
            return body, answer.headers.get("cache-control", "")
