"""Who runs an administration command, for the audit."""

import getpass
import os


def operator_name() -> str:
    """Name the account of this machine that runs the command."""
    try:
        return f"operator:{getpass.getuser()}"
    except (KeyError, OSError):
        return f"operator:uid-{os.getuid()}"
