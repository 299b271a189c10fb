"""mudra health incident, act: one incident with its history, and acts on it."""

from typing import Annotated
from uuid import UUID

import typer

from mudra.cli.client.api import Answer, Api
from mudra.cli.command import owner_command
from mudra.cli.output.output import show_facts, show_table
from mudra.cli.output.shown import Shown
from mudra.metrics.incidents.acts.act import ActKind

_INCIDENT = "7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d"
INCIDENTS = "/operator/v1/incidents"
IncidentId = Annotated[UUID, typer.Argument(help="ID of the incident.")]


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this file."""
    owner_command(app, f"mudra health incident {_INCIDENT}")(incident)
    act = f'mudra health act {_INCIDENT} comment --text "gateway restarted"'
    owner_command(app, act, "act")(incident_act)


async def incident(api: Api, incident_id: IncidentId) -> Shown:
    """Show an incident: its cause, and what happened since."""
    return _shown(await api.get(f"{INCIDENTS}/{incident_id}"))


async def incident_act(
    api: Api,
    incident_id: IncidentId,
    kind: Annotated[ActKind, typer.Argument(help="What is done.")],
    text: Annotated[
        str, typer.Option(help="The comment, note, reason or post-mortem; assign needs none.")
    ] = "",
    owner: Annotated[
        str, typer.Option(help="Address of the new owner, for assign and hand-over; '' for none.")
    ] = "",
) -> Shown:
    """Assign, hand over, comment, close or reopen an incident, or write its post-mortem."""
    body = {"act": kind.value, "text": text, "owner": owner}
    return _shown(await api.post(f"{INCIDENTS}/{incident_id}/acts", body))


def _shown(answer: Answer) -> Shown:
    facts, acts = answer["incident"], answer["acts"]

    def show() -> None:
        show_facts({name: value for name, value in facts.items() if name != "story"})
        lines = [[one["at"], one["text"], ""] for one in facts["story"]]
        lines += [[one["at"], _text(one), one["by"]] for one in acts]
        show_table(["AT", "WHAT", "BY"], sorted(lines))

    return Shown({**facts, "acts": acts}, show)


def _text(act: Answer) -> str:
    to = f" to {act['owner'] or 'no one'}" if act["act"] in {"assign", "hand-over"} else ""
    return f"{act['act']}{to}" + (f": {act['text']}" if act["text"] else "")
