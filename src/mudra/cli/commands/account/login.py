"""mudra login: get a User Access Token and save it."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from mudra.cli.client.sign_in import BaseUrl, base_address
from mudra.cli.client.tokens_file import SignedIn, TokensFileError, current, remember
from mudra.cli.command import at_service
from mudra.cli.local.program import CommandFailed
from mudra.cli.local.settings import AsJson
from mudra.cli.local.typed_password import typed_password
from mudra.cli.output.output import fail, show_facts, show_json
from mudra.cli.output.token_text import expiry_of
from mudra.shared.secret_text import SecretText
from mudra.shared.time_text import iso_ms


def login(
    email: Annotated[str, typer.Argument(help="Your user name, an email address.")],
    base_url: BaseUrl = None,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input.")
    ] = False,
    otp: Annotated[
        str, typer.Option(help="A code of your second factor, where the operator asks for it.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Sign in: get a User Access Token (180 days) and save it in a file that only you can read."""
    password = typed_password(from_stdin=password_stdin)
    base = base_address(base_url)
    form = {"username": email, "password": password.reveal()} | ({"otp": otp} if otp else {})
    try:
        issued = at_service(base, lambda api: api.form("v1/user/token/generate", form))
    except CommandFailed as failed:
        raise CommandFailed(f"{failed}{_who_is_kept(base, email)}", failed.code) from None
    token = SecretText(issued["accessToken"])
    expires_at = expiry_of(token)
    try:
        path = remember(
            SignedIn(base_url=base, email=email, token=token.reveal(), expires_at=expires_at)
        )
    except TokensFileError as error:
        fail(str(error))
    until = iso_ms(datetime.fromtimestamp(expires_at, UTC))
    fields = {"user": email, "baseUrl": base, "expiresAt": until, "keptIn": str(path)}
    if as_json:
        show_json(fields)
    else:
        show_facts({"signed in as": email, "at": base, "until": until, "saved in": path})


def _who_is_kept(base: str, email: str) -> str:
    """Say as whom commands go on after a failed sign-in, if that is another person."""
    try:
        kept = current(base)
    except TokensFileError:
        return ""
    if kept is None or kept.email == email:
        return ""
    return f"\nmudra: commands go on as {kept.email}, who is still signed in at {base}"
