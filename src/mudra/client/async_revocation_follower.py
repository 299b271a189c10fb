"""Reads the issuer's list of revoked tokens, for programs on an event loop."""

import asyncio
import contextlib
import logging
from collections.abc import Callable

import httpx2
from joserfc.jwk import RSAKey

from mudra.client.entity_token import EntityToken
from mudra.client.verification.revocations import ListRefused, Revocations, check_size

_log = logging.getLogger("mudra.client")


class AsyncRevocationFollower:
    """RevocationFollower for asyncio: one instance for each event loop."""

    def __init__(
        self,
        revocations: Revocations,
        http: httpx2.AsyncClient,
        find_key: Callable[[str], RSAKey | None],
    ) -> None:
        self._revocations = revocations
        self._http = http
        self._find_key = find_key
        self._fetching: asyncio.Task[None] | None = None

    async def check(self, token: EntityToken) -> None:
        """Raise as RevocationFollower.check does."""
        if self._revocations.must_fetch() and self._fetching is None:
            self._fetching = asyncio.create_task(self._receive(), name="mudra-revocations")
        # With a list there is no need to wait: this token is checked against it.
        if self._fetching is not None and self._revocations.is_empty:
            await asyncio.shield(self._fetching)
        self._revocations.check(token)

    async def aclose(self) -> None:
        """End the request that is under way."""
        if self._fetching is not None:
            self._fetching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._fetching

    async def _receive(self) -> None:
        failed, absent = True, False
        try:
            async with self._http.stream(
                "GET", self._revocations.url, follow_redirects=False
            ) as answer:
                absent = self._revocations.is_absent(answer.status_code)
                body = b""
                async for chunk in answer.aiter_bytes():
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
            self._fetching = None
