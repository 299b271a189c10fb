"""The output of a conformance run while it works and at its end, and the files it writes."""

import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
import typer

from mudra.cli.output.output import Exit, fail, show_json, show_table
from mudra.conformance.report.junit import junit
from mudra.conformance.report.page import page
from mudra.conformance.result import Report, Result, Verdict

_WIDTH: Final = 9
_NAMED: Final = 5


def shown_as_it_comes(total: int, *, quiet: bool) -> Callable[[Result], None]:
    """Show each result on a line of its own; quiet, only a count on a terminal's last line."""
    seen: Counter[Verdict] = Counter()
    first_of: dict[str, str] = {}

    def show(result: Result) -> None:
        seen[result.verdict] += 1
        if quiet:
            if sys.stderr.isatty():
                sys.stderr.write(f"\r{seen.total()} of {total}, {seen[Verdict.FAILED]} failed ")
            return
        typer.echo(f"{result.verdict:{_WIDTH}}{result.check_id:{_WIDTH}} {result.title}")
        first = first_of.setdefault(result.came, result.check_id)
        if result.verdict is Verdict.FAILED and first != result.check_id:
            typer.echo(f"{'':{_WIDTH}}as {first}: {result.came}")
            typer.echo(f"{'':{_WIDTH}}request:  {result.request}")
        elif result.verdict is Verdict.FAILED:
            typer.echo(f"{'':{_WIDTH}}request:  {result.request}")
            typer.echo(f"{'':{_WIDTH}}expected: {result.expected}")
            typer.echo(f"{'':{_WIDTH}}came:     {result.came}")
            typer.echo(f"{'':{_WIDTH}}{result.basis} {result.part}: {result.line}")
        elif result.verdict is Verdict.SKIPPED:
            typer.echo(f"{'':{_WIDTH}}{result.reason}")

    return show


def waits(seconds: float) -> None:
    """Wait, and say so."""
    typer.echo(f"mudra: waiting {seconds:.0f} s", err=True)
    time.sleep(seconds)


def finish(
    report: Report, junit_file: Path | None, html_file: Path | None, *, as_json: bool
) -> None:
    """Write the files and show the totals; exit with 1 when a check failed or none ran.

    A service that answers with 429 alone has every check skipped, and conforms to nothing.
    """
    if junit_file is not None:
        _write(junit_file, junit(report))
    if html_file is not None:
        _write(html_file, page(report).encode())
    if as_json:
        summary = {"parts": report.parts(), "causes": report.causes()}
        show_json(msgspec.to_builtins(report) | msgspec.to_builtins(summary))
    else:
        rows = [
            [one.part, str(one.passed), str(one.failed), str(one.skipped)] for one in report.parts()
        ]
        show_table(["PART", "PASSED", "FAILED", "SKIPPED"], rows)
        for cause in report.causes():
            named = ", ".join(cause.checks[:_NAMED])
            more = f" and {len(cause.checks) - _NAMED} more" if len(cause.checks) > _NAMED else ""
            typer.echo(f"{len(cause.checks)} failures of one cause: {cause.came} ({named}{more})")
        counts = ", ".join(f"{report.count(verdict)} {verdict}" for verdict in Verdict)
        typer.echo(f"{len(report.results)} checks: {counts}")
    if report.count(Verdict.FAILED):
        raise typer.Exit(int(Exit.FAILED))
    if not report.count(Verdict.PASSED):
        fail("nothing was checked: every check was skipped, for the reason next to it")


def _write(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        fail(f"{file} cannot be written: {error.strerror}", Exit.USAGE)
