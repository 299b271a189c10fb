"""The `mudra` program: runs the command line, or says what is to be installed for it."""

import sys

from mudra.cli.output.streams import end_streams, open_streams
from mudra.cli.table import NOT_INSTALLED, sentence_about


def run() -> None:
    """Run the command line; what is missing or cannot be written is one sentence."""
    open_streams()
    code: object = 0
    try:
        _run()
    except SystemExit as ended:
        code = ended.code
    problem = end_streams()
    if problem:
        sys.stderr.write(f"mudra: {problem}\n")
        code = code or 1
    sys.exit(code)  # type: ignore[arg-type]  # as it was given


def _run() -> None:
    try:
        from mudra.bootstrap.command_line import app  # noqa: PLC0415  # not there without an extra

        app()
    except ModuleNotFoundError as error:
        module = str(error.name)
        if module.partition(".")[0] == "mudra":
            raise
        sys.stderr.write(f"mudra: {sentence_about(module, sys.argv[1:])}\n")
        sys.exit(NOT_INSTALLED)
