"""Answers the registry's question whether we hold our registered key.

Only a question that the issuer signed, for our own ID and address, within the last minute, is
answered; and the answer says what it is for: nothing that anyone sends here is signed as it is.
"""

import json
import re
from datetime import UTC, datetime
from typing import Final

import msgspec

from mudra.client import clock
from mudra.client.errors import MudraClientError, SignatureRefused
from mudra.client.signing.body_signature import SIGNATURE_HEADER, BodySigner

PATH: Final = "/.well-known/entity-key-proof"
"""Below the base URL of the entry."""
MAX_QUESTION: Final = 4096
_PURPOSE: Final = "entity-key-proof"
_WINDOW_S: Final = 60
_NONCE: Final = re.compile(r"[A-Za-z0-9_-]{32,128}", re.ASCII)
_WAY_OUT: Final = "answer 400; the registry shows the key as not proven"


class KeyProofRefused(MudraClientError):
    """A question that is not answered: not the registry's, or about another entity or address."""


class _Question(msgspec.Struct):
    purpose: str
    issuer: str
    entityId: str  # noqa: N815 -- the wire name
    baseUrl: str  # noqa: N815 -- the wire name
    nonce: str
    timestamp: datetime


class KeyProof(msgspec.Struct, frozen=True):
    """Answers the registry's questions about our key."""

    entity_id: str
    """Our entity ID."""
    base_url: str
    """Our registered base URL of the newest version, without its `v2:`."""
    issuer: str
    """Base address of the token service."""
    signer: BodySigner
    """Signs by our registered key."""
    wall: clock.Seconds = clock.wall

    def answer(self, question: bytes) -> tuple[bytes, dict[str, str]]:
        """Return body and headers of the answer to a question that the issuer has signed.

        Raises KeyProofRefused for any other question. The signature is to be checked before.
        """
        try:
            asked = msgspec.json.decode(question, type=_Question)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise KeyProofRefused("the question is not of the registry's form", _WAY_OUT) from error
        now = datetime.fromtimestamp(self.wall(), UTC)
        problem = self._problem(asked, now)
        if problem:
            raise KeyProofRefused(problem, _WAY_OUT)
        body = json.dumps(
            {
                "purpose": _PURPOSE,
                "issuer": self.issuer,
                "entityId": self.entity_id,
                "baseUrl": self.base_url,
                "nonce": asked.nonce,
                "timestamp": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            }
        ).encode()
        headers = {"Content-Type": "application/json", SIGNATURE_HEADER: self.signer.sign(body)}
        return body, headers

    def _problem(self, asked: _Question, now: datetime) -> str:
        ours = (_PURPOSE, self.issuer, self.entity_id, self.base_url)
        if (asked.purpose, asked.issuer, asked.entityId, asked.baseUrl) != ours:
            return "the question is for another issuer, entity or base URL"
        if asked.timestamp.tzinfo is None or not _NONCE.fullmatch(asked.nonce):
            return "the question has no time or no nonce of the registry's form"
        if abs((now - asked.timestamp).total_seconds()) > _WINDOW_S:
            return "the question is not of this minute: compare this machine's clock"
        return ""


def is_question(method: str, path: str) -> bool:
    """Return whether a request asks for the proof, whatever a proxy cut off its path."""
    return method == "POST" and path.endswith(PATH)


def signature_of(value: str | None) -> str:
    """Return the signature of a question; raises SignatureRefused without one."""
    if not value:
        raise SignatureRefused(f"the question has no {SIGNATURE_HEADER}", _WAY_OUT)
    return value
