"""The signature of a message (Standard Webhooks 1, "Signature scheme")."""

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime

from mudra.shared.secret_text import SecretText


def signed_headers(
    secrets: Sequence[SecretText], message_id: str, at: datetime, body: bytes
) -> Mapping[str, str]:
    """Returns headers that prove the sender and time of a body; `at` is that of this attempt.

    Each secret has its signature, so that a receiver can change from one to the next.
    """
    seconds = str(int(at.timestamp()))
    signed = b".".join((message_id.encode(), seconds.encode(), body))
    return {
        "webhook-id": message_id,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(_signature(one, signed) for one in secrets),
    }


def _signature(secret: SecretText, signed: bytes) -> str:
    key = base64.b64decode(secret.reveal().removeprefix("whsec_"))
    digest = hmac.digest(key, signed, hashlib.sha256)
    return f"v1,{base64.b64encode(digest).decode('ascii')}"
