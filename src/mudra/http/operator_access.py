"""Who may use the operator's addresses: until operators have accounts, the sandbox only.

The sandbox listens on loopback only (runtime/config.py). Everywhere else the
answer is 401 until operator accounts are there (issue 7 replaces this file).
"""

from mudra.http.errors import NoAuthorization
from mudra.http.service import Service


def operator_refused(service: Service) -> NoAuthorization | None:
    """Refuse, or None when the caller may act as the operator."""
    return None if service.settings.sandbox else NoAuthorization()
