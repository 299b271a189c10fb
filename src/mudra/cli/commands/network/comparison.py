"""mudra health funnel: the consent and data funnel, and what members are compared by."""

from typing import Annotated

import typer

from mudra.cli.client.api import Api
from mudra.cli.command import owner_command
from mudra.cli.commands.network.health_picture import From, Last, To, asked_time
from mudra.cli.output.output import Exit, fail, show_table
from mudra.cli.output.shown import Shown, text
from mudra.http.request.comparison_requests import BY
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
