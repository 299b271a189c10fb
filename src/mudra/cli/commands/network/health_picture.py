"""mudra health picture and matrix: the metrics of the console, of any time."""

import sys
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated

import msgspec
import typer

from mudra.cli.local.duration_option import read_duration
from mudra.cli.local.program import CommandFailed, Dependencies
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_store
from mudra.cli.output.api_row import COLUMNS, api_line
from mudra.cli.output.output import Exit, fail, show_json, show_table
from mudra.http.request.health_requests import (
    CODES,
    GROUPED_BY,
    MAX_LENGTH,
    TimeParameters,
    time_range,
)
from mudra.http.request.validation import decode_struct
from mudra.http.response.health_responses import (
    MaintenanceDetails,
    MatrixResponse,
    ProofDetails,
    matrix_response,
    picture_response,
    rows_as_csv,
)
from mudra.http.response.http_refusals import InvalidField
from mudra.metrics.health.picture import Row
from mudra.metrics.health.too_many_pairs import TooManyPairs
from mudra.metrics.incidents.silence import Silence
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange
from mudra.unit_of_work import PAGE_S

Last = Annotated[str, typer.Option(help="How long, up to the last closed window: PT1H, P7D.")]
_INSTANT = "ISO 8601 with its offset, such as 2026-01-31T09:30+05:30"
From = Annotated[str, typer.Option("--from", help=f"From this instant on: {_INSTANT}.")]
To = Annotated[str, typer.Option("--to", help="Before this instant; the last closed window.")]


def picture(  # noqa: PLR0913, PLR0917  # its options
    by: Annotated[
        str, typer.Argument(metavar="BY", help=f"One row for each of: {', '.join(GROUPED_BY)}.")
    ] = "network",
    last: Last = "P1D",
    start: From = "",
    end: To = "",
    aa: Annotated[str, typer.Option("--aa", help="Only calls of this AA.")] = "",
    fip: Annotated[str, typer.Option("--fip", help="Only calls to this FIP.")] = "",
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, with all metrics.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show requests, success, errors and times: of the network, by FIP, by AA, by pair.

    Where more than 4,000 pairs of AA and FIP reported, pairs needs --aa or --fip.
    """
    if by not in GROUPED_BY:
        fail(f"BY must be one of {', '.join(GROUPED_BY)}, not {by}", Exit.USAGE)
    length, typed = _length(last), _typed(start, end)

    async def act(
        dependencies: Dependencies,
    ) -> tuple[TimeRange, tuple[Row, ...], Sequence[Silence]]:
        async with dependencies.unit_of_work(within_s=PAGE_S) as work:
            now = await work.people.now()
            within = _within(typed, now, length)
            rows = await work.health.rows(
                within, GROUPED_BY[by], now, aa_id=aa or None, fip_id=fip or None
            )
            if isinstance(rows, TooManyPairs):
                raise CommandFailed(TooManyPairs("--aa", "--fip").sentence, Exit.USAGE)
            named = {one for one in (aa, fip) if one}
            return within, rows, await work.health.maintenances(within, now, named or None)

    within, rows, planned = with_store(act, data_dir)
    if as_csv:
        sys.stdout.write(rows_as_csv(rows))
        return
    response = picture_response(within, rows, planned)
    if as_json:
        show_json(msgspec.to_builtins(response))
        return
    show_table(COLUMNS, [api_line(row, api) for row in response.rows for api in row.apis])
    for row in response.rows[:1]:
        typer.echo(f"reports: {_reports(row.proof)}")
    _show_maintenance(response.maintenance)


def health_matrix(
    type_: Annotated[str, typer.Option("--type", help=f"Only this API: {', '.join(CODES)}.")] = "",
    last: Last = "P1D",
    start: From = "",
    end: To = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show AA x FIP, and which cause explains which pair."""
    if type_ and type_ not in CODES:
        fail(f"--type must be one of {', '.join(CODES)}, not {type_}", Exit.USAGE)
    length, typed = _length(last), _typed(start, end)

    async def act(dependencies: Dependencies) -> MatrixResponse:
        async with dependencies.unit_of_work(within_s=PAGE_S) as work:
            now = await work.people.now()
            within = _within(typed, now, length)
            matrix = await work.health.matrix(within, type_)
            coverage = await work.health.coverage(within, now)
            planned = await work.health.maintenances(within, now)
            return matrix_response(within, matrix, coverage.proof(), planned)

    matrix = with_store(act, data_dir)
    if as_json:
        show_json(msgspec.to_builtins(matrix))
        return
    names = {one.incident_id: one.cause for one in matrix.causes}
    causes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in matrix.verdicts:
        causes[one.aa_id, one.fip_id].append(names[one.incident_id])
    show_table(
        ["AA", "FIP", "STATUS", "SUCCEEDED", "JUDGED", "CAUSE"],
        [
            [
                *(cell.aa_id, cell.fip_id, cell.status, str(cell.succeeded), str(cell.eligible)),
                "; ".join(causes.get((cell.aa_id, cell.fip_id), ())),
            ]
            for cell in matrix.cells
        ],
    )
    typer.echo(f"reports: {_reports(matrix.proof)}")
    _show_maintenance(matrix.maintenance)


def _show_maintenance(planned: Sequence[MaintenanceDetails]) -> None:
    for one in planned:
        typer.echo(f"planned maintenance: {one.entity_id} from {one.begins} to {one.ends}")


def _length(last: str) -> timedelta:
    length = read_duration("--last", last)
    if not WINDOW <= length <= MAX_LENGTH:
        fail(f"--last must be from ten minutes to {MAX_LENGTH.days} days, not {last}", Exit.USAGE)
    return length


def _typed(start: str, end: str) -> TimeParameters:
    typed = {name: text for name, text in (("from", start), ("to", end)) if text}
    read = decode_struct(typed, TimeParameters)
    if isinstance(read, InvalidField):
        fail(f"--{read.sentence}", Exit.USAGE)
    return read


def _within(typed: TimeParameters, now: datetime, length: timedelta) -> TimeRange:
    """Return the time that was typed; of what was not, the last closed windows."""
    within = time_range(typed, now, default=length, longest=MAX_LENGTH)
    if isinstance(within, InvalidField):
        raise CommandFailed(f"--{within.sentence}", Exit.USAGE)
    return within


def _reports(proof: ProofDetails) -> str:
    """Return how many of the expected reports were received."""
    return f"{proof.windows_received} of {proof.windows_expected}"
