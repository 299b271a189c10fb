"""mudra token: get, inspect and verify tokens."""

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from mudra.cli.client.api import Api
from mudra.cli.client.sign_in import BaseUrl, base_address, signed_in
from mudra.cli.command import user_command
from mudra.cli.local.settings import AsJson
from mudra.cli.output.output import Exit, fail, show_facts, show_json
from mudra.cli.output.shown import Shown, facts, line
from mudra.cli.output.token_text import claims_of, header_of, shown_tokens
from mudra.client.errors import KeysUnavailable, TokenRefused
from mudra.client.verifier import TokenVerifier
from mudra.shared.secret_text import SecretText
from mudra.shared.time_text import iso_ms

app = typer.Typer(no_args_is_help=True)

Token = Annotated[
    str | None, typer.Argument(help="The token; read from standard input when left out.")
]


@user_command(app, "mudra token entity FINSIGHT-FIU > token.jwt")
async def entity(
    api: Api,
    entity_id: Annotated[str, typer.Argument(help="ID of an entity that you administer.")],
) -> Shown:
    """Print an Entity Access Token (24 hours): reads the secret and generates one with it."""
    issued = await api.entity_token(entity_id)
    if message := issued.get("message"):
        sys.stderr.write(f"mudra: {message}\n")
    return line(issued["accessToken"], issued)


@app.command(epilog='Example: curl -H "Authorization: Bearer $(mudra token user)" …')
def user(base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """Print the User Access Token that the last login saved."""
    entry = signed_in(base_url)
    if as_json:
        show_json(
            {
                "accessToken": entry.secret_token.reveal(),
                "user": entry.email,
                "baseUrl": entry.base_url,
                "expiresAt": iso_ms(datetime.fromtimestamp(entry.expires_at, UTC)),
            }
        )
    else:
        sys.stdout.write(entry.secret_token.reveal() + "\n")


@app.command(epilog="Example: mudra token inspect < token.jwt")
def inspect(token: Token = None, as_json: AsJson = False) -> None:
    """Show the claims of a token, without verifying it."""
    text = _token_text(token)
    try:
        header, claims = header_of(text), claims_of(text)
    except ValueError as error:
        fail(str(error), Exit.USAGE)
    if as_json:
        show_json({"header": header, "claims": claims})
        return
    show_facts({f"header {name}": value for name, value in header.items()})
    show_facts({name: _readable(name, value) for name, value in claims.items()})
    sys.stdout.write("Not verified. To verify it: mudra token verify\n")


@app.command(epilog="Example: mudra token entity FINSIGHT-FIU | mudra token verify")
def verify(
    token: Token = None,
    issuer: Annotated[
        str | None,
        typer.Option(help="Issuer to trust; by default the one that the other commands use."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Verify an Entity Access Token offline, with the keys that its issuer publishes."""
    text = _token_text(token)
    trusted = issuer or base_address(None)
    try:
        verifier = TokenVerifier(trusted)
        verified = verifier.verify(text.reveal())
    except ValueError as error:
        fail(str(error), Exit.USAGE)
    except KeysUnavailable as error:
        fail(str(error), Exit.UNREACHABLE)
    except TokenRefused as error:
        fail(f"the token is not valid: {error}")
    fields = {
        "valid": True,
        "entityId": verified.entity_id,
        "role": verified.role,
        "issuer": trusted,
        "expiresAt": iso_ms(verified.expires_at),
        "tokenId": verified.jti,
    }
    if as_json:
        show_json(fields)
    else:
        show_facts({**fields, "valid": "yes: signature, issuer and times are valid"})


@user_command(app, "mudra token list --json", "list")
async def list_tokens(api: Api) -> Shown:
    """List your own User Access Tokens and when each was last used; never their text."""
    return shown_tokens((await api.get("v1/user/token/list"))["tokens"])


@user_command(app, "mudra token revoke 7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d")
async def revoke(
    api: Api,
    token_id: Annotated[str, typer.Argument(help="ID of the token, from mudra token list.")],
) -> Shown:
    """Revoke one of your own User Access Tokens."""
    done = await api.post("v1/user/token/revoke", {"jti": token_id})
    return facts({"token": token_id, "result": done["status"]}, done)


def _token_text(token: str | None) -> SecretText:
    if token is None and sys.stdin.isatty():
        fail("pass a token, or pipe one in: mudra token verify < token.jwt", Exit.USAGE)
    text = (token if token is not None else sys.stdin.read(65536)).strip()
    if not text:
        fail("the token is empty", Exit.USAGE)
    return SecretText(text)


def _readable(name: str, value: object) -> object:
    if name in {"iat", "nbf", "exp"} and isinstance(value, int):
        return f"{value}  {iso_ms(datetime.fromtimestamp(value, UTC))}"
    return value
