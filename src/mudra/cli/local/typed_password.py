"""A password typed at the terminal, or from standard input or the environment."""

import os
import sys

import typer

from mudra.cli.output.output import Exit, fail
from mudra.shared.secret_text import SecretText


def typed_password(
    prompt: str = "Password", *, from_stdin: bool, twice: bool = False
) -> SecretText:
    """Take a password, asked for `twice` when it is a new one; ends the command without any."""
    if from_stdin:
        typed = typed_line()
    elif os.environ.get("MUDRA_PASSWORD"):
        typed = os.environ["MUDRA_PASSWORD"]
    elif sys.stdin.isatty():
        typed = typer.prompt(prompt, hide_input=True, confirmation_prompt=twice)
    else:
        fail("no terminal to ask for the password on: use --password-stdin", Exit.USAGE)
    if not typed:
        fail("the password is empty", Exit.USAGE)
    return SecretText(typed)


def typed_line() -> str:
    """Take the next line of standard input; empty at its end."""
    return sys.stdin.readline().rstrip("\r\n")
