"""mudra password: request a link by email, and set a password with it."""

import re
import sys
from typing import Annotated, Final

import typer

from mudra.cli.client.api import Answer, Api
from mudra.cli.client.sign_in import BaseUrl, base_address
from mudra.cli.command import at_service, open_command
from mudra.cli.local.settings import AsJson
from mudra.cli.local.typed_password import typed_line, typed_password
from mudra.cli.output.output import Exit, fail
from mudra.cli.output.shown import Shown, line

_LINK: Final = re.compile(r"(?:(?P<base>https?://\S+)/activate/)?(?P<token>[A-Za-z0-9_-]+)")

app = typer.Typer(no_args_is_help=True)


@open_command(app, "mudra password forgot lakshmi@kaveribank.example")
async def forgot(
    api: Api, email: Annotated[str, typer.Argument(help="Your user name, an email address.")]
) -> Shown:
    """Request a link that sets a password; the output does not reveal whether the name is known."""
    return _shown(await api.post("v1/user/password/forgot", {"username": email}))


@app.command("set", epilog="Example: mudra password set --password-stdin < link-and-password.txt")
def set_by_link(
    password_stdin: Annotated[
        bool,
        typer.Option(
            "--password-stdin",
            help="Read the new password from standard input too: the line after the link.",
        ),
    ] = False,
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Set a password with an emailed link, which is prompted for or is the first line of the input.

    Link and password are secrets: they are not arguments, which others on the machine could read.
    A whole link names its service; its last part alone needs --base-url or a sign-in.
    Setting a password ends all your sessions and tokens.
    """
    link = _link()
    own, given = link["base"], base_url.rstrip("/") if base_url else None
    if own and given and own != given:
        fail(f"the link belongs to {own}, not to {given}: omit --base-url", Exit.USAGE)
    password = typed_password("New password", from_stdin=password_stdin, twice=True)
    body = {"token": link["token"], "password": password.reveal()}
    _post(own or base_address(given), "v1/user/password/set", body, as_json=as_json)


@app.command(epilog="Example: mudra password confirm < link.txt")
def confirm(base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """Agree to what an email asks for, with its link: a new address, or an admin's role.

    The link is a secret: it is prompted for or is the first line of the input.
    """
    _post_link("confirm", base_url, as_json=as_json)


@app.command(epilog="Example: mudra password decline < link.txt")
def decline(base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """Decline an invitation, with the link in its email; the admin who sent it gets an email.

    The link is a secret: it is prompted for or is the first line of the input.
    """
    _post_link("decline", base_url, as_json=as_json)


def _post_link(answer: str, base_url: str | None, *, as_json: bool) -> None:
    link = _link()
    base = link["base"] or base_address(base_url)
    _post(base, f"v1/user/link/{answer}", {"token": link["token"]}, as_json=as_json)


def _link() -> re.Match[str]:
    text = (
        typer.prompt("Link in the email", hide_input=True) if sys.stdin.isatty() else typed_line()
    )
    found = _LINK.fullmatch(text.strip())
    if found is None:
        fail(
            "the first line of standard input must be the link in the email, or its last part",
            Exit.USAGE,
        )
    return found


def _post(base: str, path: str, body: dict[str, str], *, as_json: bool) -> None:
    answer = at_service(base, lambda api: api.post(path, body))
    _shown(answer).write(as_json=as_json)


def _shown(answer: Answer) -> Shown:
    return line(answer["status"], answer)
