"""mudra password: ask for a link by mail, and set a password by it."""

import re
import sys
from typing import Annotated, Final

import typer

from mudra.cli.client.api_client import BaseUrl, base_address, post_open
from mudra.cli.local.settings import AsJson
from mudra.cli.local.typed_password import typed_line, typed_password
from mudra.cli.output.output import Exit, fail, show_json

_LINK: Final = re.compile(r"(?:(?P<base>https?://\S+)/activate/)?(?P<token>[A-Za-z0-9_-]+)")

app = typer.Typer(
    no_args_is_help=True,
    help="Ask for a link by mail when the password is forgotten, and set a new one by it.",
)


@app.command(epilog="Example: mudra password forgot lakshmi@kaveribank.example")
def forgot(
    email: Annotated[str, typer.Argument(help="Your user name, an e-mail address.")],
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Have a link sent that sets a password; says the same whether the name is known or not."""
    url = f"{base_address(base_url)}/v1/user/password/forgot"
    _tell(post_open(url, {"username": email}), as_json=as_json)


@app.command("set", epilog="Example: mudra password set --password-stdin < link-and-password.txt")
def set_by_link(
    password_stdin: Annotated[
        bool,
        typer.Option(
            "--password-stdin",
            help="Read the new password from standard input too: the line below that of the link.",
        ),
    ] = False,
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Set a password by the link of a mail, which is asked for, or is the first line of the input.

    Link and password are secrets: neither is an argument, which others on the machine could read.
    A whole link says which service it is of; its last part alone needs --base-url or a sign-in.
    Setting a password ends all your sessions and tokens.
    """
    link = _link()
    own, given = link["base"], base_url.rstrip("/") if base_url else None
    if own and given and own != given:
        fail(f"the link is of {own}, not of {given}: leave out --base-url", Exit.USAGE)
    password = typed_password("New password", from_stdin=password_stdin, twice=True)
    order = {"token": link["token"], "password": password.reveal()}
    _tell(post_open(f"{own or base_address(given)}/v1/user/password/set", order), as_json=as_json)


def _link() -> re.Match[str]:
    text = typer.prompt("Link of the mail", hide_input=True) if sys.stdin.isatty() else typed_line()
    found = _LINK.fullmatch(text.strip())
    if found is None:
        fail(
            "the first line of standard input must be the link of the mail, or its last part",
            Exit.USAGE,
        )
    return found


def _tell(answer: dict[str, object], *, as_json: bool) -> None:
    if as_json:
        show_json(answer)
    else:
        typer.echo(answer["status"])
