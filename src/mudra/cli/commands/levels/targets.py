"""mudra report targets, set-target and end-target: what the network asks of a role."""

from typing import Annotated
from uuid import UUID

import typer

from mudra.cli.client.api import Answer, Api
from mudra.cli.command import owner_command
from mudra.cli.output.shown import Shown, table

_PATH = "/operator/v1/levels/targets"
_ID = "7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d"


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this file."""
    owner_command(app, "mudra report targets --json")(targets)
    owner_command(
        app,
        'mudra report set-target FIP success 97 --api fif --since 2026-04-01 --reason "agreed"',
    )(set_target)
    owner_command(app, f"mudra report end-target {_ID}")(end_target)


async def targets(
    api: Api,
    all_: Annotated[
        bool, typer.Option("--all", help="Every target that was ever set, in place of today's.")
    ] = False,
) -> Shown:
    """List the targets in force, each with its reason."""
    found = await api.get(_PATH)
    return _shown(found["all" if all_ else "inForce"])


async def set_target(
    api: Api,
    role: Annotated[str, typer.Argument(help="FIP or AA.")],
    measure: Annotated[str, typer.Argument(help="availability, success, p95, p99, timeToData, …")],
    value: Annotated[str, typer.Argument(help="Percent such as 99.5, or milliseconds.")],
    reason: Annotated[str, typer.Option(help="Why; every report shows it.")],
    since: Annotated[str, typer.Option("--since", help="The first day (UTC), today or later.")],
    api_code: Annotated[
        str, typer.Option("--api", help="Only this API, a code such as fif; all when left out.")
    ] = "",
) -> Shown:
    """Set a target from a day on, in place of the one of its kind."""
    body = {
        "role": role,
        "measure": measure,
        "value": value,
        "api": api_code,
        "since": since,
        "reason": reason,
    }
    return _shown([(await api.post(_PATH, body))["target"]])


async def end_target(
    api: Api, target_id: Annotated[UUID, typer.Argument(help="ID, as the list shows it.")]
) -> Shown:
    """End a target today; the shipped one of its kind holds again."""
    return _shown([(await api.post(f"{_PATH}/{target_id}/end"))["target"]])


def _shown(found: list[Answer]) -> Shown:
    return table(
        ["ID", "ROLE", "MEASURE", "API", "TARGET", "SINCE", "UNTIL", "REASON"],
        [
            [
                *(one["targetId"], one["role"], one["measure"], one["api"] or "all"),
                *(f"{one['value']:g}", one["since"], one["until"] or "", one["reason"]),
            ]
            for one in found
        ],
        found,
    )
