"""The secret or the token that the AA's application registered, in a file of the agent's directory.

The directory is closed to others (`spool.py` refuses one that is not), and so is the file.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from mudra.agent.clock import MINUTE, Clock
from mudra.agent.spool.payload_files import sync_folder
from mudra.client import AsyncEntityTokenSource, MudraClientError, SecretUnreadable
from mudra.client.grant import GraceWarning
from mudra.shared.secret_text import SecretText

FILE_NAME: Final = "registered-credentials.json"
REFUSED_PAUSE: Final = 5 * MINUTE
"""After so long a refused token is tried again, where there is no secret: a 401 may have been the
operator's mistake, and no one may be there to register another."""


class _Stored(msgspec.Struct, frozen=True, omit_defaults=True):
    secret: str = ""
    token: str = ""


class RegisteredCredentials:
    """The credentials registered last; a restart keeps it. A damaged file counts as none."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE_NAME
        self._stored = _read(self._path)

    @property
    def token(self) -> SecretText | None:
        """The registered token; None while only a secret is registered, or nothing."""
        return SecretText(self._stored.token) if self._stored.token else None

    @property
    def has_secret(self) -> bool:
        """Return whether a secret is registered, with or without a token."""
        return bool(self._stored.secret)

    def secret(self) -> str:
        """Return the registered secret. Raises SecretUnreadable when there is none."""
        if not self._stored.secret:
            raise SecretUnreadable(
                "no secret is registered with the agent",
                "let the application call POST /sna/v1/entity/register at its start",
            )
        return self._stored.secret

    def store(self, secret: str, token: str) -> None:
        """Keep these in place of what was there.

        It survives a loss of power. Raises OSError.
        """
        stored = _Stored(secret, token)
        fresh = self._path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(msgspec.json.encode(stored))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)
        sync_folder(self._path.parent)
        self._stored = stored


class RegisteredTokens:
    """The registered token until it is refused, else those that the registered secret gets."""

    def __init__(
        self,
        credentials: RegisteredCredentials,
        tokens_by_secret: Callable[[], AsyncEntityTokenSource],
        clock: Clock,
    ) -> None:
        self._credentials, self._tokens_by_secret = credentials, tokens_by_secret
        self._by_secret = tokens_by_secret()
        self._clock = clock
        self._refused_at: int | None = None
        """When the registered token was refused, monotonic; None before."""
        self.dpop = None
        """What is registered is passed on to the application, which could not prove a key."""

    @property
    def warning(self) -> GraceWarning | None:
        """Set while the secret in use is in its grace period."""
        return self._by_secret.warning

    @property
    def error(self) -> MudraClientError | None:
        """Return why the last renewal failed; None after a success."""
        return self._by_secret.error

    def register(self, secret: str, token: str) -> None:
        """Keep these; the next token comes from them, without a pause. Raises OSError."""
        self._credentials.store(secret, token)
        self._by_secret = self._tokens_by_secret()
        self._refused_at = None

    async def token(self) -> str:
        """Return a valid token; raises a MudraClientError when there is none."""
        registered, refused_at = self._credentials.token, self._refused_at
        if registered is None or (refused_at is not None and self._credentials.has_secret):
            return await self._by_secret.token()
        if refused_at is not None and self._clock.monotonic() < refused_at + REFUSED_PAUSE:
            raise SecretUnreadable(
                "the registered token has ended or was refused",
                "let the application register a new one, or the secret",
            )
        return registered.reveal()

    def token_was_refused(self, token: str) -> None:
        """Report that the operator answered 401 to this token."""
        if self._credentials.token == SecretText(token):
            self._refused_at = self._clock.monotonic()
        else:
            self._by_secret.token_was_refused(token)


def _read(path: Path) -> _Stored:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Stored)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return _Stored()
