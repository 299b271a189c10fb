"""Funnels, quartiles and volume as tables, for operators and members alike."""

from collections.abc import Mapping

import typer

from mudra.cli.client.api import Answer
from mudra.cli.output.output import show_table
from mudra.cli.output.shown import Shown
from mudra.metrics.rollup.percentage import percentage


def funnels_shown(answer: Answer) -> Shown:
    """Show each step of each funnel, and the one that loses most."""

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


def comparison_shown(answer: Answer) -> Shown:
    """Show the quartiles of a role, with the own value and place where there is one."""
    own = any(one["mine"] is not None for one in answer["measures"])

    def show() -> None:
        typer.echo(f"week {answer['week']}")
        show_table(
            ["STEP", "MEASURE", "MEMBERS", "LOWER QUARTILE", "MEDIAN", "UPPER QUARTILE"]
            + (["YOURS", "PLACE"] if own else []),
            [
                [one["step"], one["measure"], one["group"], *_quartiles(one["quartiles"])]
                + ([_number(one["mine"]), one["place"] or "-"] if own else [])
                for one in answer["measures"]
            ],
        )

    return Shown(answer.content, show)


def volume_shown(answer: Answer) -> Shown:
    """Show the growth, the days that are expected, the error, and a notice where there is one."""

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


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{percentage(share):.2f}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _quartiles(found: Mapping[str, float] | None) -> list[str]:
    if found is None:
        return ["hidden"] * 3
    return [f"{found[name]:g}" for name in ("low", "median", "high")]
