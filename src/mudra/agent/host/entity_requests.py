"""The AA's application gives the agent its entity's secret or token, and reads a token.

Applications that were written for the agent in use call these at their start and after a reset of
the secret. They exist only with `credentials.registered`: who can reach the address can then get a
token of the AA.
"""

import asyncio
import json
import re
import uuid
from base64 import urlsafe_b64decode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec

from mudra.agent.clock import SECOND, Clock
from mudra.agent.counting.payload import format_time
from mudra.agent.delivery.registered_credentials import RegisteredTokens
from mudra.agent.host.ingest_response import IngestResponse, RequestError
from mudra.client import MudraClientError
from mudra.shared.text.undecodable import UNDECODABLE

REGISTER: Final = "/sna/v1/entity/register"
TOKEN: Final = "/sna/v1/entity/token/generate"  # noqa: S105 - an address
_CREDENTIAL: Final = re.compile(r"[!-~]{1,8192}")


class Registration(msgspec.Struct, frozen=True):
    """The message of the application; of both, the token is used until it is refused."""

    entity_id: str
    secret: str | None = None
    token: str | None = None


@dataclass(frozen=True, slots=True)
class EntityRequests:
    """The two requests of one agent."""

    aa_id: str
    tokens: RegisteredTokens
    clock: Clock
    registered: Callable[[], None]
    """Called after a registration: what waits is sent again."""

    async def register(self, body: bytes) -> IngestResponse:
        """Keep secret and token of this AA; they are on the disk before the answer."""
        try:
            sent = msgspec.json.decode(body, type=Registration)
        except UNDECODABLE as error:
            # The text of a validation error names fields and types, never a value.
            raise _invalid(f"the body cannot be read: {error}") from None
        if sent.entity_id != self.aa_id:
            raise _invalid(f"entity_id must be {self.aa_id}, the AA of this agent")
        if not sent.secret and not sent.token:
            raise _invalid("secret or token must be given")
        for name, value in (("secret", sent.secret), ("token", sent.token)):
            if value and not _CREDENTIAL.fullmatch(value):
                raise _invalid(f"{name} must be 1 to 8192 visible ASCII characters without spaces")
        try:
            await asyncio.to_thread(self.tokens.register, sent.secret or "", sent.token or "")
        except OSError as error:
            raise RequestError(
                503, "ServiceUnavailable", f"it cannot be written: {error.strerror}"
            ) from None
        self.registered()
        answer = {
            "message": "Entity registration received successfully",
            "entity_id": self.aa_id,
            "status": "registered",
        }
        return IngestResponse(200, msgspec.json.encode(answer))

    async def generate(self) -> IngestResponse:
        """Return the Entity Access Token that the agent pushes with."""
        try:
            token = await self.tokens.token()
        except MudraClientError as error:
            raise RequestError(503, "ServiceUnavailable", str(error)) from None
        now = self.clock.wall()
        answer = {
            "ver": "1.0.0",
            "timestamp": format_time(now),
            "txnId": str(uuid.uuid4()),
            "accessToken": token,
            "expiresIn": _seconds_left(token, now),
            "tokenType": "Bearer",
        }
        return IngestResponse(
            200, msgspec.json.encode(answer), headers=((b"cache-control", b"no-store"),)
        )


def _invalid(message: str) -> RequestError:
    return RequestError(400, "InvalidRequest", message)


def _seconds_left(token: str, now: int) -> int:
    """Return how long our own token is valid, by its `exp`; 0 for one that has none."""
    try:
        claims = json.loads(urlsafe_b64decode(token.split(".")[1] + "=="))
        return max(0, int(claims["exp"]) - now // SECOND)
    except (IndexError, KeyError, TypeError, ValueError):
        return 0
