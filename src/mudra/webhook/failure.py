"""The reason for which a call to an address has no answer, in words for who can repair it.

Apart from the rules of addresses, which every worker loads: only who calls needs an HTTP client.
"""

import httpx2

from mudra.shared.no_answer import is_untrusted


def why_failed(error: Exception) -> str:
    """Returns why a call has no answer."""
    if is_untrusted(error):
        return "its certificate is not trusted"
    if isinstance(error, httpx2.ConnectError):
        return "no connection: no program listens there, or a firewall refuses it"
    if isinstance(error, UnicodeError):
        return "it redirects to a host that has no valid name (IDNA 2008)"
    return f"the call failed: {type(error).__name__}"
