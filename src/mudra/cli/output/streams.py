"""Standard output and error as commands need them, on any terminal, in any pipe, or closed.

A file or a pipe gets UTF-8 whatever the locale is; a terminal of another encoding gets escapes for
what it cannot show. `PYTHONIOENCODING` decides where it is set.
"""

import io
import os
import sys
from typing import Final

_OURS: Final = ("stdout", "stderr")


def open_streams() -> None:
    """Make what a command writes independent of locale and terminal; one that is closed is null."""
    for name in _OURS:
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123  # stays open to the end
        elif isinstance(stream, io.TextIOWrapper):
            is_chosen = stream.isatty() or "PYTHONIOENCODING" in os.environ
            encoding = stream.encoding if is_chosen else "utf-8"
            try:
                stream.reconfigure(encoding=encoding, errors="backslashreplace")
            except OSError:
                continue  # a stream that says it can be sought, and cannot: it stays as it is


def end_streams() -> str:
    """Write what is left; return why it cannot be written, or an empty text.

    A reader that ended, as `head` does, is no fault.
    """
    problem = ""
    for name in _OURS:
        stream = getattr(sys, name)
        try:
            stream.flush()
        except BrokenPipeError:
            _discard(stream)
        except (OSError, ValueError) as error:
            problem = f"the output cannot be written: {getattr(error, 'strerror', '') or error}"
            _discard(stream)
    return problem


def is_unicode() -> bool:
    """Return whether standard output can hold every character."""
    return (sys.stdout.encoding or "utf-8").lower().startswith("utf")


def _discard(stream: io.TextIOBase) -> None:
    """Point a stream at nothing, so that Python's own flush at the end finds no fault."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)
