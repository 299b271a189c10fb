"""Keeps a valid Entity Access Token, for programs with threads."""

import random
from collections.abc import Callable

import httpx2

from mudra.client import clock
from mudra.client.address import checked_url
from mudra.client.bounded import read_bounded
from mudra.client.dpop.key import PROOF_HEADER, DpopKey
from mudra.client.errors import (
    MudraClientError,
    SecretRefused,
    SecretUnreadable,
    ServiceUnavailable,
)
from mudra.client.grant import BEARER, DPOP, GraceWarning, Grant, read_response
from mudra.client.renewal import PAUSE_SECONDS, Renewal, RenewalNeed
from mudra.shared.fork_lock import ForkLock
from mudra.shared.secret_text import SecretText


class EntityTokenSource:
    """One entity's token, shared by all threads of a program.

    `secret_provider` reads the secret from where the program stores it; it is called
    again after a 401 and while the secret is in its grace period, so a rotation needs
    no restart. The token is renewed at 80 % of its life by one caller while the others
    continue to use it. `on_warning` is called once when the secret in use will end.

    With `dpop` the tokens are bound to that key: each request with one needs a proof, which
    EntityTokenAuth makes.

    Raises ValueError for an address that is neither https nor on this machine,
    unless `allow_http` says that the network in between is trusted.
    """

    def __init__(  # noqa: PLR0913 -- all but the first three are options with a default
        self,
        base_url: str,
        entity_id: str,
        secret_provider: Callable[[], str],
        *,
        on_warning: Callable[[GraceWarning], None] | None = None,
        allow_http: bool = False,
        dpop: DpopKey | None = None,
        http: httpx2.Client | None = None,
        steady: clock.Seconds = clock.steady,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._url = f"{checked_url(base_url, allow_http=allow_http)}/v1/entity/token/generate"
        self._entity_id = entity_id
        self._secret_provider = secret_provider
        self._http = http or httpx2.Client(timeout=10)
        self._steady = steady
        self._chance = chance
        self._renewal = Renewal(on_warning)
        self.dpop = dpop
        """The key that its tokens are bound to, if they are."""
        self._renewing = ForkLock()

    @property
    def warning(self) -> GraceWarning | None:
        """Set while the secret in use is in its grace period."""
        return self._renewal.warning

    @property
    def error(self) -> MudraClientError | None:
        """Return why the last renewal failed; None after a success."""
        return self._renewal.error

    def token(self) -> str:
        """Return a valid token; raises a MudraClientError when there is none."""
        return self._token(waits=False)

    def token_instead_of(self, refused: str) -> str:
        """Return another token than the one that a peer refused; the same while there is none.

        It waits for a renewal by another thread, so that no thread keeps the refused one. Raises
        as `token` does.
        """
        self.token_was_refused(refused)
        return self._token(waits=True)

    def _token(self, *, waits: bool) -> str:
        need = self._renewal.need(self._steady())
        current = self._renewal.valid_token(self._steady())
        if need is not RenewalNeed.NONE and self._renewing.acquire(
            blocking=waits or need is RenewalNeed.REQUIRED
        ):
            try:
                # Another thread may have renewed it while this one waited.
                if self._renewal.need(self._steady()) is not RenewalNeed.NONE:
                    self._renew()
            finally:
                self._renewing.release()
        return self._renewal.token_to_use(self._steady(), current).reveal()

    def authorization(self) -> str:
        """Return the value of the Authorization header."""
        return f"{DPOP if self.dpop else BEARER} " + self.token()

    def token_was_refused(self, token: str) -> None:
        """Report that a peer answered 401 to this token: the next call asks for another.

        While the token service gives none, the token stays in use: other peers may accept it.
        """
        self._renewal.token_was_refused(token, self._steady())

    def close(self) -> None:
        """Close the connections to the token service."""
        self._http.close()

    def _renew(self) -> None:
        try:
            known = self._renewal.secret
            secret = known or self._read_secret()
            try:
                grant = self._request(secret)
            except SecretRefused:
                if known is None or (secret := self._read_secret()) == known:
                    raise
                grant = self._request(secret)
            self._renewal.succeeded(grant, secret)
        except MudraClientError as error:
            now = self._steady()
            self._renewal.failed(error, now)
            if self._renewal.valid_token(now) is None:
                raise

    def _read_secret(self) -> SecretText:
        try:
            return SecretText(self._secret_provider())
        except SecretUnreadable:
            raise
        except Exception as error:
            raise SecretUnreadable.by(error) from error

    def _request(self, secret: SecretText) -> Grant:
        sent_at = self._steady()
        form = {"id": self._entity_id, "secret": secret.reveal()}
        headers = {PROOF_HEADER: self.dpop.proof("POST", self._url)} if self.dpop else {}
        try:
            with self._http.stream(
                "POST", self._url, data=form, headers=headers, follow_redirects=False
            ) as response:
                body = read_bounded(response)
        except httpx2.HTTPError as error:
            raise ServiceUnavailable.by(error, PAUSE_SECONDS) from error
        return read_response(
            *(response.status_code, response.headers, body, sent_at, self._chance()),
            bound=self.dpop is not None,
        )
