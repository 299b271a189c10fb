"""mudra metrics export: rows of metrics for people who want SQL."""

import enum
import time
from collections.abc import Sequence
from datetime import MAXYEAR, MINYEAR, date, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from mudra.cli.local.instant_option import read_day
from mudra.cli.local.program import Dependencies, program
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.output.output import Exit, fail, show_json
from mudra.cli.output.steps import rows_shown
from mudra.metrics.rollup.damage import BlockDamaged
from mudra.metrics.rollup.rollup_service import RECOUNTED_DAYS
from mudra.metrics.rollup.stored_metrics import ExportedFile, ExportOrder, ExportRefused

_MAX_DAYS: Final = 4000


class Form(enum.StrEnum):
    """The form of a file."""

    CSV = "csv"
    PARQUET = "parquet"


class Of(enum.StrEnum):
    """The time of one row."""

    WINDOW = "window"
    HOUR = "hour"
    DAY = "day"


def export(  # noqa: PLR0913, PLR0917  # its options
    out: Annotated[
        Path, typer.Option(help="A folder, for a file a day; or the file itself, of one day.")
    ],
    first: Annotated[
        str, typer.Option("--from", help="The first day, of UTC, such as 2026-01-31.")
    ] = "",
    last: Annotated[
        str,
        typer.Option("--to", help="The last day, included; else the first alone."),
    ] = "",
    aa: Annotated[str, typer.Option(help="Only this AA; each of all when left out.")] = "",
    fip: Annotated[str, typer.Option(help="Only this FIP; each of all when left out.")] = "",
    form: Annotated[
        Form, typer.Option("--format", help="Parquet needs the extra mudra-network[parquet].")
    ] = Form.CSV,
    grain: Annotated[Of, typer.Option(help="The time of one row.")] = Of.DAY,
    year: Annotated[
        int,
        typer.Option(help="The days of this year (UTC) in one Parquet file.", show_default=False),
    ] = 0,
    again: Annotated[
        bool, typer.Option("--again", help="Write the files that are there once more.")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Write metrics as rows: one for each time, AA, FIP and type, with exact sums.

    The service may run; nothing is changed. Each day is a file of its own, which has its name
    once it is whole: a second run goes on where the first was cut short. Only days that are over
    are written; the last eight may still change, so export them again later. With --year the days
    of a year that is over are one Parquet file, for an archive.
    """
    if year:
        if first or last or grain is not Of.DAY:
            fail(
                "--year takes no --from, --to and --grain: it has the days of one year", Exit.USAGE
            )
        form, days = Form.PARQUET, _days_of_year(year)
    elif not first:
        fail("name --from, or --year", Exit.USAGE)
    else:
        days = _days(read_day("--from", first).date(), read_day("--to", last or first).date())
    _check_out(out, form, 1 if year else len(days))
    order = ExportOrder(days, grain.value, form.value, out, aa, fip, again, year)
    began = time.monotonic()
    over, files = _exported(order, data_dir, quiet=as_json)
    _show(files, time.monotonic() - began, as_json=as_json)
    if not as_json and days[-1] > over - timedelta(days=RECOUNTED_DAYS):
        typer.echo("Late reports may still change the last eight days.", err=True)


def _check_out(out: Path, form: Form, days: int) -> None:
    if out.suffix in {".csv", ".parquet"} and out.suffix != f".{form}":
        fail(f"--out ends in {out.suffix}, and --format is {form}: make them agree", Exit.USAGE)
    if out.suffix == f".{form}" and days > 1:
        fail("--out must be a folder for several days: each is a file of its own", Exit.USAGE)


def _exported(
    order: ExportOrder, data_dir: Path | None, *, quiet: bool
) -> tuple[date, Sequence[ExportedFile]]:
    """Export; return the last day that is over as well."""
    with rows_shown(quiet=quiet) as on_rows:

        async def act(dependencies: Dependencies) -> tuple[date, Sequence[ExportedFile]]:
            stored, last = dependencies.stored_metrics, order.days[-1]
            over = await stored.last_whole_day()
            if last > over and order.year:
                raise ExportRefused(f"{order.year} is not over: use --from and --to until it is")
            if last > over:
                raise ExportRefused(f"{last} is not over: --to may be {over} at the latest")
            return over, await stored.export(order, on_rows)

        try:
            return program().in_store(act, data_dir)
        except ExportRefused as refused:
            fail(str(refused), Exit.USAGE)
        except BlockDamaged as error:
            fail(f"the {error.place.words}, is damaged: run mudra metrics remake --damaged")
        except OSError as error:
            fail(f"{error.filename or order.out} cannot be written: {error.strerror}")


def _days_of_year(year: int) -> Sequence[date]:
    if not MINYEAR < year < MAXYEAR:
        fail(f"--year must be a year such as 2026, not {year}", Exit.USAGE)
    first, after = date(year, 1, 1), date(year + 1, 1, 1)
    return [first + timedelta(days=place) for place in range((after - first).days)]


def _days(first: date, last: date) -> Sequence[date]:
    number = (last - first).days + 1
    if not 1 <= number <= _MAX_DAYS:
        fail(f"--to must be {first} or one of the {_MAX_DAYS - 1} days after it", Exit.USAGE)
    return [first + timedelta(days=place) for place in range(number)]


def _show(files: Sequence[ExportedFile], seconds: float, *, as_json: bool) -> None:
    if as_json:
        show_json(
            [
                {"file": str(one.path), "rows": one.rows, "bytes": one.size}
                | ({"skipped": True} if one.rows is None else {})
                for one in files
            ]
        )
        return
    for one in files:
        what = "was there already" if one.rows is None else f"{one.rows} rows"
        typer.echo(f"{one.path}  {what}, {one.size / 1e6:.1f} MB")
    rows = sum(one.rows or 0 for one in files)
    typer.echo(f"{rows} rows in {seconds:.1f} s", err=True)
