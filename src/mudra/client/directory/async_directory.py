"""A copy of the registry for programs on an event loop."""

import asyncio
from pathlib import Path

import httpx2

from mudra.client import clock
from mudra.client.address import checked_url
from mudra.client.async_token_source import AsyncEntityTokenSource
from mudra.client.async_verifier import AsyncTokenVerifier
from mudra.client.directory.copy import DirectoryEntry, PageRefused
from mudra.client.directory.following import (
    Following,
    check_answer,
    check_body,
    check_size,
    role_of,
)
from mudra.client.errors import MudraClientError
from mudra.client.signing.body_signature import SIGNATURE_HEADER
from mudra.client.web.httpx2_auth import AsyncEntityTokenAuth


class AsyncDirectory:
    """Directory for asyncio: the same options, one instance for each event loop."""

    def __init__(  # noqa: PLR0913 -- all but the first three are options with a default
        self,
        registry: str,
        tokens: AsyncEntityTokenSource,
        verifier: AsyncTokenVerifier,
        *,
        file: Path | None = None,
        refresh_seconds: float = 60.0,
        allow_http: bool = False,
        http: httpx2.AsyncClient | None = None,
        steady: clock.Seconds = clock.steady,
    ) -> None:
        address = checked_url(registry, allow_http=allow_http)
        self._following = Following(address, file, refresh_seconds, steady)
        self._auth = AsyncEntityTokenAuth(tokens, allow_http=allow_http)
        self._verifier = verifier
        self._http = http or httpx2.AsyncClient(timeout=30)
        self._refreshing = asyncio.Lock()

    @property
    def age(self) -> float:
        """Seconds since the copy was last proven; infinite for one that comes from the disk."""
        return self._following.age

    async def entry(self, entity_id: str) -> DirectoryEntry | None:
        """Return a live entry; None for an ID that has none, or that we may not see.

        Raises DirectoryUnavailable while there is no proven copy.
        """
        await self._refresh_when_due()
        return self._following.copy.find(entity_id)

    async def entries(self, entity_type: str = "") -> list[DirectoryEntry]:
        """Return the live entries of `AA`, `FIP` or `FIU`, or all, by ID; raises as `entry`."""
        await self._refresh_when_due()
        return self._following.copy.of_type(role_of(entity_type))

    async def check_body(self, entity_id: str, body: bytes, signature: str) -> None:
        """Raise SignatureRefused unless the entity's registered key signed these bytes.

        `signature` is the header `x-jws-signature` of its message.
        """
        check_body(await self.entry(entity_id), entity_id, body, signature)

    async def refresh(self) -> None:
        """Bring the copy up to date now; raises DirectoryUnavailable if that fails."""
        async with self._refreshing:
            failure = await self._ask()
        self._following.check_refresh(failure)

    async def aclose(self) -> None:
        """Close the connections to the registry."""
        await self._http.aclose()

    async def _refresh_when_due(self) -> None:
        # With a proven copy there is no need to wait for another task's refresh.
        if not self._following.must_refresh() or (
            self._refreshing.locked() and self._following.copy.proven
        ):
            return
        async with self._refreshing:
            # Another task may have refreshed it while this one waited.
            if self._following.must_refresh():
                await self._ask()

    async def _ask(self) -> Exception | None:
        """Refresh the copy; return why that failed."""
        failure: Exception | None = InterruptedError("it was interrupted")
        try:
            self._following.begin()
            try:
                await self._follow()
            except PageRefused:
                # The registry may have been restored from a backup: all entries prove themselves.
                self._following.begin_again()
                await self._follow()
            failure = None
        except (httpx2.HTTPError, MudraClientError, PageRefused) as error:
            failure = error
        finally:
            self._following.asked(failure)
        return failure

    async def _follow(self) -> None:
        while self._following.take(await self._page()):
            pass

    async def _page(self) -> bytes:
        async with self._http.stream(
            "GET", self._following.url, auth=self._auth, follow_redirects=False
        ) as answer:
            check_answer(answer.status_code, answer.headers)
            body = bytearray()
            async for chunk in answer.aiter_bytes():
                body += chunk
                check_size(len(body))
        page = bytes(body)
        await self._verifier.check_signature(page, answer.headers.get(SIGNATURE_HEADER, ""))
        return page
