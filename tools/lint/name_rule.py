"""Files are named after what they hold; a drawer has no name."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from tools.lint.source import Fault, Source

DRAWERS = frozenset(
    {"util", "utils", "helper", "helpers", "common", "manager", "managers", "base", "misc", "kit"}
)


def no_drawer(source: Source) -> Iterator[Fault]:
    """Refuse `utils.py`, `token_helpers.py`, `common/` and the like."""
    if not source.is_python:
        return
    for part in PurePosixPath(source.path).with_suffix("").parts:
        if DRAWERS & set(part.lower().split("_")):
            yield Fault(source.path, 1, f"{part!r} says nothing; name the noun or verb it holds")
