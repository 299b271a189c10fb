"""Keeps an Entity Access Token at hand, for programs on an event loop."""

import asyncio
import inspect
import random
from collections.abc import Awaitable, Callable

import httpx

from mudra.client import clock
from mudra.client.address import safe
from mudra.client.errors import (
    MudraClientError,
    SecretRefused,
    SecretUnreadable,
    ServiceUnavailable,
)
from mudra.client.grant import GraceWarning, Grant, read_answer
from mudra.client.renewal import PAUSE_SECONDS, Need, Renewal
from mudra.shared.secret_text import SecretText


class AsyncEntityTokenSource:
    """EntityTokenSource for asyncio: the same options, one instance for each event loop.

    `secret_provider` may be a coroutine function.
    """

    def __init__(  # noqa: PLR0913 -- all but the first three are options with a default
        self,
        base_url: str,
        entity_id: str,
        secret_provider: Callable[[], str | Awaitable[str]],
        *,
        on_warning: Callable[[GraceWarning], None] | None = None,
        allow_http: bool = False,
        http: httpx.AsyncClient | None = None,
        steady: clock.Seconds = clock.steady,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._url = f"{safe(base_url, allow_http=allow_http)}/v1/entity/token/generate"
        self._entity_id = entity_id
        self._read_secret = secret_provider
        self._http = http or httpx.AsyncClient(timeout=10)
        self._steady = steady
        self._chance = chance
        self._state = Renewal(on_warning)
        self._renewing = asyncio.Lock()

    async def token(self) -> str:
        """A token that is good now; raises a MudraClientError when none can be had."""
        need = self._state.need(self._steady())
        held = self._state.good(self._steady())
        if need is Need.WAIT_FOR_ONE or (
            need is Need.RENEW_IF_FREE and not self._renewing.locked()
        ):
            async with self._renewing:
                # Another task may have renewed it while this one waited.
                if self._state.need(self._steady()) is not Need.NOTHING:
                    await self._renew()
        return self._state.present(self._steady(), held).reveal()

    async def authorization(self) -> str:
        """The value of the Authorization header."""
        return "Bearer " + await self.token()

    def token_was_refused(self, token: str) -> None:
        """Tell that a peer answered 401 to this token: the next call gets another."""
        self._state.refused_elsewhere(token, self._steady())

    async def aclose(self) -> None:
        """Close the connections to the token service."""
        await self._http.aclose()

    async def _renew(self) -> None:
        try:
            held = self._state.secret
            secret = held or await self._read()
            try:
                grant = await self._ask(secret)
            except SecretRefused:
                if held is None or (secret := await self._read()) == held:
                    raise
                grant = await self._ask(secret)
            self._state.succeeded(grant, secret)
        except MudraClientError as error:
            now = self._steady()
            self._state.failed(error, now)
            if self._state.good(now) is None:
                raise

    async def _read(self) -> SecretText:
        try:
            read = self._read_secret()
            return SecretText(await read if inspect.isawaitable(read) else read)
        except Exception as error:
            raise SecretUnreadable.by(error) from error

    async def _ask(self, secret: SecretText) -> Grant:
        asked_at = self._steady()
        try:
            answer = await self._http.post(
                self._url,
                data={"id": self._entity_id, "secret": secret.reveal()},
                follow_redirects=False,
            )
        except httpx.HTTPError as error:
            raise ServiceUnavailable.by(error, PAUSE_SECONDS) from error
        return read_answer(
            answer.status_code, answer.headers, answer.content, asked_at, self._chance()
        )
