"""Which hosts only this machine can reach."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Report whether a host to listen on or connect to is this machine itself."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
