"""Codes of an authenticator app (TOTP, RFC 6238): six digits of 30 seconds. Pure: time comes in.

SHA-1, six digits and 30 seconds are what every app supports; RFC 6238 1.2 and the HMAC make
SHA-1 safe here. A code is accepted one step early or late, and each step once (RFC 6238 5.2).
"""

import base64
from collections.abc import Callable
from datetime import datetime
from typing import Final

import pyotp
from pyotp.utils import strings_equal

from mudra.shared.secret_text import SecretText

STEP_S: Final = 30
DIGITS: Final = 6
WINDOW: Final = 1
"""Steps by which the clock of a phone may be early or late."""
_SECRET_BYTES: Final = 20


def new_totp_secret(random_bytes: Callable[[int], bytes]) -> SecretText:
    """Make the secret that phone and service share: 160 bits in Base32 (RFC 4226 4)."""
    return SecretText(base64.b32encode(random_bytes(_SECRET_BYTES)).decode())


def provisioning_uri(secret: SecretText, account: str, network: str) -> SecretText:
    """Return the otpauth URI that a QR code holds."""
    return SecretText(
        pyotp.TOTP(secret.reveal(), digits=DIGITS, interval=STEP_S).provisioning_uri(
            name=account, issuer_name=network
        )
    )


def matching_step(
    secret: SecretText, code: SecretText, now: datetime, last_step: int
) -> int | None:
    """Return the step whose code was typed, if it is near `now` and behind the last one used.

    All steps are computed and compared in constant time, whatever was typed.
    """
    totp = pyotp.TOTP(secret.reveal(), digits=DIGITS, interval=STEP_S)
    current = int(now.timestamp()) // STEP_S
    matching = None
    for step in range(current - WINDOW, current + WINDOW + 1):
        if strings_equal(totp.generate_otp(step), code.reveal()) and step > last_step:
            matching = step
    return matching
