"""The mudra command: what there is, in one list.

Commands import what they need when they are called, so that `mudra --help`
stays quick.
"""

from typing import Annotated

import typer

from mudra.cli import (
    admin,
    agent,
    audit,
    config,
    jwk,
    keys,
    mail,
    member,
    operator,
    registry,
    sandbox,
    secret,
    token,
)
from mudra.cli.board import board
from mudra.cli.doctor import doctor
from mudra.cli.login import login
from mudra.cli.serve import serve

app = typer.Typer(
    name="mudra",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Identity, registry and health service of an account-aggregator network.",
    epilog="Exit codes: 0 done · 1 refused or found wrong · 2 wrong usage · 3 sign in first · "
    "4 wait and try again · 5 service or database did not answer",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(
    epilog="Example: mudra serve --sandbox --demo · MUDRA_DATABASE_URL=postgresql://… "
    "mudra serve --workers 4"
)(serve)
app.command(epilog="Example: mudra login lakshmi@kaveribank.example")(login)
app.command(epilog="Example: mudra doctor --json")(doctor)
app.command(epilog="Example: mudra board --json")(board)
app.add_typer(member.app, name="member")
app.add_typer(mail.app, name="mail")
app.add_typer(admin.app, name="admin")
app.add_typer(operator.app, name="operator")
app.add_typer(secret.app, name="secret")
app.add_typer(token.app, name="token")
app.add_typer(keys.app, name="keys")
app.add_typer(agent.app, name="agent")
app.add_typer(sandbox.app, name="sandbox")
app.add_typer(audit.app, name="audit")
app.add_typer(registry.app, name="registry")
app.add_typer(jwk.app, name="jwk")
app.add_typer(config.app, name="config")


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version  # noqa: PLC0415  # asked for once in a while

        typer.echo(f"mudra {version('mudra')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Take the options that stand before the command."""


def run() -> None:
    """Run the command line."""
    app()
