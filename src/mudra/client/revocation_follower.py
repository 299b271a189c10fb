"""Reads the issuer's list of revoked tokens, for programs with threads."""

import logging
import threading
from collections.abc import Callable

import httpx2
from joserfc.jwk import RSAKey

from mudra.client.entity_token import EntityToken
from mudra.client.verification.revocations import ListRefused, Revocations, check_size
from mudra.shared.fork_lock import ForkLock

_log = logging.getLogger("mudra.client")


class RevocationFollower:
    """Keeps the list of one verifier recent while tokens are verified; nothing runs otherwise."""

    def __init__(
        self,
        revocations: Revocations,
        http: httpx2.Client,
        find_key: Callable[[str], RSAKey | None],
    ) -> None:
        self._revocations = revocations
        self._http = http
        self._find_key = find_key
        self._fetching = ForkLock()

    def check(self, token: EntityToken) -> None:
        """Raise TokenRevoked for a token that ended early, RevocationsUnavailable if none knows."""
        # With a list there is no need to wait: this token is checked against it.
        if self._revocations.must_fetch() and self._fetching.acquire(
            blocking=self._revocations.is_empty
        ):
            if self._revocations.is_empty:
                self._fetch()
            else:
                self._fetch_meanwhile()
        self._revocations.check(token)

    def _fetch_meanwhile(self) -> None:
        try:
            threading.Thread(target=self._fetch, name="mudra-revocations", daemon=True).start()
        except RuntimeError as error:  # the system gives this process no more threads
            _log.warning("list %s not refreshed: %s", self._revocations.url, error)
            self._revocations.fetched(failed=True)
            self._fetching.release()

    def _fetch(self) -> None:
        try:
            # Another thread may have fetched it while this one waited.
            if self._revocations.must_fetch():
                self._receive()
        finally:
            self._fetching.release()

    def _receive(self) -> None:
        failed, absent = True, False
        try:
            with self._http.stream("GET", self._revocations.url, follow_redirects=False) as answer:
                absent = self._revocations.is_absent(answer.status_code)
                body = b""
                for chunk in answer.iter_bytes():
                    body += chunk
                    check_size(len(body))
            if not absent:
                signature = answer.headers.get("x-jws-signature", "")
                self._revocations.replace(body, signature, self._find_key)
            failed = False
        except (httpx2.HTTPError, ListRefused) as error:
            _log.warning("list %s not refreshed: %s", self._revocations.url, error)
        finally:
            self._revocations.fetched(failed=failed, absent=absent)
