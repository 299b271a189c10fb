"""Keeps a valid Entity Access Token: once, for programs with threads and on an event loop."""

import inspect
import logging
import random
import re
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import httpx2

from mudra.client import clock
from mudra.client.address import checked_url
from mudra.client.dpop.key import PROOF_HEADER, DpopKey
from mudra.client.errors import (
    PAUSE_SECONDS,
    MudraClientError,
    SecretRefused,
    SecretUnreadable,
    ServiceUnavailable,
)
from mudra.client.exchange import ANSWER_BYTES, Connected, Http, Request, Work
from mudra.client.grant import BEARER, DPOP, GraceWarning, Grant, read_response
from mudra.client.renewal import Renewal, RenewalNeed
from mudra.client.tasks import OnTasks
from mudra.client.threads import OnThreads, run
from mudra.shared.secret_text import SecretText

_TIMEOUT_S = 10
_NO_SECRET = re.compile("[\\0\ud800-\udfff]")
_log = logging.getLogger("mudra.client")
_Secret = TypeVar("_Secret", bound=str | Awaitable[str])


class _TokenSource(Connected[Http], Generic[Http, _Secret]):
    """The work of both twins."""

    def __init__(  # noqa: PLR0913 -- all but the first three are options with a default
        self,
        base_url: str,
        entity_id: str,
        secret_provider: Callable[[], _Secret],
        *,
        on_warning: Callable[[GraceWarning], None] | None = None,
        allow_http: bool = False,
        dpop: DpopKey | None = None,
        http: Http | None = None,
        steady: clock.Seconds = clock.steady,
        chance: Callable[[], float] = random.random,
    ) -> None:
        address = checked_url(base_url, allow_http=allow_http)
        if address.endswith("/v1"):
            raise ValueError(f"leave /v1 out of base_url: {address.removesuffix('/v1')}")
        if not callable(secret_provider):
            given = type(secret_provider).__name__
            raise TypeError(
                f"secret_provider must be a function that returns the secret, not {given}"
            )
        self._url = f"{address}/v1/entity/token/generate"
        self._entity_id = entity_id
        self._secret_provider = secret_provider
        self._connect(http, _TIMEOUT_S)
        self._steady = steady
        self._chance = chance
        self._renewal = Renewal(on_warning)
        self.dpop = dpop
        """The key that its tokens are bound to, if they are."""

    @property
    def entity_id(self) -> str:
        """The entity whose token it keeps."""
        return self._entity_id

    @property
    def warning(self) -> GraceWarning | None:
        """Set while the secret in use is in its grace period."""
        return self._renewal.warning

    @property
    def error(self) -> MudraClientError | None:
        """The reason why the last renewal failed; None after a success."""
        return self._renewal.error

    def token_was_refused(self, token: str) -> None:
        """Report that a peer answered 401 to this token: the next call asks for another.

        While the token service gives none, the token stays in use: other peers may accept it.
        """
        self._renewal.token_was_refused(token, self._steady())

    async def _token(self, *, waits: bool = False) -> str:
        current = self._renewal.valid_token(self._steady())
        await self._take_turn(
            Work(
                name="mudra-token",
                is_due=lambda: self._renewal.need(self._steady()) is not RenewalNeed.NONE,
                must_wait=lambda: waits or self._renewal.valid_token(self._steady()) is None,
                run=self._renew,
            )
        )
        return self._renewal.token_to_use(self._steady(), current).reveal()

    async def _token_instead_of(self, refused: str) -> str:
        self.token_was_refused(refused)
        return await self._token(waits=True)

    async def _authorization(self) -> str:
        return f"{DPOP if self.dpop else BEARER} " + await self._token()

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
            given: object = self._secret_provider()
            secret = await given if inspect.isawaitable(given) else given
        except SecretUnreadable:
            raise
        except Exception as error:
            raise SecretUnreadable.by(error) from error
        # A file ends with a line feed, and may begin with a mark: neither is of the secret.
        text = secret.rstrip("\r\n").removeprefix("\ufeff") if isinstance(secret, str) else ""
        if not text or _NO_SECRET.search(text):
            raise SecretUnreadable.of(text if isinstance(secret, str) else secret)
        if text != secret:
            _log.debug(
                "secret_provider %s: a line end or byte order mark of its secret is left out",
                getattr(self._secret_provider, "__qualname__", "of this source"),
            )
        return SecretText(text)

    async def _request(self, secret: SecretText) -> Grant:
        sent_at = self._steady()
        request = Request(
            url=self._url,
            max_bytes=ANSWER_BYTES,
            form={"id": self._entity_id, "secret": secret.reveal()},
            headers={PROOF_HEADER: self.dpop.proof("POST", self._url)} if self.dpop else {},
            reads_errors=True,
        )
        try:
            answer = await self._send(request)
        except httpx2.HTTPError as error:
            raise ServiceUnavailable.by(error, PAUSE_SECONDS) from error
        return read_response(
            *(answer.status, answer.headers, answer.body, sent_at, self._chance()),
            bound=self.dpop is not None,
        )


class EntityTokenSource(_TokenSource[httpx2.Client, str], OnThreads):
    """One entity's token, shared by all threads of a program.

    `secret_provider` returns the secret as `str`, from where the program stores it; None, bytes and
    an empty text raise SecretUnreadable. It is called again after a 401 and while the secret is in
    its grace period, so a rotation needs no restart. A line feed at its end is left out. The token
    is renewed at 80 % of its life by one caller while the others continue to use it. `on_warning`
    is called once when the secret in use will end.

    With `dpop` the tokens are bound to that key: each request with one needs a proof, which
    EntityTokenAuth makes.

    Raises ValueError for an address that is neither https nor on this machine,
    unless `allow_http` says that the network in between is trusted.
    """

    def token(self) -> str:
        """Return a valid token; raises a MudraClientError when there is none."""
        return run(self._token())

    def token_instead_of(self, refused: str) -> str:
        """Return another token than the one that a peer refused; the same while there is none.

        It waits for a renewal by another thread, so that no thread keeps the refused one. Raises
        as `token` does.
        """
        return run(self._token_instead_of(refused))

    def authorization(self) -> str:
        """Return the value of the Authorization header."""
        return run(self._authorization())


class AsyncEntityTokenSource(_TokenSource[httpx2.AsyncClient, str | Awaitable[str]], OnTasks):
    """EntityTokenSource for asyncio: the same options, one instance for each event loop.

    `secret_provider` may be a coroutine function.
    """

    async def token(self) -> str:
        """Return a valid token; raises as EntityTokenSource.token does."""
        return await self._token()

    async def token_instead_of(self, refused: str) -> str:
        """Return another token than a refused one, as EntityTokenSource.token_instead_of does."""
        return await self._token_instead_of(refused)

    async def authorization(self) -> str:
        """Return the value of the Authorization header."""
        return await self._authorization()
