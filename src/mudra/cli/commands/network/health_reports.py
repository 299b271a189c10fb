"""mudra health held, admit, refuse: implausible reports of AAs."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar
from uuid import UUID

import msgspec
import typer

from mudra.audit.event import Caller
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import Dependencies
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_store
from mudra.cli.output.output import fail, show_facts, show_json, show_table
from mudra.http.response.held_responses import held_details
from mudra.metrics.payload.held_reports import Decided, HeldReport
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import UnitOfWork

T = TypeVar("T")
ReceiptId = Annotated[UUID, typer.Argument(help="Receipt, as mudra health held shows it.")]
Reason = Annotated[str, typer.Option(help="Why, for the audit log.")]


def held(
    decided: Annotated[
        bool, typer.Option("--decided", help="Include reports that were decided.")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List implausible reports, which are in no sum until they are admitted."""

    async def act(work: UnitOfWork) -> list[HeldReport]:
        return list(await work.held_reports.list(all_=decided))

    shown = [held_details(one) for one in _done(act, data_dir)]
    if as_json:
        show_json([msgspec.to_builtins(one) for one in shown])
        return
    show_table(
        ["RECEIPT", "AA", "WINDOW", "CLAIMED", "PLAUSIBLE", "WHAT", "STATE"],
        [
            [
                *(one.receipt_id, one.aa_id, one.window, one.claimed),
                *(one.plausible, one.doubt, one.state),
            ]
            for one in shown
        ],
    )


def admit(
    receipt_id: ReceiptId, reason: Reason, data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """Count an implausible report like any other."""

    async def act(work: UnitOfWork) -> Decided:
        return await work.held_reports.admit(str(receipt_id), reason, Caller(operator_name()))

    _show(_done(act, data_dir), as_json=as_json)


def refuse(
    receipt_id: ReceiptId, reason: Reason, data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """Leave an implausible report out permanently; it stays stored."""

    async def act(work: UnitOfWork) -> Decided:
        return await work.held_reports.refuse(str(receipt_id), reason, Caller(operator_name()))

    _show(_done(act, data_dir), as_json=as_json)


def _done(act: Callable[[UnitOfWork], Awaitable[T]], data_dir: Path | None) -> T:
    async def within(dependencies: Dependencies) -> T:
        async with dependencies.unit_of_work() as work:
            return await act(work)

    return with_store(within, data_dir)


def _show(outcome: Decided, *, as_json: bool) -> None:
    if isinstance(outcome, Refusal):
        fail(outcome.sentence)
    facts = msgspec.to_builtins(held_details(outcome))
    if as_json:
        show_json(facts)
    else:
        show_facts(facts)
