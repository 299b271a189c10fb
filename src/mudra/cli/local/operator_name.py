"""The name of the person who runs an administration command, for the audit."""

import getpass
import os


def account_name() -> str:
    """Name the account of this machine that runs the command."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid-{os.getuid()}"


def operator_name() -> str:
    """Returns the account's name as the audit has it."""
    return f"operator:{account_name()}"
