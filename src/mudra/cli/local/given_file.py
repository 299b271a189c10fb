"""Files that are given to a command."""

from pathlib import Path

from mudra.cli.output.output import Exit, fail

MAX_BYTES = 64 * 1024 * 1024
"""Size of the largest file that is read."""


def read_file(path: Path) -> bytes:
    """Read a file of payloads, or fail with what is wrong with it."""
    try:
        if path.stat().st_size > MAX_BYTES:
            fail(f"{path} is larger than {MAX_BYTES} bytes", Exit.USAGE)
        return path.read_bytes()
    except OSError as error:
        fail(f"{path} cannot be read: {error.strerror}", Exit.USAGE)
