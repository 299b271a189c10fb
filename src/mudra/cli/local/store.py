"""Runs an administration command on the data directory or database."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from mudra.cli.local.program import CommandFailed, Dependencies, program
from mudra.cli.output.output import fail

T = TypeVar("T")


def with_store(action: Callable[[Dependencies], Awaitable[T]], data_dir: Path | None = None) -> T:
    """Open the store, run the action, close it; ends with an error when it cannot be opened."""
    try:
        return program().in_store(action, data_dir)
    except CommandFailed as failed:
        fail(str(failed), failed.code)
