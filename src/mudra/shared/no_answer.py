"""The reason for which a call by HTTP has no answer, short and without what was sent."""

import re
from typing import Final

_UNTRUSTED: Final = re.compile(r"CERTIFICATE_VERIFY_FAILED\] certificate verify failed: ([^(]+)")
"""OpenSSL's words in the text of a failed handshake."""


def kind_of_failure(error: Exception) -> str:
    """Return the type of the error; of a certificate that is not trusted also why it is not."""
    if found := _UNTRUSTED.search(str(error)):
        why = found[1].rstrip(" .")
        return f"its certificate is not trusted: {why}"
    return type(error).__name__


def is_untrusted(error: Exception) -> bool:
    """Return whether the other side's certificate was refused."""
    return _UNTRUSTED.search(str(error)) is not None
