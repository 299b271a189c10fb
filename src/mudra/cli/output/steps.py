"""Progress of a command that works through bytes or rows, on standard error."""

import contextlib
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)


@contextlib.contextmanager
def steps_shown(*, quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Give what is called with the step and how many bytes of how many are done."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(
        *columns, console=Console(stderr=True), disable=quiet, transient=True
    ) as progress:
        tasks: dict[str, TaskID] = {}

        def on_progress(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = progress.add_task(step, total=total or None)
            progress.update(tasks[step], completed=done)

        yield on_progress


@contextlib.contextmanager
def rows_shown(*, quiet: bool) -> Iterator[Callable[[str, int], None]]:
    """Give what is called with a file and how many of its rows are done."""
    columns = (TextColumn("{task.description}"), TextColumn("{task.completed} rows"))
    with Progress(
        *columns, TimeElapsedColumn(), console=Console(stderr=True), disable=quiet, transient=True
    ) as progress:
        task = progress.add_task("", total=None)

        def on_rows(file: str, rows: int) -> None:
            progress.update(task, description=file, completed=rows)

        yield on_rows
