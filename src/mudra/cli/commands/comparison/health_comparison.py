"""mudra health funnel, compare and volume: where calls are lost, quartiles, what is expected."""

from typing import Annotated

import typer

from mudra.cli.client.api import Api
from mudra.cli.command import owner_command
from mudra.cli.commands.network.health_picture import From, Last, To, asked_time
from mudra.cli.output.output import Exit, fail, show_table
from mudra.cli.output.shown import Shown, text
from mudra.http.request.comparison_requests import BY, ROLES
from mudra.metrics.rollup.percentage import percentage

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

    def show() -> None:
        show_table(
            ["FROM", "AA", "FIP", "STEP", "BEGUN", "DONE", "DONE %", "404", "LOST", ""],
            [
                [
                    *(one["from"][:10], one["aaId"] or "all", one["fipId"] or "all", step["step"]),
                    *(str(step["begun"]), str(step["done"]), _percent(step["doneShare"])),
                    str(step["notFound404"]),
                    str(step["begun"] - step["done"] - step["notFound404"]),
                    "leaks most" if step["step"] == one["leak"] else "",
                ]
                for one in answer["funnels"]
                for step in one["steps"]
            ],
        )
        for one in answer["funnels"][:1]:
            proof = one["proof"]
            typer.echo(f"reports: {proof['windowsHeard']} of {proof['windowsExpected']}")

    return Shown(answer.content, show)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{percentage(share):.2f}"


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

    def show() -> None:
        typer.echo(f"week {answer['week']}")
        show_table(
            ["STEP", "MEASURE", "MEMBERS", "LOWER QUARTILE", "MEDIAN", "UPPER QUARTILE"],
            [
                [one["step"], one["measure"], one["group"], *_quartiles(one["quartiles"])]
                for one in answer["measures"]
            ],
        )

    return Shown(answer.content, show)


def _quartiles(found: dict[str, float] | None) -> list[str]:
    if found is None:
        return ["hidden"] * 3
    return [f"{found[name]:g}" for name in ("low", "median", "high")]


@owner_command(app, "mudra health volume --fip KAVERI-FIP --json")
async def volume(
    api: Api,
    aa: Annotated[str, typer.Option("--aa", help="Only calls of this AA.")] = "",
    fip: Annotated[str, typer.Option("--fip", help="Only calls to this FIP.")] = "",
) -> Shown:
    """Show the growth of calls, what is expected of four weeks, and by how much it may be wrong."""
    query, names = {"aaId": aa, "fipId": fip}, {"aaId": "--aa", "fipId": "--fip"}
    answer = await api.get("/operator/v1/volume", query, names)

    def show() -> None:
        found, grown = answer["forecast"], answer["growth"]
        if grown["calls"] is not None:
            ratio = grown["ofWeekBefore"]
            than = "" if ratio is None else f", {100 * (ratio - 1):+.1f} % on the week before"
            typer.echo(f"last whole week: {grown['calls']} calls{than}")
        if found is None:
            typer.echo("No forecast: fewer than 14 days with all reports can be held back.")
            return
        show_table(
            ["DAY", "EXPECTED", "LOW", "HIGH"],
            [
                [one["day"], *(str(one[n]) for n in ("calls", "low", "high"))]
                for one in found["days"]
            ],
        )
        for one in found["errors"]:
            typer.echo(
                f"in week {one['weeksAhead']} of the four: off by {100 * one['wape']:.1f} % "
                f"of the calls of {one['days']} held-back days ({found['method']})"
            )
        if answer["notice"]:
            high, handled = answer["notice"]["expected"], answer["notice"]["handled"]
            typer.echo(
                f"notice: up to {high['high']} calls on {high['day']}; the busiest day that was "
                f"handled well, {answer['notice']['handledDay']}, had {handled}"
            )

    return Shown(answer.content, show)
