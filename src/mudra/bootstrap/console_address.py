"""The address of the console."""

from urllib.parse import urljoin

from mudra.settings.settings import Settings


def console_address(settings: Settings) -> str:
    """Return it: next to the token service, not under its path."""
    return urljoin(settings.issuer, "/console")
