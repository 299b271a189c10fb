"""mudra jwk: keys of members, made where they stay."""

import os
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from mudra.cli.output.output import Exit, fail, show_json
from mudra.registry.payload.fields.certificate import Algorithm
from mudra.registry.payload.new_jwk import new_key

app = typer.Typer(no_args_is_help=True)


@app.callback()
def keys() -> None:
    """Keep `new` a subcommand."""


@app.command(epilog="Example: mudra jwk new --private-key signing-key.pem > certificate.json")
def new(
    private_key: Annotated[
        Path, typer.Option(help="File for the private part (PEM), made with mode 0600.")
    ] = Path("private-key.pem"),
    bits: Annotated[int, typer.Option(help="Size of the modulus.")] = 2048,
    alg: Annotated[Algorithm, typer.Option(help="Algorithm to name in the key.")] = Algorithm.RS256,
    kid: Annotated[str, typer.Option(help="Key ID; default: its RFC 7638 thumbprint.")] = "",
) -> None:
    """Make an RSA key: the private part into a file, the public JWK on standard output."""
    try:
        made = new_key(bits, alg, kid)
    except ValueError as error:
        fail(str(error), Exit.USAGE)
    try:
        handle = os.open(private_key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        fail(f"{private_key} is there already and stays as it is: name another", Exit.USAGE)
    except OSError as error:
        fail(f"{private_key} cannot be written: {error.strerror}", Exit.USAGE)
    with os.fdopen(handle, "w") as file:
        file.write(made.private_pem.reveal())
    show_json(msgspec.to_builtins(made.public))
