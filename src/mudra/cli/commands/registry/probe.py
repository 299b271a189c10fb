"""mudra registry probe: does the base URL of an entry answer, and does it hold the key."""

import asyncio
import time
from typing import Annotated

import typer

from mudra.cli.client.api import Api, in_path
from mudra.cli.command import user_command
from mudra.cli.output.output import fail
from mudra.cli.output.shown import Shown, facts

_WAIT_S = 60.0
_PAUSE_S = 0.5


def add_to(app: typer.Typer) -> None:
    """Add the command of this file."""
    user_command(app, "mudra registry probe KAVERI-FIP --json")(probe)


async def probe(
    api: Api, entity_id: Annotated[str, typer.Argument(help="The entity's ID.")]
) -> Shown:
    """Call the base URL of the pending version, else of the live one, and show what answers.

    For operators with the scope registry, before an approval: whether it answers, by which
    certificate, and whether it holds the registered key.
    """
    path = f"/operator/v1/registry/entries/{in_path(entity_id)}/probe"
    found, until = await api.post(path), time.monotonic() + _WAIT_S
    while found.get("doneAt") is None:
        if time.monotonic() > until:
            fail(f"the probe is not done after {_WAIT_S:g} seconds: does the service run its jobs?")
        await asyncio.sleep(_PAUSE_S)
        found = await api.get(path)
    certificate = found.get("certificate")
    proven = "proven" if found["keyProven"] else f"not proven: {found['keyProblem']}"
    return facts(
        {
            "entity": f"{found['entityId']}, version {found['version']}",
            "done": found["doneAt"],
            "answer": found["problem"] or f"status {found['status']}",
            "registered key": proven,
            "certificate": certificate["subject"] if certificate else "none (no TLS)",
            "issued by": certificate["issuer"] if certificate else "",
            "valid until": certificate["validUntil"] if certificate else "",
            "trusted": (certificate["problem"] or "yes") if certificate else "",
        },
        found,
    )
