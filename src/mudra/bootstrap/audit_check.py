"""The whole audit verified, page by page: as a command, or for an operator over HTTP."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol

from mudra.audit.chain import START, Broken, Checkpoint, Intact, SealedRow, verify
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.audit.verdict import AuditVerdict
from mudra.storage.audit.chain import PostgresLedger
from mudra.storage.audit.witness import CheckpointForged, FileWitness
from mudra.storage.database.database import Database
from mudra.unit_of_work import UnitOfWork

MAX_S: Final = 300.0
"""Five million rows; beyond that the command line is the place."""
_PAGE: Final = 2000


class AuditDependencies(Protocol):
    """What of this process is needed to verify."""

    @property
    def database(self) -> Database:
        """The database."""

    @property
    def witness(self) -> FileWitness:
        """The checkpoints next to it."""

    def unit_of_work(self) -> AbstractAsyncContextManager[UnitOfWork]:
        """Open a transaction with all its ports."""


async def verify_audit(dependencies: AuditDependencies, caller: Caller) -> AuditVerdict:
    """Verify every sealed row and the checkpoints, and note in the audit that it was done."""
    found = await _verdict(dependencies)
    outcome = Outcome.SUCCESS if found.intact else Outcome.FAILED
    detail = {"rows": found.rows, "vouched": found.vouched}
    async with dependencies.unit_of_work() as work:
        await work.audit_log.append(
            AuditEntry(EventName.AUDIT_CHAIN_VERIFY, caller, detail=detail, outcome=outcome)
        )
    return found


async def _verdict(dependencies: AuditDependencies) -> AuditVerdict:
    start = START
    try:
        checkpoints = dependencies.witness.all()
        async with dependencies.database.transaction(within_s=MAX_S) as transaction:
            async for page, last in _pages(PostgresLedger(transaction).sealed()):
                # Hashing a page takes tens of milliseconds: other requests go on meanwhile.
                found = await asyncio.to_thread(_step, page, checkpoints, start, last=last)
                if isinstance(found, Broken):
                    return AuditVerdict(
                        intact=False,
                        rows=found.number - 1,
                        vouched=max(found.sound, _vouched(checkpoints, start.count)),
                        problem=found.sentence(),
                    )
                start = Checkpoint(found.count, found.head, start.at)
    except (CheckpointForged, ValueError) as error:
        problem = f"a checkpoint or a sealed row cannot be read: {error}"
        return AuditVerdict(intact=False, rows=start.count, vouched=0, problem=problem)
    vouched = _vouched(checkpoints, start.count)
    return AuditVerdict(intact=True, rows=start.count, vouched=vouched, problem="")


def _step(
    page: Sequence[SealedRow], checkpoints: Sequence[Checkpoint], start: Checkpoint, *, last: bool
) -> Intact | Broken:
    end = start.count + len(page)
    due = [one for one in checkpoints if last or one.count <= end]
    return verify(page, due, start)


def _vouched(checkpoints: Sequence[Checkpoint], count: int) -> int:
    return max((one.count for one in checkpoints if one.count <= count), default=0)


async def _pages(rows: AsyncIterator[SealedRow]) -> AsyncIterator[tuple[list[SealedRow], bool]]:
    """Gather rows into pages; the last one, which may be empty, says so."""
    page: list[SealedRow] = []
    async for row in rows:
        if len(page) == _PAGE:
            yield page, False
            page = []
        page.append(row)
    yield page, True
