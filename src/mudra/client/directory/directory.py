"""A copy of the registry: once, for programs with threads and on an event loop."""

from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

import httpx2

from mudra.client import clock
from mudra.client.address import checked_url
from mudra.client.directory.copy import DirectoryEntry, PageRefused
from mudra.client.directory.following import (
    Expected,
    Following,
    check_answer,
    check_body,
    check_size,
    role_of,
)
from mudra.client.errors import MudraClientError
from mudra.client.exchange import Connected, Http, Request, Work
from mudra.client.signing.body_signature import MAX_BODY_BYTES, SIGNATURE_HEADER
from mudra.client.tasks import OnTasks
from mudra.client.threads import OnThreads, run
from mudra.client.token_source import AsyncEntityTokenSource, EntityTokenSource
from mudra.client.verifier import AsyncTokenVerifier, TokenVerifier
from mudra.client.web.httpx2_auth import AsyncEntityTokenAuth, EntityTokenAuth

_TIMEOUT_S = 30
_Tokens = TypeVar("_Tokens", EntityTokenSource, AsyncEntityTokenSource)
_Verifier = TypeVar("_Verifier", TokenVerifier, AsyncTokenVerifier)


class _Directory(Connected[Http], Generic[Http, _Tokens, _Verifier]):
    """The work of both twins."""

    def __init__(  # noqa: PLR0913 -- all but the first three are options with a default
        self,
        registry: str,
        tokens: _Tokens,
        verifier: _Verifier,
        *,
        file: Path | None = None,
        refresh_seconds: float = 60.0,
        allow_http: bool = False,
        http: Http | None = None,
        steady: clock.Seconds = clock.steady,
        wall: clock.Seconds = clock.wall,
    ) -> None:
        address = checked_url(registry, allow_http=allow_http)
        expected = Expected(verifier.issuer, tokens.entity_id)
        self._following = Following(address, expected, file, refresh_seconds, steady, wall)
        self._verifier: _Verifier = verifier
        self._connect(http, _TIMEOUT_S, self._auth_by(tokens, allow_http=allow_http))

    @abstractmethod
    def _auth_by(self, tokens: _Tokens, *, allow_http: bool) -> httpx2.Auth:
        """Return what sends our token with each request."""

    @abstractmethod
    async def _check_page(self, page: bytes, signature: str) -> None:
        """Raise SignatureRefused unless the registry signed the page."""

    @property
    def age(self) -> float:
        """Seconds since the registry signed what proves the copy; infinite without a copy."""
        return self._following.age

    async def _entry(self, entity_id: str) -> DirectoryEntry | None:
        await self._refresh_when_due()
        return self._following.copy.find(entity_id)

    async def _entries(self, entity_type: str) -> list[DirectoryEntry]:
        await self._refresh_when_due()
        return self._following.copy.of_type(role_of(entity_type))

    async def _check_body(self, entity_id: str, body: bytes, signature: str) -> None:
        check_body(await self._entry(entity_id), entity_id, body, signature)

    async def _refresh(self) -> None:
        await self._ask_once(is_due=lambda: True, must_wait=lambda: True)
        self._following.check_refresh()

    async def _refresh_when_due(self) -> None:
        await self._ask_once(
            is_due=self._following.must_refresh,
            # With a proven copy there is no need to wait for another call's refresh.
            must_wait=lambda: not self._following.copy.proven,
        )

    async def _ask_once(self, is_due: Callable[[], bool], must_wait: Callable[[], bool]) -> None:
        work = Work(name="mudra-directory", is_due=is_due, must_wait=must_wait, run=self._ask)
        await self._take_turn(work)

    async def _ask(self) -> None:
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

    async def _follow(self) -> None:
        while self._following.take(await self._page()):
            pass

    async def _page(self) -> bytes:
        request = Request(url=self._following.url, max_bytes=MAX_BODY_BYTES)
        answer = await self._send(request)
        check_answer(answer.status, answer.headers)
        check_size(len(answer.body))
        await self._check_page(answer.body, answer.headers.get(SIGNATURE_HEADER, ""))
        return answer.body


class Directory(_Directory[httpx2.Client, EntityTokenSource, TokenVerifier], OnThreads):
    """The registry's live entries that we may see; one instance serves all threads.

    `registry` is its address, such as `https://registry.example.org/cr/v2`. `tokens` are ours;
    `verifier` checks that the registry signed each answer. With `file` the copy is on disk too,
    and a program that starts while the registry is down uses it.

    A lookup refreshes the copy when it is older than `refresh_seconds`, with the changes since
    then. The registry's hash proves that nothing is missing. An answer is taken over only while it
    is valid, of this registry and for us, and never one from before the last: no one in between
    can hide a change by repeating an old answer. While the registry is out of reach, lookups go on
    with the last proven copy; `age` says how old it is.

    Raises ValueError for an address that is neither https nor on this machine, unless
    `allow_http`; OSError for a file that cannot be read.
    """

    def entry(self, entity_id: str) -> DirectoryEntry | None:
        """Return a live entry; None for an ID that has none, or that we may not see.

        Raises DirectoryUnavailable while there is no proven copy.
        """
        return run(self._entry(entity_id))

    def entries(self, entity_type: str = "") -> list[DirectoryEntry]:
        """Return the live entries of `AA`, `FIP` or `FIU`, or all, by ID; raises as `entry`."""
        return run(self._entries(entity_type))

    def check_body(self, entity_id: str, body: bytes, signature: str) -> None:
        """Raise SignatureRefused unless the entity's registered key signed these bytes.

        `signature` is the header `x-jws-signature` of its message.
        """
        run(self._check_body(entity_id, body, signature))

    def refresh(self) -> None:
        """Bring the copy up to date now; raises DirectoryUnavailable if that fails."""
        run(self._refresh())

    def _auth_by(self, tokens: EntityTokenSource, *, allow_http: bool) -> httpx2.Auth:
        return EntityTokenAuth(tokens, allow_http=allow_http)

    async def _check_page(self, page: bytes, signature: str) -> None:
        self._verifier.check_signature(page, signature)


class AsyncDirectory(
    _Directory[httpx2.AsyncClient, AsyncEntityTokenSource, AsyncTokenVerifier], OnTasks
):
    """Directory for asyncio: the same options, one instance for each event loop."""

    async def entry(self, entity_id: str) -> DirectoryEntry | None:
        """Return a live entry; raises as Directory.entry does."""
        return await self._entry(entity_id)

    async def entries(self, entity_type: str = "") -> list[DirectoryEntry]:
        """Return the live entries of `AA`, `FIP` or `FIU`, or all, by ID; raises as `entry`."""
        return await self._entries(entity_type)

    async def check_body(self, entity_id: str, body: bytes, signature: str) -> None:
        """Raise SignatureRefused unless the entity's registered key signed these bytes."""
        await self._check_body(entity_id, body, signature)

    async def refresh(self) -> None:
        """Bring the copy up to date now; raises DirectoryUnavailable if that fails."""
        await self._refresh()

    def _auth_by(self, tokens: AsyncEntityTokenSource, *, allow_http: bool) -> httpx2.Auth:
        return AsyncEntityTokenAuth(tokens, allow_http=allow_http)

    async def _check_page(self, page: bytes, signature: str) -> None:
        await self._verifier.check_signature(page, signature)
