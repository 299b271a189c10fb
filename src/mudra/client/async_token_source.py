"""Keeps a valid Entity Access Token, for programs on an event loop."""

import asyncio
import inspect
import random
from collections.abc import Awaitable, Callable

import httpx2

from mudra.client import clock
from mudra.client.address import checked_url
from mudra.client.bounded import aread_bounded
from mudra.client.dpop.key import PROOF_HEADER, DpopKey
from mudra.client.errors import (
    MudraClientError,
    SecretRefused,
    SecretUnreadable,
    ServiceUnavailable,
)
from mudra.client.grant import BEARER, DPOP, GraceWarning, Grant, read_response
from mudra.client.renewal import PAUSE_SECONDS, Renewal, RenewalNeed
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
        dpop: DpopKey | None = None,
        http: httpx2.AsyncClient | None = None,
        steady: clock.Seconds = clock.steady,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._url = f"{checked_url(base_url, allow_http=allow_http)}/v1/entity/token/generate"
        self._entity_id = entity_id
        self._secret_provider = secret_provider
        self._http = http or httpx2.AsyncClient(timeout=10)
        self._steady = steady
        self._chance = chance
        self._renewal = Renewal(on_warning)
        self.dpop = dpop
        """The key that its tokens are bound to, if they are."""
        self._renewing = asyncio.Lock()

    @property
    def warning(self) -> GraceWarning | None:
        """Set while the secret in use is in its grace period."""
        return self._renewal.warning

    @property
    def error(self) -> MudraClientError | None:
        """Return why the last renewal failed; None after a success."""
        return self._renewal.error

    async def token(self) -> str:
        """Return a valid token; raises a MudraClientError when there is none."""
        return await self._token(waits=False)

    async def token_instead_of(self, refused: str) -> str:
        """Return another token than the one that a peer refused; the same while there is none.

        It waits for a renewal by another task, so that no task keeps the refused one. Raises as
        `token` does.
        """
        self.token_was_refused(refused)
        return await self._token(waits=True)

    async def _token(self, *, waits: bool) -> str:
        need = self._renewal.need(self._steady())
        current = self._renewal.valid_token(self._steady())
        if need is RenewalNeed.REQUIRED or (
            need is RenewalNeed.DUE and (waits or not self._renewing.locked())
        ):
            async with self._renewing:
                # Another task may have renewed it while this one waited.
                if self._renewal.need(self._steady()) is not RenewalNeed.NONE:
                    await self._renew()
        return self._renewal.token_to_use(self._steady(), current).reveal()

    async def authorization(self) -> str:
        """Return the value of the Authorization header."""
        return f"{DPOP if self.dpop else BEARER} " + await self.token()

    def token_was_refused(self, token: str) -> None:
        """Report that a peer answered 401 to this token: the next call asks for another.

        While the token service gives none, the token stays in use: other peers may accept it.
        """
        self._renewal.token_was_refused(token, self._steady())

    async def aclose(self) -> None:
        """Close the connections to the token service."""
        await self._http.aclose()

    async def _renew(self) -> None:
        try:
            known = self._renewal.secret
            secret = known or await self._read_secret()
            try:
                grant = await self._request(secret)
            except SecretRefused:
                if known is None or (secret := await self._read_secret()) == known:
                    raise
                grant = await self._request(secret)
            self._renewal.succeeded(grant, secret)
        except MudraClientError as error:
            now = self._steady()
            self._renewal.failed(error, now)
            if self._renewal.valid_token(now) is None:
                raise

    async def _read_secret(self) -> SecretText:
        try:
            secret = self._secret_provider()
            return SecretText(await secret if inspect.isawaitable(secret) else secret)
        except SecretUnreadable:
            raise
        except Exception as error:
            raise SecretUnreadable.by(error) from error

    async def _request(self, secret: SecretText) -> Grant:
        sent_at = self._steady()
        form = {"id": self._entity_id, "secret": secret.reveal()}
        headers = {PROOF_HEADER: self.dpop.proof("POST", self._url)} if self.dpop else {}
        try:
            async with self._http.stream(
                "POST", self._url, data=form, headers=headers, follow_redirects=False
            ) as response:
                body = await aread_bounded(response)
        except httpx2.HTTPError as error:
            raise ServiceUnavailable.by(error, PAUSE_SECONDS) from error
        return read_response(
            *(response.status_code, response.headers, body, sent_at, self._chance()),
            bound=self.dpop is not None,
        )
