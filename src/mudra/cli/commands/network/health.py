"""mudra health: incidents, silences and webhooks of the network's health."""

from typing import Annotated
from uuid import UUID

import typer

from mudra.cli.client.api import Api
from mudra.cli.command import owner_command
from mudra.cli.commands.comparison.health_comparison import app as comparison_commands
from mudra.cli.commands.network import health_reports, incident_acts
from mudra.cli.commands.network.health_picture import health_matrix, picture
from mudra.cli.commands.network.health_reports import held
from mudra.cli.commands.network.health_webhooks import app as webhook_commands
from mudra.cli.commands.network.incident_acts import INCIDENTS
from mudra.cli.output.shown import Shown, facts, table
from mudra.cli.output.silences import in_time, shown_silence, times_after

app = typer.Typer(no_args_is_help=True)
owner_command(app, "mudra health picture fips --last P7D --csv")(picture)
owner_command(app, "mudra health matrix --type fireq --json", "matrix")(health_matrix)
owner_command(app, "mudra health held --json")(held)
incident_acts.add_commands(app)
health_reports.add_decisions(app)
app.add_typer(webhook_commands)
app.add_typer(comparison_commands)
_SILENCES = "/operator/v1/health/silences"

Entity = Annotated[str, typer.Option("--entity", help="Only this entity; all when left out.")]
For = Annotated[str, typer.Option("--for", help="How long: PT4H, P2D; at most P30D.")]
In = Annotated[str, typer.Option("--in", help="Start after this duration; else now.")]


@owner_command(app, "mudra health incidents --open --json", "incidents")
async def list_incidents(
    api: Api,
    only_open: Annotated[bool, typer.Option("--open", help="Only open incidents.")] = False,
    entity: Entity = "",
) -> Shown:
    """List the latest incidents, newest first."""
    query = {"open": "true" if only_open else "", "entityId": entity}
    found = (await api.get(INCIDENTS, query))["incidents"]
    return table(
        ["ID", "BEGAN", "SEVERITY", "CAUSE", "STATE", "OWNER"],
        [
            [
                *(one["incidentId"], one["began"], one["severity"], one["cause"]),
                *(one["state"], one["acknowledgedBy"] or "none"),
            ]
            for one in found
        ],
        found,
    )


@owner_command(app, "mudra health acknowledge 7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d")
async def acknowledge(
    api: Api, incident_id: Annotated[UUID, typer.Argument(help="ID of the incident.")]
) -> Shown:
    """Acknowledge an incident: assign it to yourself."""
    await api.post(f"{INCIDENTS}/{incident_id}/acknowledge")
    return facts((await api.get(f"{INCIDENTS}/{incident_id}"))["incident"])


@owner_command(app, 'mudra health silence --entity KAVERI-FIP --for PT4H --reason "planned work"')
async def silence(
    api: Api,
    reason: Annotated[str, typer.Option(help="Why alerts are silenced.")],
    for_: For = "PT4H",
    entity: Annotated[
        str,
        typer.Option("--entity", help="Only this entity, or AA/FIP for their path; else all."),
    ] = "",
    type_: Annotated[
        str, typer.Option("--type", help="Only this API, a code such as fireq; all when left out.")
    ] = "",
    in_: In = "",
) -> Shown:
    """Send no alerts about an entity, one of its APIs, or all members, for some time."""
    one, _, peer = entity.partition("/")
    body: dict[str, object] = {"entityId": one, "peerId": peer, "type": type_, "reason": reason}
    return await _begin(api, body, for_, in_)


@owner_command(
    app, 'mudra health maintenance KAVERI-FIP --in PT30H --for PT2H --reason "new disks"'
)
async def maintenance(
    api: Api,
    entity: Annotated[str, typer.Argument(help="The entity that is maintained.")],
    reason: Annotated[str, typer.Option(help="What is done.")],
    for_: For = "PT4H",
    in_: In = "",
) -> Shown:
    """Announce planned maintenance: the entity is not rated meanwhile; unsilence ends it."""
    body: dict[str, object] = {"entityId": entity, "reason": reason, "maintenance": True}
    return await _begin(api, body, for_, in_)


@owner_command(app, "mudra health silences")
async def silences(
    api: Api,
    past: Annotated[
        bool, typer.Option("--past", help="Include silences that ended in the last 90 days.")
    ] = False,
) -> Shown:
    """List active and scheduled silences, earliest end first."""
    found = (await api.get(_SILENCES, {"past": "true" if past else ""}))["silences"]
    return table(
        ["ID", "ENTITY", "API", "MAINTENANCE", "BEGINS", "ENDS", "BY", "REASON"],
        [
            [
                *(one["silenceId"], one["entityId"] or "all", one["type"] or "all"),
                in_time(one) if one["maintenance"] else "no",
                *(one["begins"], one["ends"], one["madeBy"], one["reason"]),
            ]
            for one in found
        ],
        found,
    )


@owner_command(app, "mudra health unsilence 7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d")
async def unsilence(
    api: Api,
    silence_id: Annotated[UUID, typer.Argument(help="ID, as mudra health silences shows it.")],
) -> Shown:
    """End a silence now; alerts resume for incidents that continue."""
    return shown_silence((await api.post(f"{_SILENCES}/{silence_id}/end"))["silence"])


async def _begin(api: Api, body: dict[str, object], for_: str, in_: str) -> Shown:
    """Begin a silence, from now or after a time, by the service's clock."""
    times = times_after(await api.now(), in_, for_)
    return shown_silence((await api.post(_SILENCES, {**body, **times}))["silence"])
