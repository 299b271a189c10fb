"""Secrets of the environment, each in a variable or in the file that its `_FILE` twin names.

A file is what container platforms and systemd give (`/run/secrets`, a mounted Secret,
`LoadCredential=`): unlike a variable it is not inherited, and not shown by `docker inspect`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

MAX_BYTES: Final = 65536


class SecretFileFault(Exception):
    """A file cannot be used: the text names the variable and the reason, never a content."""


def twin(name: str) -> str:
    """Return the variable that names the file of a secret."""
    return f"{name}_FILE"


def secret_variable(environment: Mapping[str, str], name: str) -> str:
    """Return the secret, without the line end of its file; empty where neither is set.

    Raises SecretFileFault.
    """
    value, file = environment.get(name, ""), environment.get(twin(name), "")
    if not file:
        return value
    if value:
        raise SecretFileFault(f"{name} and {twin(name)} are both set: remove one of them")
    try:
        with Path(file).open("rb") as opened:
            content = opened.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no path"
        raise SecretFileFault(f"{twin(name)}: {file[:200]} cannot be read: {reason}") from None
    if len(content) > MAX_BYTES:
        raise SecretFileFault(f"{twin(name)}: {file[:200]} has more than {MAX_BYTES} bytes")
    try:
        text = content.decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise SecretFileFault(f"{twin(name)}: {file[:200]} must be UTF-8") from None
    if not text:
        raise SecretFileFault(f"{twin(name)}: {file[:200]} is empty")
    return text
