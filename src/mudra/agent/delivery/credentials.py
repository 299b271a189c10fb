"""The entity's ID and secret, and the token source of the client library that uses them.

The secret is read again whenever the token service refuses it or warns that it
will end, so that a rotation needs no restart.
"""

import asyncio
import os
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, Protocol

import httpx2
import msgspec

from mudra.agent.clock import SECOND, Clock
from mudra.agent.delivery.backoff import Uniform
from mudra.client import AsyncEntityTokenSource, DpopKey, MudraClientError, SecretUnreadable
from mudra.client.dpop.key import PROOF_HEADER
from mudra.client.grant import DPOP, GraceWarning
from mudra.client.web.token_headers import AUTHORIZATION, header_value
from mudra.shared.text.byte_order_mark import NotUtf8, text_without_mark

COMMAND_SECONDS: Final = 20


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The place that a value comes from: exactly one of these is given."""

    value: str = ""
    file: str = ""
    env: str = ""
    command: tuple[str, ...] = ()

    @property
    def chosen(self) -> tuple[str, ...]:
        """Names of the fields that are given."""
        return tuple(name for name in ("value", "file", "env", "command") if getattr(self, name))


class Tokens(Protocol):
    """The place that the agent has its tokens from."""

    @property
    def dpop(self) -> DpopKey | None:
        """The key that they are bound to, if they are."""

    @property
    def warning(self) -> GraceWarning | None:
        """Set while the secret in use is in its grace period."""

    @property
    def error(self) -> MudraClientError | None:
        """Return why the last renewal failed; None after a success."""

    async def token(self) -> str:
        """Return a valid token; raises a MudraClientError when there is none."""

    def token_was_refused(self, token: str) -> None:
        """Report that a peer answered 401 to this token."""


def read_source(name: str, source: Source) -> str:
    """Read the value. Raises SecretUnreadable, which never holds what was read."""
    try:
        if source.file:
            text = text_without_mark(Path(source.file).read_bytes())
        elif source.env:
            text = os.environ.get(source.env, "")
        elif source.command:
            printed = subprocess.run(  # noqa: S603 - the operator's own command, no shell
                source.command, capture_output=True, check=True, timeout=COMMAND_SECONDS
            ).stdout
            text = text_without_mark(printed)
        else:
            text = source.value
    except OSError as error:
        raise SecretUnreadable(
            f"{name} cannot be read: {error.strerror} ({source.file or source.command[0]})",
            "check that the file exists and that the agent's user may read it",
        ) from None
    except NotUtf8 as error:
        where = source.file or source.command[0]
        raise SecretUnreadable(
            f"{name} cannot be read: {error} ({where})", "then it is read again by itself"
        ) from None
    except subprocess.SubprocessError as error:
        raise SecretUnreadable(
            f"{name}: the command gave no value ({type(error).__name__})",
            f"run it as the agent's user, within {COMMAND_SECONDS} s",
        ) from None
    if not text.strip():
        where = source.file or source.env or " ".join(source.command[:1])
        raise SecretUnreadable(f"{name} is empty ({where})", "put the value there")
    return text.strip()


def token_headers(token: str, key: DpopKey | None, url: str) -> dict[str, str]:
    """Return the headers of a POST with a token, and with a new proof of the key it is bound to."""
    if key is None:
        return {AUTHORIZATION: header_value(AUTHORIZATION, token)}
    return {
        AUTHORIZATION: header_value(AUTHORIZATION, token, DPOP),
        PROOF_HEADER: key.proof("POST", url, token),
    }


def token_source(  # its collaborators, each named
    token_url: str,
    entity_id: str,
    read_secret: Callable[[], str],
    http: httpx2.AsyncClient,
    clock: Clock,
    uniform: Uniform,
    dpop: DpopKey | None = None,
) -> AsyncEntityTokenSource:
    """Build the source of the agent's tokens, by the agent's clock and HTTP client."""
    return AsyncEntityTokenSource(
        token_url,
        entity_id,
        partial(asyncio.to_thread, read_secret),
        dpop=dpop,
        allow_http=True,  # agent.toml decides: a sandbox has no TLS
        http=http,
        steady=lambda: clock.monotonic() / SECOND,
        chance=lambda: uniform(0, 1),
    )
