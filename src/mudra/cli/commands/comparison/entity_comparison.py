"""mudra entity funnel, compare and volume: a member's own, and its place in its role."""

from typing import Annotated

import typer

from mudra.cli.client.api import Api
from mudra.cli.command import user_command
from mudra.cli.commands.comparison.shown_comparison import (
    comparison_shown,
    funnels_shown,
    volume_shown,
)
from mudra.cli.commands.entity.days import EntityId, Prefix, of_days
from mudra.cli.output.output import Exit, fail
from mudra.cli.output.shown import Shown
from mudra.http.request.comparison_requests import OWN_BY

_PREFIX = "/metrics/perf/v1"


def add_commands(app: typer.Typer) -> None:
    """Add the commands of a member."""
    user_command(app, "mudra entity funnel KAVERI-FIP weeks --days 90")(funnel)
    user_command(app, "mudra entity compare KAVERI-FIP --week 2026-W46")(compare)
    user_command(app, "mudra entity volume KAVERI-FIP --json")(volume)


async def funnel(
    api: Api,
    entity_id: EntityId,
    by: Annotated[
        str, typer.Argument(metavar="BY", help=f"One funnel for each of: {', '.join(OWN_BY)}.")
    ] = "all",
    days: Annotated[int, typer.Option(min=1, max=400, help="Days up to now.")] = 7,
    prefix: Prefix = _PREFIX,
) -> Shown:
    """Show the funnel from discovery to fetched data of an AA or FIP, and the step that leaks."""
    if by not in OWN_BY:
        fail(f"BY must be one of {', '.join(OWN_BY)}, not {by}", Exit.USAGE)
    return funnels_shown(await of_days(api, entity_id, f"{prefix}/funnel/{by}", days, usual=7))


async def compare(
    api: Api,
    entity_id: EntityId,
    week: Annotated[
        str, typer.Option(help="A week of ISO 8601; else the last that no report can change.")
    ] = "",
    prefix: Prefix = _PREFIX,
) -> Shown:
    """Show an AA or FIP next to the quartiles of its role, which never name another member."""
    entity = await api.of_entity(entity_id)
    return comparison_shown(await entity.get(f"{prefix}/comparison", {"week": week}))


async def volume(api: Api, entity_id: EntityId, prefix: Prefix = _PREFIX) -> Shown:
    """Show the growth of an AA's or FIP's calls, and what is expected of four weeks."""
    entity = await api.of_entity(entity_id)
    return volume_shown(await entity.get(f"{prefix}/volume"))
