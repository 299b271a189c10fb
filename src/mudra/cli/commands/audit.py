"""mudra audit: what happened, and the proof that it was not changed since."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer

from mudra.audit.event import Caller, Outcome
from mudra.audit.search import AuditFilter, AuditRow
from mudra.audit.verdict import AuditVerdict
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import Dependencies
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_store
from mudra.cli.output.output import fail, show_facts, show_json, show_table
from mudra.shared.time_text import iso_ms

app = typer.Typer(no_args_is_help=True, help="The audit: what happened, provably.")


_SENT = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]


@app.command("list", epilog="Example: mudra audit list --entity KAVERI-FIP --last 20")
def list_events(  # noqa: PLR0913, PLR0917  # one option for each field of the search
    entity: Annotated[str, typer.Option(help="Only events of this entity.")] = "",
    event: Annotated[str, typer.Option(help="Only events of this name; may end in *.")] = "",
    actor: Annotated[
        str, typer.Option(help="Only what this one did: a person's address, or as listed.")
    ] = "",
    outcome: Annotated[Outcome | None, typer.Option(help="Only those that ended so.")] = None,
    txn: Annotated[str, typer.Option(help="Only events of this transaction ID.")] = "",
    since: Annotated[
        datetime | None, typer.Option(formats=_SENT, help="From this time (UTC) on.")
    ] = None,
    until: Annotated[
        datetime | None, typer.Option(formats=_SENT, help="Before this time (UTC).")
    ] = None,
    last: Annotated[int, typer.Option(min=1, max=10_000, help="How many, the latest.")] = 50,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List events, oldest first."""
    which = AuditFilter(
        event=event,
        outcome=outcome.value if outcome else "",
        actor=actor,
        entity_id=entity,
        txn_id=txn,
        since=since.replace(tzinfo=UTC) if since else None,
        until=until.replace(tzinfo=UTC) if until else None,
    )

    async def act(dependencies: Dependencies) -> Sequence[AuditRow]:
        async with dependencies.unit_of_work() as work:
            rows = await work.audit_search.events(which, None, last)
        return list(reversed(rows))

    events = with_store(act, data_dir)
    if as_json:
        show_json([_document(found) for found in events])
        return
    show_table(
        ["AT", "EVENT", "OUTCOME", "ACTOR", "ENTITY", "ADDRESS", "REASON"],
        [
            [iso_ms(e.at), e.event, e.outcome, e.actor, e.entity_id, e.address, e.reason]
            for e in events
        ],
    )


@app.command("verify", epilog="Example: mudra audit verify && echo untouched")
def verify_chain(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Verify the hash chain over all events, and the checkpoints next to the database.

    Exits with 1 when a row was changed, removed, added or moved, and names the first.
    """

    async def act(dependencies: Dependencies) -> AuditVerdict:
        return await dependencies.verify_audit(Caller(operator_name()))

    verdict = with_store(act, data_dir)
    if not verdict.intact:
        fail(verdict.problem)
    facts = {"rows": verdict.rows, "vouched": verdict.vouched, "intact": True}
    if as_json:
        show_json(facts)
    else:
        show_facts({"sealed rows": verdict.rows, "vouched for by checkpoints": verdict.vouched})


def _document(event: AuditRow) -> dict[str, object]:
    return {
        "at": iso_ms(event.at),
        "event": event.event,
        "outcome": event.outcome,
        "actor": event.actor,
        "entityId": event.entity_id,
        "address": event.address,
        "txnId": event.txn_id,
        "reason": event.reason,
        "detail": dict(event.detail),
    }
