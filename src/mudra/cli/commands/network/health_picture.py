"""mudra health picture and matrix: the metrics of the console, of any time."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

import typer

from mudra.cli.client.api import Answer, Api
from mudra.cli.local.duration_option import read_duration
from mudra.cli.output.api_row import COLUMNS, api_line
from mudra.cli.output.output import Exit, fail, show_table
from mudra.cli.output.shown import Shown, text
from mudra.http.request.health_requests import (
    CODES,
    GROUPED_BY,
    MAX_LENGTH,
    TimeParameters,
    time_range,
)
from mudra.http.request.validation import decode_struct
from mudra.http.response.http_refusals import InvalidField
from mudra.metrics.payload.catalogue import WINDOW

_PATH = "/operator/v1/health"
Last = Annotated[str, typer.Option(help="How long, up to the last closed window: PT1H, P7D.")]
_INSTANT = "ISO 8601 with its offset, such as 2026-01-31T09:30+05:30"
From = Annotated[str, typer.Option("--from", help=f"From this instant on: {_INSTANT}.")]
To = Annotated[str, typer.Option("--to", help="Before this instant; the last closed window.")]


async def picture(  # noqa: PLR0913, PLR0917  # its options
    api: Api,
    by: Annotated[
        str, typer.Argument(metavar="BY", help=f"One row for each of: {', '.join(GROUPED_BY)}.")
    ] = "network",
    last: Last = "P1D",
    start: From = "",
    end: To = "",
    aa: Annotated[str, typer.Option("--aa", help="Only calls of this AA.")] = "",
    fip: Annotated[str, typer.Option("--fip", help="Only calls to this FIP.")] = "",
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, with all metrics.")] = False,
) -> Shown:
    """Show requests, success, errors and times: of the network, by FIP, by AA, by pair.

    Where more than 4,000 pairs of AA and FIP reported, pairs needs --aa or --fip.
    """
    if by not in GROUPED_BY:
        fail(f"BY must be one of {', '.join(GROUPED_BY)}, not {by}", Exit.USAGE)
    query = {"aaId": aa, "fipId": fip, **await asked_time(api, last, start, end)}
    names = {"aaId": "--aa", "fipId": "--fip"}
    if as_csv:
        written = await api.text(f"{_PATH}/{by}", {**query, "format": "csv"}, names)
        return text(written, written)
    answer = await api.get(f"{_PATH}/{by}", query, names)

    def show() -> None:
        rows = answer["rows"]
        show_table(COLUMNS, [api_line(row, one) for row in rows for one in row["apis"]])
        for row in rows[:1]:
            typer.echo(f"reports: {_reports(row['proof'])}")
        _show_maintenance(answer["maintenance"])

    return Shown(answer.content, show)


async def health_matrix(
    api: Api,
    type_: Annotated[str, typer.Option("--type", help=f"Only this API: {', '.join(CODES)}.")] = "",
    last: Last = "P1D",
    start: From = "",
    end: To = "",
) -> Shown:
    """Show AA x FIP, and which cause explains which pair."""
    if type_ and type_ not in CODES:
        fail(f"--type must be one of {', '.join(CODES)}, not {type_}", Exit.USAGE)
    query = {"type": type_, **await asked_time(api, last, start, end)}
    answer = await api.get(f"{_PATH}/matrix", query)
    names = {one["incidentId"]: one["cause"] for one in answer["causes"]}
    causes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in answer["verdicts"]:
        causes[one["aaId"], one["fipId"]].append(names[one["incidentId"]])

    def show() -> None:
        show_table(
            ["AA", "FIP", "STATUS", "SUCCEEDED", "JUDGED", "CAUSE"],
            [
                [
                    *(cell["aaId"], cell["fipId"], cell["status"]),
                    *(str(cell["succeeded"]), str(cell["judged"])),
                    "; ".join(causes.get((cell["aaId"], cell["fipId"]), ())),
                ]
                for cell in answer["cells"]
            ],
        )
        typer.echo(f"reports: {_reports(answer['proof'])}")
        _show_maintenance(answer["maintenance"])

    return Shown(answer.content, show)


def _show_maintenance(planned: Sequence[Answer]) -> None:
    for one in planned:
        typer.echo(f"planned maintenance: {one['entityId']} from {one['begins']} to {one['ends']}")


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


async def asked_time(api: Api, last: str, start: str, end: str) -> dict[str, str]:
    """Return the time that was typed; of what was not, the last closed windows."""
    length, typed = _length(last), _typed(start, end)
    within = time_range(typed, await api.now(), default=length, longest=MAX_LENGTH)
    if isinstance(within, InvalidField):
        fail(f"--{within.sentence}", Exit.USAGE)
    return {"from": within.start.isoformat(), "to": within.end.isoformat()}


def _reports(proof: Answer) -> str:
    """Return how many of the expected reports were received."""
    return f"{proof['windowsHeard']} of {proof['windowsExpected']}"
