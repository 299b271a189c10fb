"""Keeps an Entity Access Token at hand, for programs with threads."""

import random
import threading
from collections.abc import Callable

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


class EntityTokenSource:
    """One entity's token, shared by all threads of a program.

    `secret_provider` reads the secret from where the program keeps it; it is called
    again after a 401 and while the secret is in grace, so a rotation needs no
    restart. The token is renewed at 80 % of its life by one caller while the others
    go on with it. `on_warning` hears once that the secret in use ends.

    Raises ValueError for an address that is neither https nor this machine's own,
    unless `allow_http` says that the network between is trusted.
    """

    def __init__(  # noqa: PLR0913 -- all but the first three are options with a default
        self,
        base_url: str,
        entity_id: str,
        secret_provider: Callable[[], str],
        *,
        on_warning: Callable[[GraceWarning], None] | None = None,
        allow_http: bool = False,
        http: httpx.Client | None = None,
        steady: clock.Seconds = clock.steady,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._url = f"{safe(base_url, allow_http=allow_http)}/v1/entity/token/generate"
        self._entity_id = entity_id
        self._read_secret = secret_provider
        self._http = http or httpx.Client(timeout=10)
        self._steady = steady
        self._chance = chance
        self._state = Renewal(on_warning)
        self._renewing = threading.Lock()

    def token(self) -> str:
        """A token that is good now; raises a MudraClientError when none can be had."""
        need = self._state.need(self._steady())
        held = self._state.good(self._steady())
        if need is not Need.NOTHING and self._renewing.acquire(blocking=need is Need.WAIT_FOR_ONE):
            try:
                # Another thread may have renewed it while this one waited.
                if self._state.need(self._steady()) is not Need.NOTHING:
                    self._renew()
            finally:
                self._renewing.release()
        return self._state.present(self._steady(), held).reveal()

    def authorization(self) -> str:
        """The value of the Authorization header."""
        return "Bearer " + self.token()

    def token_was_refused(self, token: str) -> None:
        """Tell that a peer answered 401 to this token: the next call gets another."""
        self._state.refused_elsewhere(token, self._steady())

    def close(self) -> None:
        """Close the connections to the token service."""
        self._http.close()

    def _renew(self) -> None:
        try:
            held = self._state.secret
            secret = held or self._read()
            try:
                grant = self._ask(secret)
            except SecretRefused:
                if held is None or (secret := self._read()) == held:
                    raise
                grant = self._ask(secret)
            self._state.succeeded(grant, secret)
        except MudraClientError as error:
            now = self._steady()
            self._state.failed(error, now)
            if self._state.good(now) is None:
                raise

    def _read(self) -> SecretText:
        try:
            return SecretText(self._read_secret())
        except Exception as error:
            raise SecretUnreadable.by(error) from error

    def _ask(self, secret: SecretText) -> Grant:
        asked_at = self._steady()
        try:
            answer = self._http.post(
                self._url,
                data={"id": self._entity_id, "secret": secret.reveal()},
                follow_redirects=False,
            )
        except httpx.HTTPError as error:
            raise ServiceUnavailable.by(error, PAUSE_SECONDS) from error
        return read_answer(
            answer.status_code, answer.headers, answer.content, asked_at, self._chance()
        )
