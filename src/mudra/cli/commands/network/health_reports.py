"""mudra health held, admit, refuse: implausible reports of AAs."""

from typing import Annotated
from uuid import UUID

import typer

from mudra.cli.client.api import Api
from mudra.cli.command import owner_command
from mudra.cli.output.shown import Shown, facts, table

_RECEIPT = "7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d"
_PATH = "/operator/v1/health/held-reports"
ReceiptId = Annotated[UUID, typer.Argument(help="Receipt, as mudra health held shows it.")]
Reason = Annotated[str, typer.Option(help="Why, for the audit log.")]


def add_decisions(app: typer.Typer) -> None:
    """Add the commands that decide."""
    owner_command(app, f'mudra health admit {_RECEIPT} --reason "a festival"')(admit)
    owner_command(
        app,
        f'mudra health refuse {_RECEIPT} --reason "a test run"',
        asks=lambda typed: f"{typed['receipt_id']} is never counted. Refuse it?",
    )(refuse)


async def held(
    api: Api,
    decided: Annotated[
        bool, typer.Option("--decided", help="Include reports that were decided.")
    ] = False,
) -> Shown:
    """List implausible reports, which are in no sum until they are admitted."""
    found = (await api.get(_PATH, {"decided": "true" if decided else ""}))["reports"]
    names = ("receiptId", "aaId", "window", "claimed", "plausible", "doubt", "state")
    return table(
        ["RECEIPT", "AA", "WINDOW", "CLAIMED", "PLAUSIBLE", "WHAT", "STATE"],
        [[one[name] for name in names] for one in found],
        found,
    )


async def admit(api: Api, receipt_id: ReceiptId, reason: Reason) -> Shown:
    """Count an implausible report like any other."""
    return facts((await api.post(f"{_PATH}/{receipt_id}/admit", {"reason": reason}))["report"])


async def refuse(api: Api, receipt_id: ReceiptId, reason: Reason) -> Shown:
    """Leave an implausible report out permanently; it stays stored."""
    return facts((await api.post(f"{_PATH}/{receipt_id}/refuse", {"reason": reason}))["report"])
