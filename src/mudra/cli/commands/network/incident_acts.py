"""mudra health incident, act: one incident with its history, and acts on it."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated
from uuid import UUID

import msgspec
import typer

from mudra.audit.event import Caller
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import Dependencies
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_store
from mudra.cli.output.output import fail, show_facts, show_json, show_table
from mudra.http.response.alarm_responses import (
    ActDetails,
    IncidentDetails,
    act_details,
    incident_details,
)
from mudra.metrics.incidents.acts.act import ActCommand, ActKind
from mudra.metrics.incidents.incident import StoredIncident
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import UnitOfWork

INCIDENT = "7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d"
IncidentId = Annotated[UUID, typer.Argument(help="ID of the incident.")]


def incident(incident_id: IncidentId, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show an incident: its cause, and what happened since."""

    async def read(work: UnitOfWork) -> StoredIncident | Refusal:
        return await work.incidents.find(str(incident_id))

    _show(*_done(read, data_dir), as_json=as_json)


def incident_act(
    incident_id: IncidentId,
    kind: Annotated[ActKind, typer.Argument(help="What is done.")],
    text: Annotated[
        str, typer.Option(help="The comment, note, reason or post-mortem; assign needs none.")
    ] = "",
    owner: Annotated[
        str, typer.Option(help="Address of the new owner, for assign and hand-over; '' for none.")
    ] = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Assign, hand over, comment, close or reopen an incident, or write its post-mortem."""
    command = ActCommand(kind, text, owner)

    async def act(work: UnitOfWork) -> StoredIncident | Refusal:
        return await work.incident_acts.act(str(incident_id), command, Caller(operator_name()))

    _show(*_done(act, data_dir), as_json=as_json)


def _done(
    act: Callable[[UnitOfWork], Awaitable[StoredIncident | Refusal]], data_dir: Path | None
) -> tuple[IncidentDetails, list[ActDetails]]:
    async def within(dependencies: Dependencies) -> tuple[IncidentDetails, list[ActDetails]]:
        async with dependencies.unit_of_work() as work:
            stored = await act(work)
            if isinstance(stored, Refusal):
                fail(stored.sentence)
            acts = await work.incident_acts.of(stored.incident_id)
            return incident_details(stored), [act_details(one) for one in acts]

    return with_store(within, data_dir)


def _show(shown: IncidentDetails, acts: list[ActDetails], *, as_json: bool) -> None:
    facts = msgspec.to_builtins(shown)
    if as_json:
        show_json({**facts, "acts": [msgspec.to_builtins(one) for one in acts]})
        return
    show_facts({name: value for name, value in facts.items() if name != "story"})
    lines = [(one.at, one.text, "") for one in shown.timeline]
    lines += [(one.at, _text(one), one.by) for one in acts]
    show_table(["AT", "WHAT", "BY"], [list(line) for line in sorted(lines)])


def _text(act: ActDetails) -> str:
    to = f" to {act.owner or 'no one'}" if act.act in {"assign", "hand-over"} else ""
    return f"{act.act}{to}" + (f": {act.text}" if act.text else "")
