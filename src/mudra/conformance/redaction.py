"""Keeps secrets and tokens out of reports: everything that came from outside passes here."""

import re
from typing import Final
from urllib.parse import quote_plus

from mudra.shared.secret_text import SecretText

_MAX: Final = 300
_JWT: Final = re.compile(r"eyJ[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*){0,4}")
_CONTROL: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_HIDDEN: Final = "***"


class Redaction:
    """Replaces every secret that the run has seen, and everything that looks like a token."""

    def __init__(self) -> None:
        self._secrets: list[SecretText] = []

    def hide(self, secret: SecretText) -> SecretText:
        """Keep this text out of what is shown from now on; returns it."""
        if len(secret) and secret not in self._secrets:
            self._secrets.append(secret)
        return secret

    def shown(self, text: str) -> str:
        """Return the text on one line, cut to 300 characters, without secrets."""
        for secret in self._secrets:
            plain = secret.reveal()
            text = text.replace(plain, _HIDDEN).replace(quote_plus(plain), _HIDDEN)
        text = _CONTROL.sub(" ", _JWT.sub(_HIDDEN, text))
        return text if len(text) <= _MAX else f"{text[:_MAX]}…"
