"""mudra health funnel, compare and volume: where calls are lost, quartiles, what is expected."""

from typing import Annotated

import typer

from mudra.cli.client.api import Api
from mudra.cli.command import owner_command
from mudra.cli.commands.comparison.shown_comparison import (
    comparison_shown,
    funnels_shown,
    volume_shown,
)
from mudra.cli.commands.network.health_picture import From, Last, To, asked_time
from mudra.cli.output.output import Exit, fail
from mudra.cli.output.shown import Shown, text
from mudra.http.request.comparison_requests import BY, ROLES

app = typer.Typer()
_FUNNEL = "/operator/v1/funnel"


@owner_command(app, "mudra health funnel fips --last P7D --csv")
async def funnel(  # noqa: PLR0913, PLR0917  # its options
    api: Api,
    by: Annotated[
        str, typer.Argument(metavar="BY", help=f"One funnel for each of: {', '.join(BY)}.")
    ] = "network",
    last: Last = "P7D",
    start: From = "",
    end: To = "",
    aa: Annotated[str, typer.Option("--aa", help="Only calls of this AA.")] = "",
    fip: Annotated[str, typer.Option("--fip", help="Only calls to this FIP.")] = "",
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, one line a step.")] = False,
) -> Shown:
    """Show the funnel from discovery to fetched data, and the step that leaks.

    It counts calls, not people. Weeks are Monday to Sunday of UTC.
    """
    if by not in BY:
        fail(f"BY must be one of {', '.join(BY)}, not {by}", Exit.USAGE)
    query = {"aaId": aa, "fipId": fip, **await asked_time(api, last, start, end)}
    names = {"aaId": "--aa", "fipId": "--fip"}
    if as_csv:
        written = await api.text(f"{_FUNNEL}/{by}", {**query, "format": "csv"}, names)
        return text(written, written)
    answer = await api.get(f"{_FUNNEL}/{by}", query, names)
    return funnels_shown(answer)


@owner_command(app, "mudra health compare FIP --week 2026-W46 --json")
async def compare(
    api: Api,
    role: Annotated[str, typer.Argument(metavar="ROLE", help=f"One of {', '.join(ROLES)}.")],
    week: Annotated[
        str, typer.Option(help="A week of ISO 8601; else the last that no report can change.")
    ] = "",
) -> Shown:
    """Show the quartiles that the members of a role see of each other.

    They are hidden where any of them would be compared with fewer than five others.
    """
    if role not in ROLES:
        fail(f"ROLE must be one of {', '.join(ROLES)}, not {role}", Exit.USAGE)
    answer = await api.get(f"/operator/v1/comparison/{role}", {"week": week}, {"week": "--week"})
    return comparison_shown(answer)


@owner_command(app, "mudra health volume --fip KAVERI-FIP --json")
async def volume(
    api: Api,
    aa: Annotated[str, typer.Option("--aa", help="Only calls of this AA.")] = "",
    fip: Annotated[str, typer.Option("--fip", help="Only calls to this FIP.")] = "",
) -> Shown:
    """Show the growth of calls, what is expected of four weeks, and by how much it may be wrong."""
    query, names = {"aaId": aa, "fipId": fip}, {"aaId": "--aa", "fipId": "--fip"}
    answer = await api.get("/operator/v1/volume", query, names)
    return volume_shown(answer)
