"""The service that a command means, and the kept sign-in there."""

import os
from typing import Annotated

import typer

from mudra.cli.client.tokens_file import SignedIn, TokensFileError, current
from mudra.cli.local.settings import settings_of
from mudra.cli.output.output import Exit, fail

BaseUrl = Annotated[
    str | None,
    typer.Option(
        help="Base address of the token service; else MUDRA_BASE_URL, else that of the "
        "last sign-in, else http://127.0.0.1:8080/iam.",
        show_default=False,
    ),
]


def base_address(given: str | None) -> str:
    """Find the base address that a command means."""
    if given:
        return given.rstrip("/")
    if any(os.environ.get(name) for name in ("MUDRA_BASE_URL", "MUDRA_PORT", "MUDRA_HOST")):
        return settings_of().issuer
    known = _current(None)
    return known.base_url if known else settings_of().issuer


def signed_in(given: str | None) -> SignedIn:
    """Find the kept sign-in, or end with what to do."""
    base_url = base_address(given)
    entry = _current(base_url)
    if entry is None:
        fail(f"not signed in at {base_url}: run mudra login EMAIL", Exit.NOT_SIGNED_IN)
    return entry


def _current(base_url: str | None) -> SignedIn | None:
    try:
        return current(base_url)
    except TokensFileError as error:
        fail(str(error), Exit.NOT_SIGNED_IN)
