"""The audit chain in PostgreSQL.

Rows are sealed in the order of the transactions that wrote them, up to the oldest one of this
database that is still open: so none slips in behind the head.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, cast

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.dialects.postgresql import ARRAY, insert

from mudra.audit.acts import RECORDED, Act, Acts, acts_to_write
from mudra.audit.chain import START, Checkpoint, CheckpointForged, Epoch, Row, SealedRow
from mudra.audit.event import AuditEvent, EventName, Outcome
from mudra.audit.horizon_store import Horizon, read_horizon
from mudra.audit.place import Reached, Unsealed
from mudra.storage.database.server.running import running_processes
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.audit import audit_epoch, audit_event, audit_seal
from mudra.storage.tables.service import service_fact

VERIFIED: Final = "audit-verified"
"""The key under which a verification is announced."""
_INTACT_AT: Final = "audit-intact-at"
_FOUND: Final = "audit-verified"
_INTACT, _BROKEN = "intact", "broken"
_ABOUT: Final = ("jti", "version", "to", "user", "kid")
"""Details that name what an act was about, the first one that it has."""
_SEALER_LOCK: Final = 0x6D75647261 + 2
_PAGE: Final = 5000
_NOTHING: Final = Reached(0, 0)

_XID: Final = sa.text("audit_event.xid::text::bigint AS xid")
CLUSTER: Final = (
    "SELECT concat_ws('/', system_identifier,"
    " substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),"
    " (SELECT oid FROM pg_database WHERE datname = current_database()),"
    " 'audit_event'::regclass::oid) FROM pg_control_system()"
)
_BEHIND: Final = "(audit_event.xid, audit_event.seq) > (cast(cast(:xid AS text) AS xid8), :seq)"
_NEWER: Final = f"({_BEHIND} OR audit_event.seq > :newest)"
"""Rows of the cluster that sealed last, and rows of one after it, whose transactions may have
smaller numbers: the series of `seq` goes on in every cluster that a database comes to."""
_NO_SEAL: Final = "(SELECT number FROM audit_seal WHERE audit_seal.seq = audit_event.seq) IS NULL"
"""As a question about each row found: a join might read all seals first."""
_XID_ORDER: Final = sa.text("audit_event.xid")
_OWN_ORDER: Final = sa.text("audit_event.xid::text::bigint")
"""The same order, but of no index, which might be read whole to find few rows in order."""
_COMMITTED: Final = "audit_event.xid < cast(cast(:before AS text) AS xid8)"
_KNOWN: Final = f"({_COMMITTED} AND audit_event.at <= :until)"
_RESTORED: Final = f"({_KNOWN} OR audit_event.xid >= cast(cast(:next AS text) AS xid8))"
_UNSEALED: Final = sa.text(
    "SELECT e.seq, e.xid::text::bigint, e.at,"
    " e.seq <= (SELECT last_value FROM audit_event_seq_seq)"
    " AND e.xid < pg_snapshot_xmax(pg_current_snapshot())"
    " FROM audit_event e LEFT JOIN audit_seal s ON s.seq = e.seq"
    " WHERE s.seq IS NULL OR e.seq > (SELECT last_value FROM audit_event_seq_seq)"
    " ORDER BY e.seq LIMIT :most"
)
_LONG: Final = sa.text("SELECT set_config('statement_timeout', '300s', true)")
_ENTERING_S: Final = 100
"""Seconds for a statement that finds the first rows of an epoch: after a restore PostgreSQL knows
nothing of its tables yet, and may read all rows."""
_OTHERS: Final = 2
"""Processes on the list of nodes: the one that asks is on it."""


class LedgerStore:
    """The chain as the one sealer sees it, in its transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self._encryption = transaction.encryption

    async def head(self) -> Checkpoint:
        """The current head of the chain; `START` before the first seal. Holds the sealer's lock."""
        await self._tx.connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_SEALER_LOCK)))
        c = audit_seal.c
        row = (
            await self._tx.connection.execute(
                sa.select(c.number, c.hash, self._tx.this_moment, c.epoch)
                .order_by(c.number.desc())
                .limit(1)
            )
        ).first()
        return Checkpoint(*row) if row else START

    async def count(self) -> int:
        """Return how many rows are sealed."""
        highest = sa.select(sa.func.coalesce(sa.func.max(audit_seal.c.number), 0))
        return int(await self._tx.connection.scalar(highest) or 0)

    async def cluster(self) -> str:
        """Name the cluster, its timeline, the database and the table.

        A dump that is restored makes another table; a recovery another timeline.
        """
        return str(await self._tx.connection.scalar(sa.text(CLUSTER)))

    async def epochs(self) -> Sequence[Epoch]:
        """All epochs in order; raises CheckpointForged."""
        rows = await self._tx.connection.execute(
            sa.select(audit_epoch).order_by(audit_epoch.c.number)
        )
        found = []
        for number, cluster, kept, after, at, confirmed_by, mac in rows:
            epoch = Epoch(number, cluster, kept, after, at.astimezone(UTC), confirmed_by)
            if not self._encryption.is_checkpoint_mac(epoch.statement(), mac):
                raise CheckpointForged(f"epoch {number} in the database was altered")
            found.append(epoch)
        return found

    async def add_epoch(self, epoch: Epoch) -> None:
        """Sign and store a new epoch."""
        await self._tx.connection.execute(
            sa.insert(audit_epoch).values(
                number=epoch.number,
                cluster=epoch.cluster,
                found=epoch.found,
                after=epoch.after,
                at=epoch.at,
                confirmed_by=epoch.confirmed_by,
                mac=self._encryption.checkpoint_mac(epoch.statement()),
            )
        )

    async def next_unsealed(self, after: int, epoch: int, limit: int) -> Sequence[Row]:
        """Committed rows without a seal, in the order of their transactions.

        They are numbered from `after` + 1. A row counts as committed only when no
        transaction of this database that began before it is still open, so that none
        slips in behind the head.
        """
        horizon = await read_horizon(self._tx.connection)
        return await self._next(_COMMITTED, horizon, after, epoch, limit)

    async def next_restored(
        self, after: int, epoch: int, until: datetime, limit: int
    ) -> Sequence[Row]:
        """Give rows without a seal that came with the database out of another cluster.

        Those are the ones of transactions that this cluster has not reached, and the ones
        written by `until`. Their transactions may have any number; those that this cluster
        has in use come later.
        """
        horizon = await read_horizon(self._tx.connection)
        came_from = [one.cluster for one in await self.epochs() if one.number == epoch]
        # After a fail-over the numbers go on: greater ones are of a cluster before, and sealed.
        go_on = [tables_of(one) for one in came_from] == [tables_of(await self.cluster())]
        which = _KNOWN if go_on else _RESTORED
        return await self._next(which, horizon, after, epoch, limit, until)

    async def _next(  # one query
        self,
        which: str,
        horizon: Horizon,
        after: int,
        epoch: int,
        limit: int,
        until: datetime | None = None,
    ) -> Sequence[Row]:
        sealed, last = await self._last_sealed()
        if until is not None or sealed != epoch:
            await self._tx.take_time(_ENTERING_S)
        values: dict[str, object] = {"xid": str(last.xid), "seq": last.row_id}
        values["before"] = str(horizon.open_from)
        if until is not None:
            values |= {"next": str(horizon.next_xid), "until": until}
        behind, order = _BEHIND, _XID_ORDER
        if sealed not in {epoch, 0}:
            behind, order = _NEWER, _OWN_ORDER
            newest = sa.select(sa.func.max(audit_seal.c.seq))
            values["newest"] = await self._tx.connection.scalar(newest)
        rows = (
            await self._tx.connection.execute(
                sa.select(audit_event, _XID)
                .where(sa.text(behind), sa.text(which), sa.text(_NO_SEAL))
                .order_by(order, audit_event.c.seq)
                .limit(limit),
                values,
            )
        ).mappings()
        return [
            _row(after + place, epoch, cast("Mapping[str, object]", row))
            for place, row in enumerate(rows, start=1)
        ]

    async def acts(self, after: int, until: int) -> Acts:
        """Return the acts among the sealed rows from number `after` + 1 to `until`."""
        rows = await self._tx.connection.execute(
            sa.select(audit_event)
            .join(audit_seal, audit_seal.c.seq == audit_event.c.seq)
            .where(
                *(audit_seal.c.number > after, audit_seal.c.number <= until),
                audit_event.c.event.in_([name.value for name in RECORDED]),
                audit_event.c.outcome == Outcome.SUCCESS.value,
            )
            .order_by(audit_seal.c.number)
        )
        return acts_to_write([_act(cast("Mapping[str, object]", row)) for row in rows.mappings()])

    async def present(self, row_ids: Sequence[int]) -> frozenset[tuple[int, datetime]]:
        """Return which of these rows there are, each with its time."""
        rows = await self._tx.connection.execute(
            sa.select(audit_event.c.seq, audit_event.c.at).where(
                audit_event.c.seq == sa.any_(sa.literal(list(row_ids), ARRAY(sa.BigInteger)))
            )
        )
        return frozenset((seq, at.astimezone(UTC)) for seq, at in rows)

    async def latest(self) -> datetime | None:
        """Return the time of the newest event; None when there is none."""
        c = audit_event.c
        at = await self._tx.connection.scalar(sa.select(c.at).order_by(c.seq.desc()).limit(1))
        return at.astimezone(UTC) if at is not None else None

    async def reached(self) -> Reached:
        """Return how far the sealer came. Ask before `unsealed`."""
        epochs = await self.epochs()
        return await self._last_of(epochs[-1].number) if epochs else _NOTHING

    async def _last_of(self, epoch: int) -> Reached:
        sealed, last = await self._last_sealed()
        return last if sealed == epoch else _NOTHING

    async def _last_sealed(self) -> tuple[int, Reached]:
        """Return the last sealed row and its epoch; 0 when there is none."""
        row = (
            await self._tx.connection.execute(
                sa.select(audit_seal.c.epoch, _XID, audit_event.c.seq)
                .join_from(audit_seal, audit_event, audit_seal.c.seq == audit_event.c.seq)
                .order_by(audit_seal.c.number.desc())
                .limit(1)
            )
        ).first()
        return (row[0], Reached(row[1], row[2])) if row else (0, _NOTHING)

    async def keep_seals(self, rows: Sequence[Row], hashes: Sequence[bytes]) -> None:
        """Store number, epoch and hash of each row."""
        await self._tx.connection.execute(
            sa.insert(audit_seal),
            [
                {"number": row.number, "seq": row.row_id, "epoch": row.epoch, "hash": sealed}
                for row, sealed in zip(rows, hashes, strict=True)
            ],
        )

    async def first(self) -> int:
        """Return the number of the first sealed row; 0 when there is none."""
        lowest = sa.select(sa.func.min(audit_seal.c.number))
        return int(await self._tx.connection.scalar(lowest) or 0)

    async def sealed(self, after: int = 0, until: int | None = None) -> AsyncIterator[SealedRow]:
        """Sealed rows by their number, page by page, so that a table of any length fits."""
        while True:
            page = await self._page(after, until, _PAGE)
            for row in page:
                yield row
            if len(page) < _PAGE:
                return
            after = page[-1].row.number

    async def sealed_after(self, number: int, limit: int) -> Sequence[SealedRow]:
        """Give the first sealed rows after a number, at most so many."""
        return await self._page(number, None, limit)

    async def _page(self, after: int, until: int | None, limit: int) -> list[SealedRow]:
        s = audit_seal.c
        last = sa.true() if until is None else s.number <= until
        rows = await self._tx.connection.execute(
            sa.select(s.number, s.epoch, s.hash, audit_event, _XID)
            .outerjoin(audit_event, audit_event.c.seq == s.seq)
            .where(s.number > after, last)
            .order_by(s.number)
            .limit(limit)
        )
        page = []
        for row in rows.mappings():
            if row["seq"] is None:
                raise CheckpointForged(f"the event of sealed row {row['number']} is gone")
            found = _row(row["number"], row["epoch"], cast("Mapping[str, object]", row))
            page.append(SealedRow(found, row["hash"]))
        return page

    async def unsealed(self, limit: int) -> Sequence[Unsealed]:
        """Rows without a seal, and such as have a number that the table never gave out."""
        await self._tx.connection.execute(_LONG)
        rows = await self._tx.connection.execute(_UNSEALED, {"most": limit})
        return [Unsealed(*tuple(row)) for row in rows]

    async def now(self) -> datetime:
        """The time, which stamps events."""
        return await self._tx.now()

    async def is_service_running(self) -> bool:
        """Return whether another process of the service is connected to this database."""
        return await running_processes(self._tx) >= _OTHERS

    async def keep_verification(self, *, intact: bool) -> None:
        """Record what a verification of the whole audit found now."""
        await keep_verification(self._tx, intact=intact)


def tables_of(cluster: str) -> str:
    """Return what of a cluster's name is about the tables themselves: all but the timeline."""
    system, _, rest = cluster.partition("/")
    return f"{system}/{rest.partition('/')[2]}"


def _row(number: int, epoch: int, row: Mapping[str, object]) -> Row:
    return Row(number, cast("int", row["seq"]), event_of(row), cast("int", row["xid"]), epoch)


def _act(row: Mapping[str, object]) -> Act:
    event = event_of(row)
    about = next((str(event.detail[name]) for name in _ABOUT if name in event.detail), "")
    row_id = cast("int", row["seq"])
    return Act(row_id, event.at, event.event.value, event.entity_id, event.actor, about)


def event_of(row: Mapping[str, object]) -> AuditEvent:
    """Read an event from its row; a word that this version does not know raises ValueError."""
    at = row["at"]
    assert isinstance(at, datetime)
    return AuditEvent(
        event=EventName(cast("str", row["event"])),
        outcome=Outcome(cast("str", row["outcome"])),
        at=at.astimezone(UTC),
        actor=cast("str", row["actor"]),
        entity_id=cast("str", row["entity_id"]),
        address=cast("str", row["address"]),
        txn_id=cast("str", row["txn_id"]),
        reason=cast("str", row["reason"]),
        detail=cast("Mapping[str, str | int]", row["detail"]),
    )


class LastVerification(Struct, frozen=True):
    """When the audit was last found intact, and whether the verification after that failed."""

    intact_at: datetime | None
    failed: bool


async def keep_verification(transaction: Transaction, *, intact: bool) -> None:
    """Record what a verification found now."""
    facts = [{"name": _FOUND, "value": _INTACT if intact else _BROKEN}]
    if intact:
        facts.append({"name": _INTACT_AT, "value": (await transaction.now()).isoformat()})
    new = insert(service_fact)
    await transaction.connection.execute(
        new.on_conflict_do_update(
            index_elements=[service_fact.c.name], set_={"value": new.excluded.value}
        ),
        facts,
    )
    await transaction.changing(VERIFIED)


async def last_verification(transaction: Transaction) -> LastVerification:
    """Return what the last verification found."""
    c = service_fact.c
    rows = await transaction.connection.execute(
        sa.select(c.name, c.value).where(c.name.in_((_INTACT_AT, _FOUND)))
    )
    facts = {row.name: row.value for row in rows}
    at = facts.get(_INTACT_AT)
    return LastVerification(
        datetime.fromisoformat(at) if at else None, facts.get(_FOUND) == _BROKEN
    )
