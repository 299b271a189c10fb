"""Files that are given to a command."""

from pathlib import Path

from mudra.cli.output.output import Exit, fail
from mudra.shared.text.byte_order_mark import NotUtf8, without_mark

MAX_BYTES = 64 * 1024 * 1024
"""Size of the largest file that is read."""


def read_file(path: Path) -> bytes:
    """Read a text file without its byte order mark, or fail with what is wrong with it."""
    try:
        if path.stat().st_size > MAX_BYTES:
            fail(f"{path} is larger than {MAX_BYTES} bytes", Exit.USAGE)
        return without_mark(path.read_bytes())
    except NotUtf8 as error:
        fail(f"{path} cannot be read: {error}", Exit.USAGE)
    except OSError as error:
        fail(f"{path} cannot be read: {error.strerror}", Exit.USAGE)
