"""The reason for which a call to an address has no answer, in words for who can repair it.

Apart from the rules of addresses, which every worker loads: only who calls needs an HTTP client.
"""

from typing import Final

import httpx2

_UNTRUSTED: Final = "CERTIFICATE_VERIFY_FAILED"
"""In the text of a failed handshake."""


def why_failed(error: Exception) -> str:
    """Returns why a call has no answer."""
    if _UNTRUSTED in str(error):
        return "its certificate is not trusted"
    if isinstance(error, httpx2.ConnectError):
        return "no connection: no program listens there, or a firewall refuses it"
    if isinstance(error, UnicodeError):
        return "it redirects to a host that has no valid name (IDNA 2008)"
    return f"the call failed: {type(error).__name__}"
