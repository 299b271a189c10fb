"""Verify the whole audit, page by page: every seal, every place, every checkpoint."""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from mudra.audit.audit_chain import AuditChain
from mudra.audit.audit_log_store import AuditLog
from mudra.audit.chain import Broken, Checkpoint, CheckpointForged, Epoch, SealedRow, verify
from mudra.audit.chain_store import LedgerStore
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.audit.place import PlaceCheck, Unsealed, is_stray
from mudra.audit.proof.archive import archived_start
from mudra.audit.proof.block_check import BlockCheck
from mudra.audit.proof.second_place import Comparison, compare, not_yet_opened
from mudra.audit.proof.verdict import AuditState, AuditVerdict


class OrderedCheckpoints:
    """Checkpoints by the number of rows that they count; those of one number in their order."""

    def __init__(self, checkpoints: Iterable[Checkpoint]) -> None:
        self._ordered = sorted(checkpoints, key=lambda one: one.count)
        self._counts = [one.count for one in self._ordered]

    def after(self, row: int, until: int | None = None) -> Sequence[Checkpoint]:
        """Return those that count more rows than this one, up to `until` or all of them."""
        end = len(self._counts) if until is None else bisect_right(self._counts, until)
        return self._ordered[bisect_right(self._counts, row) : end]

    def sealed_by(self, row: int, otherwise: datetime) -> datetime:
        """Return the time of the first that counts this row; `otherwise` when none does."""
        place = bisect_left(self._counts, row)
        return self._ordered[place].at if place < len(self._ordered) else otherwise


MAX_S: Final = 300.0
"""Seconds: five million rows; beyond that the command line is the place."""
MAX_WAIT: Final = timedelta(minutes=15)
"""An event that waits longer for its seal means that sealing has stopped."""
_PAGE: Final = 2000
_MAX_UNSEALED: Final = 100_000


async def verify_audit(
    chain: AuditChain, audit_log: AuditLog, caller: Caller, also: Sequence[Checkpoint] = ()
) -> AuditVerdict:
    """Verify every row and every checkpoint, and record in the audit that it was done.

    `also` are checkpoints out of a collected log, besides those of the second place.
    """
    found = await _verdict(chain, also)
    await chain.ledger.keep_verification(intact=found.intact)
    outcome = Outcome.SUCCESS if found.intact else Outcome.FAILED
    detail = {"rows": found.rows, "vouched": found.vouched, "state": found.state.value}
    await audit_log.append(
        AuditEntry(EventName.AUDIT_CHAIN_VERIFY, caller, detail=detail, outcome=outcome)
    )
    return found


async def _verdict(chain: AuditChain, also: Sequence[Checkpoint]) -> AuditVerdict:
    try:
        # In this order: what is in the second place was in the database before.
        # A year of checkpoints is a second of reading and comparing: others go on meanwhile.
        witnessed = [*await asyncio.to_thread(chain.witness.all), *also]
        stored = await chain.checkpoints.all()
        epochs = await _epochs(chain.ledger, witnessed)
        compared = await asyncio.to_thread(compare, stored, witnessed, epochs)
        start, last_block = await archived_start(chain, [*stored, *witnessed])
        blocks = BlockCheck(chain.token_issues, last_block)
        rows = await _verify_rows(chain, compared, epochs, blocks, start)
    except (CheckpointForged, ValueError) as error:
        problem = f"a checkpoint or a sealed row cannot be read: {error}"
        return AuditVerdict(AuditState.BROKEN, 0, 0, problem)
    if isinstance(rows, Broken):
        vouched = max(rows.sound, _vouched(compared, rows.number - 1))
        return AuditVerdict(AuditState.BROKEN, rows.number - 1, vouched, rows.sentence())
    verdict = await _with_the_unsealed(
        chain, compared, rows, await blocks.added(chain.token_issues)
    )
    return msgspec.structs.replace(
        verdict,
        token_blocks=blocks.found,
        dropped_blocks=blocks.last - last_block - blocks.found,
        archived=start.count,
    )


async def _epochs(ledger: LedgerStore, witnessed: Sequence[Checkpoint]) -> Sequence[Epoch]:
    epochs = await ledger.epochs()
    now, cluster, count = await ledger.now(), await ledger.cluster(), await ledger.count()
    return [*epochs, *not_yet_opened(epochs, witnessed, cluster, count, now)]


async def _verify_rows(
    chain: AuditChain,
    compared: Comparison,
    epochs: Sequence[Epoch],
    blocks: BlockCheck,
    start: Checkpoint,
) -> Checkpoint | Broken:
    places = PlaceCheck(clock_is_moved=chain.clock_is_moved)
    now = await chain.ledger.now()
    required = OrderedCheckpoints(compared.required)
    async for page, last in _pages(chain.ledger.sealed(start.count)):
        end = start.count + len(page)
        due = required.after(start.count, None if last else end)
        until = required.sealed_by(end, now)
        # Hashing a page takes tens of milliseconds: other requests go on meanwhile.
        found = await asyncio.to_thread(_verify_page, page, due, start, epochs, places, until)
        if isinstance(found, Broken):
            return found
        fault = await blocks.fault(page, start.count)
        if fault is not None:
            return fault
        start = found
    return start


def _verify_page(  # runs in a thread, from these alone
    page: Sequence[SealedRow],
    due: Sequence[Checkpoint],
    start: Checkpoint,
    epochs: Sequence[Epoch],
    places: PlaceCheck,
    until: datetime,
) -> Checkpoint | Broken:
    found = verify(page, due, start, epochs)
    ordered = OrderedCheckpoints(due)
    for sealed in page:
        row = sealed.row
        if isinstance(found, Broken) and row.number >= found.number:
            return found
        fault = places.fault(row, ordered.sealed_by(row.number, until))
        if fault is not None:
            return Broken(row.number, fault, start.count)
    if isinstance(found, Broken):
        return found
    return Checkpoint(found.count, found.head, start.at, found.epoch)


async def _with_the_unsealed(
    chain: AuditChain, compared: Comparison, end: Checkpoint, added: str
) -> AuditVerdict:
    ledger = chain.ledger
    reached = await ledger.reached()
    unsealed = await ledger.unsealed(_MAX_UNSEALED)
    entering = await _is_entering(ledger)
    strays = [] if entering else [row for row in unsealed if is_stray(row, reached)]
    notes = tuple(loss.sentence() for loss in compared.losses if loss.confirmed)
    state, problem = AuditState.INTACT, ""
    if strays:
        state = AuditState.BROKEN
        problem = (
            f"{len(strays)} rows were written to look older or younger than they are, and have "
            f"no seal; the first has seq {strays[0].row_id}"
        )
    elif added:
        state, problem = AuditState.BROKEN, added
    elif stopped := await _stopped(chain, unsealed):
        state, problem = AuditState.STOPPED, stopped
    elif losses := [loss for loss in compared.losses if not loss.confirmed]:
        state = AuditState.RESTORED
        problem = (
            f"{'; '.join(loss.sentence() for loss in losses)}. If this restore was meant, "
            "confirm it: mudra audit confirm-restore"
        )
    return AuditVerdict(
        state, end.count, _vouched(compared, end.count), problem, len(unsealed), notes
    )


async def _is_entering(ledger: LedgerStore) -> bool:
    """Return whether the sealer has not yet begun in this cluster: no row can be placed yet."""
    epochs = await ledger.epochs()
    return not epochs or epochs[-1].cluster != await ledger.cluster()


async def _stopped(chain: AuditChain, unsealed: Sequence[Unsealed]) -> str:
    ledger = chain.ledger
    oldest = min((row.at for row in unsealed), default=None)
    unpacked = await chain.token_issues.longest_wait()
    if unpacked is not None and await ledger.now() - unpacked >= MAX_WAIT:
        if not await ledger.is_service_running():
            return ""
        return (
            f"packing has stopped: tokens issued since {unpacked:%Y-%m-%dT%H:%M:%SZ} are in no "
            "block while the service runs; mudra doctor names the reason"
        )
    if oldest is None or await ledger.now() - oldest < MAX_WAIT:
        return ""
    if not await ledger.is_service_running():
        return ""
    return (
        f"sealing has stopped: {len(unsealed)} events since {oldest:%Y-%m-%dT%H:%M:%SZ} are not "
        "sealed while the service runs; mudra doctor names the reason"
    )


def _vouched(compared: Comparison, count: int) -> int:
    return max((one.count for one in compared.required if one.count <= count), default=0)


async def _pages(rows: AsyncIterator[SealedRow]) -> AsyncIterator[tuple[list[SealedRow], bool]]:
    """Gather rows into pages; the last one, which may be empty, says so."""
    page: list[SealedRow] = []
    async for row in rows:
        if len(page) == _PAGE:
            yield page, False
            page = []
        page.append(row)
    yield page, True
