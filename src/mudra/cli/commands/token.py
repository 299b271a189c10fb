"""mudra token: get tokens, look into them, verify them."""

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from mudra.cli.client.api_client import (
    BaseUrl,
    base_address,
    entity_token,
    get_json,
    post_json,
    signed_in,
)
from mudra.cli.local.settings import AsJson
from mudra.cli.output.output import Exit, fail, show_facts, show_json
from mudra.cli.output.token_text import claims_of, header_of, show_tokens
from mudra.client.errors import KeysUnavailable, TokenRefused
from mudra.client.verifier import TokenVerifier
from mudra.shared.secret_text import SecretText
from mudra.shared.time_text import iso_ms

app = typer.Typer(no_args_is_help=True, help="Access tokens: get, inspect, verify.")

Token = Annotated[
    str | None, typer.Argument(help="The token; read from standard input when left out.")
]


@app.command(epilog="Example: mudra token entity FINSIGHT-FIU > token.jwt")
def entity(
    entity_id: Annotated[str, typer.Argument(help="ID of an entity that you administer.")],
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Print an Entity Access Token (24 hours): reads the secret and generates one with it."""
    entry = signed_in(base_url)
    answer = entity_token(entity_id, entry)
    if answer.get("message"):
        sys.stderr.write(f"mudra: {answer['message']}\n")
    if as_json:
        show_json(answer)
    else:
        sys.stdout.write(f"{answer['accessToken']}\n")


@app.command(epilog='Example: curl -H "Authorization: Bearer $(mudra token user)" …')
def user(base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """Print the User Access Token that the last login kept."""
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
    """Show what a token says, without checking it."""
    given = _given(token)
    try:
        header, claims = header_of(given), claims_of(given)
    except ValueError as error:
        fail(str(error), Exit.USAGE)
    if as_json:
        show_json({"header": header, "claims": claims})
        return
    show_facts({f"header {name}": value for name, value in header.items()})
    show_facts({name: _readable(name, value) for name, value in claims.items()})
    sys.stdout.write("Not verified: mudra token verify does that.\n")


@app.command(epilog="Example: mudra token entity FINSIGHT-FIU | mudra token verify")
def verify(
    token: Token = None,
    issuer: Annotated[
        str | None,
        typer.Option(help="Issuer to trust; else the one that the other commands talk to."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Verify an Entity Access Token offline, by the keys that its issuer publishes."""
    given = _given(token)
    trusted = issuer or base_address(None)
    try:
        verifier = TokenVerifier(trusted)
        verified = verifier.verify(given.reveal())
    except ValueError as error:
        fail(str(error), Exit.USAGE)
    except KeysUnavailable as error:
        fail(str(error), Exit.UNREACHABLE)
    except TokenRefused as error:
        fail(f"the token is not valid: {error}")
    facts = {
        "valid": True,
        "entityId": verified.entity_id,
        "role": verified.role,
        "issuer": trusted,
        "expiresAt": iso_ms(verified.expires_at),
        "tokenId": verified.jti,
    }
    if as_json:
        show_json(facts)
    else:
        show_facts({**facts, "valid": "yes: signature, issuer and times are good"})


@app.command("list", epilog="Example: mudra token list --json")
def list_tokens(base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """List your own User Access Tokens with the last use of each; never their text."""
    entry = signed_in(base_url)
    rows = get_json(f"{entry.base_url}/v1/user/token/list", {}, entry)["tokens"]
    assert isinstance(rows, list)
    show_tokens(rows, as_json=as_json)


@app.command(epilog="Example: mudra token revoke 7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d")
def revoke(
    token_id: Annotated[str, typer.Argument(help="ID of the token, as mudra token list shows it.")],
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """End one of your own User Access Tokens at once."""
    entry = signed_in(base_url)
    answer = post_json(f"{entry.base_url}/v1/user/token/revoke", {"jti": token_id}, entry)
    if as_json:
        show_json(answer)
    else:
        show_facts({"token": token_id, "result": answer["status"]})


def _given(token: str | None) -> SecretText:
    if token is None and sys.stdin.isatty():
        fail("give a token, or one on standard input: mudra token verify < token.jwt", Exit.USAGE)
    text = (token if token is not None else sys.stdin.read(65536)).strip()
    if not text:
        fail("the token is empty", Exit.USAGE)
    return SecretText(text)


def _readable(name: str, value: object) -> object:
    if name in {"iat", "nbf", "exp"} and isinstance(value, int):
        return f"{value}  {iso_ms(datetime.fromtimestamp(value, UTC))}"
    return value
