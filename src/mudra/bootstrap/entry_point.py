"""The `mudra` program: runs the command line, or says what is to be installed for it."""

import sys

from mudra.cli.table import NOT_INSTALLED, sentence_about


def run() -> None:
    """Run the command line; a missing extra is one sentence with the way out."""
    try:
        from mudra.bootstrap.command_line import app  # noqa: PLC0415  # not there without an extra

        app()
    except ModuleNotFoundError as error:
        module = str(error.name)
        if module.partition(".")[0] == "mudra":
            raise
        sys.stderr.write(f"mudra: {sentence_about(module, sys.argv[1:])}\n")
        sys.exit(NOT_INSTALLED)
