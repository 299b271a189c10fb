"""The challenge to a server, and its answer: both are signed apart, in `x-jws-signature`.

The answer names its purpose, its signer and the signer's own address: what one member signs is of
no use at another's address, nor as the body of anything else.
"""

import json
from datetime import datetime
from typing import Final

import msgspec
from msgspec import Struct

from mudra.registry.probe.probe import WaitingProbe
from mudra.shared.time_text import iso_ms

PATH: Final = "/.well-known/entity-key-proof"
PURPOSE: Final = "entity-key-proof"
MAX_ANSWER: Final = 8 * 1024


class _Answer(Struct):
    purpose: str
    entityId: str  # noqa: N815 -- the wire name
    baseUrl: str  # noqa: N815 -- the wire name
    issuer: str
    nonce: str


class Challenge(Struct, frozen=True):
    """The challenge that is sent to `url`, and must be answered."""

    url: str
    issuer: str
    nonce: str
    body: bytes


def new_challenge(waiting: WaitingProbe, issuer: str, nonce: str, now: datetime) -> Challenge:
    """Write the challenge of a probe."""
    body = {
        "purpose": PURPOSE,
        "issuer": issuer,
        "entityId": waiting.entity_id,
        "baseUrl": waiting.base_url,
        "nonce": nonce,
        "timestamp": iso_ms(now),
    }
    url = waiting.base_url.rstrip("/") + PATH
    return Challenge(url, issuer, nonce, json.dumps(body).encode())


def answer_problem(answer: bytes, waiting: WaitingProbe, challenge: Challenge) -> str:
    """Return why an answer, whose signature is right, proves nothing; empty when it does."""
    try:
        read = msgspec.json.decode(answer, type=_Answer)
    except (msgspec.MsgspecError, RecursionError):
        return "the answer is not JSON with purpose, issuer, entityId, baseUrl and nonce"
    expected = {
        "purpose": PURPOSE,
        "issuer": challenge.issuer,
        "entityId": waiting.entity_id,
        "baseUrl": waiting.base_url,
        "nonce": challenge.nonce,
    }
    wrong = [name for name, value in expected.items() if getattr(read, name) != value]
    return f"{wrong[0]} of the answer is another" if wrong else ""
