"""The entity's ID and secret, and the token that they get.

Read anew for every token, so that a rotation of the secret needs no restart
(decisions part 6). The token is renewed at 80 % of its life (quality G10).
"""

import asyncio
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import msgspec

from mudra.agent.clock import SECOND, Clock
from mudra.agent.delivery.backoff import Uniform, pause, retry_after
from mudra.shared.secret_text import SecretText

RENEW_AT: Final = (0.75, 0.80)
"""Share of the token's life after which it is renewed; chosen anew for each token."""
COMMAND_SECONDS: Final = 20
_OK: Final = 200
_MAX_ANSWER: Final = 64 * 1024


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where a value comes from: exactly one of these is given."""

    value: str = ""
    file: str = ""
    env: str = ""
    command: tuple[str, ...] = ()

    @property
    def chosen(self) -> tuple[str, ...]:
        """Names of the members that are given."""
        return tuple(name for name in ("value", "file", "env", "command") if getattr(self, name))


class CredentialFault(Exception):
    """Credentials or token could not be had; the sentence says why and what to do."""

    def __init__(self, sentence: str, asked: int | None = None) -> None:
        super().__init__(sentence)
        self.asked = asked


@dataclass(frozen=True, slots=True)
class Credentials:
    """What the entity shows to get a token."""

    entity_id: str
    secret: SecretText


def read_source(name: str, source: Source) -> str:
    """The value now. Raises CredentialFault with the way out."""
    try:
        if source.file:
            text = Path(source.file).read_text(encoding="utf-8")
        elif source.env:
            text = os.environ.get(source.env, "")
        elif source.command:
            text = subprocess.run(  # noqa: S603 - the operator's own command, no shell
                source.command, capture_output=True, check=True, text=True, timeout=COMMAND_SECONDS
            ).stdout
        else:
            text = source.value
    except OSError as error:
        raise CredentialFault(
            f"{name} cannot be read: {error.strerror} ({source.file or source.command[0]}); "
            "check that the file is there and that the agent's user may read it"
        ) from None
    except (subprocess.SubprocessError, UnicodeDecodeError) as error:
        raise CredentialFault(
            f"{name}: the command or file gave no readable value ({type(error).__name__}); "
            f"run it as the agent's user, within {COMMAND_SECONDS} s"
        ) from None
    if not text.strip():
        where = source.file or source.env or " ".join(source.command[:1])
        raise CredentialFault(f"{name} is empty ({where}); put the value there")
    return text.strip()


def read_credentials(entity_id: Source, secret: Source) -> Credentials:
    """Both, read now."""
    return Credentials(
        read_source("credentials.id", entity_id),
        SecretText(read_source("credentials.secret", secret)),
    )


class TokenAnswer(msgspec.Struct, frozen=True, rename="camel"):
    """The part of spec 2.2 that the agent needs."""

    access_token: str
    expires_in: int
    message: str = ""
    """Only while the secret is in its grace period, decisions part 3."""


@dataclass(slots=True)
class Tokens:
    """The entity token, got and renewed as needed."""

    http: httpx.AsyncClient
    base_url: str
    read: Callable[[], Credentials]
    clock: Clock
    uniform: Uniform
    warn: Callable[[str], None]
    warning: str = ""
    """The operator's last `message`: the secret is in its grace period."""
    _token: SecretText | None = None
    _renew_at: int = 0
    _ends_at: int = 0
    _failures: int = 0
    _not_before: int = 0
    _turn: asyncio.Lock | None = None

    async def token(self) -> SecretText:
        """A token that is good now. Raises CredentialFault."""
        if self._turn is None:
            self._turn = asyncio.Lock()
        async with self._turn:
            now = self.clock.monotonic()
            if self._token is not None and now < self._renew_at:
                return self._token
            still_good = self._token is not None and now < self._ends_at
            if now < self._not_before:
                if self._token is not None and still_good:
                    return self._token
                raise CredentialFault("queued before the next try to get a token")
            try:
                return await self._renew(self.read)
            except CredentialFault as error:
                self._failures += 1
                self._not_before = now + pause(self._failures, error.asked, self.uniform)
                if self._token is not None and still_good:
                    self.warn(f"the old token stays in use: {error}")
                    return self._token
                raise

    def refused(self, token: SecretText) -> None:
        """The operator did not take this token: the next one is got with fresh credentials."""
        if self._token is not None and self._token == token:
            self._token = None

    async def _renew(self, read: Callable[[], Credentials]) -> SecretText:
        now = self.clock.monotonic()
        credentials = await asyncio.to_thread(read)
        answer = await self._ask(credentials)
        life = answer.expires_in * SECOND
        self._token = SecretText(answer.access_token)
        self._renew_at = now + int(life * self.uniform(*RENEW_AT))
        self._ends_at = now + life
        self._failures = self._not_before = 0
        if answer.message and answer.message != self.warning:
            self.warn(answer.message)
        self.warning = answer.message
        return self._token

    async def _ask(self, credentials: Credentials) -> TokenAnswer:
        form = {"id": credentials.entity_id, "secret": credentials.secret.reveal()}
        url = f"{self.base_url}/v1/entity/token/generate"  # spec 4.4
        try:
            response = await _read(self.http, url, form)
        except httpx.HTTPError as error:
            raise CredentialFault(
                f"the token service at {self.base_url} cannot be reached "
                f"({type(error).__name__}); check operator.token_url, network and proxy"
            ) from None
        status, headers, body = response
        if status != _OK:
            raise CredentialFault(
                f"the token service answered {status} ({_error_code(body)}); "
                "check entity ID and secret, and whether the secret was rotated",
                retry_after(headers, self.clock.wall()),
            )
        try:
            answer = msgspec.json.decode(body, type=TokenAnswer)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise CredentialFault(
                f"what answers at {self.base_url} is not a token service"
            ) from None
        if not answer.access_token or answer.expires_in <= 0:
            raise CredentialFault("the token service answered with an empty or ended token")
        return answer


async def _read(
    http: httpx.AsyncClient, url: str, form: dict[str, str]
) -> tuple[int, httpx.Headers, bytes]:
    async with http.stream("POST", url, data=form) as response:
        return response.status_code, response.headers, await read_bounded(response)


async def read_bounded(response: httpx.Response, most: int = _MAX_ANSWER) -> bytes:
    """The body, up to `most` bytes: an answer of gigabytes must not fill the agent's memory."""
    parts, length = [], 0
    async for part in response.aiter_bytes(16 * 1024):
        parts.append(part)
        length += len(part)
        if length >= most:
            break
    return b"".join(parts)[:most]


def _error_code(body: bytes) -> str:
    """The word of spec part 7; the sentence is the operator's and may be anything."""

    class ErrorBody(msgspec.Struct, rename="camel"):
        error_code: str = ""

    try:
        word = msgspec.json.decode(body, type=ErrorBody).error_code
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "no error code"
    return word[:64] if word.isalnum() else "no error code"
