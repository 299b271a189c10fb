"""The signature of a message (Standard Webhooks 1, "Signature scheme")."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime

from mudra.shared.secret_text import SecretText


def signed_headers(
    secret: SecretText, message_id: str, at: datetime, body: bytes
) -> Mapping[str, str]:
    """Returns headers that prove the sender and time of a body; `at` is that of this attempt."""
    key = base64.b64decode(secret.reveal().removeprefix("whsec_"))
    seconds = str(int(at.timestamp()))
    signed = b".".join((message_id.encode(), seconds.encode(), body))
    signature = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode("ascii")
    return {
        "webhook-id": message_id,
        "webhook-timestamp": seconds,
        "webhook-signature": f"v1,{signature}",
    }
