"""A password typed at the terminal, or from standard input or the environment."""

import os
import sys

import typer

from mudra.cli.output.output import Exit, fail
from mudra.shared.secret_text import SecretFileFault, SecretText, secret_variable
from mudra.shared.text.byte_order_mark import NotUtf8, without_mark


def typed_password(
    prompt: str = "Password", *, from_stdin: bool, twice: bool = False
) -> SecretText:
    """Take a password, asked for `twice` when it is a new one; ends the command without any."""
    if from_stdin:
        typed = typed_line()
    elif typed := _of_environment():
        pass
    elif sys.stdin.isatty():
        typed = typer.prompt(prompt, hide_input=True, confirmation_prompt=twice)
    else:
        fail("no terminal to ask for the password on: use --password-stdin", Exit.USAGE)
    if not typed:
        fail("the password is empty", Exit.USAGE)
    return SecretText(typed)


def _of_environment() -> str:
    try:
        return secret_variable(os.environ, "MUDRA_PASSWORD")
    except SecretFileFault as fault:
        fail(str(fault), Exit.USAGE)


def typed_line() -> str:
    """Take the next line of standard input, in UTF-8 whatever the terminal's; empty at its end.

    A mark of byte order at its beginning is no part of it.
    """
    if sys.stdin is None:
        return ""
    line = sys.stdin.buffer.readline()
    try:
        return without_mark(line).decode().rstrip("\r\n")
    except (UnicodeDecodeError, NotUtf8):
        fail("standard input must be UTF-8", Exit.USAGE)
