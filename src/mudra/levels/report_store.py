"""Versions of reports in PostgreSQL, and who and what reports are made of."""

import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Final, TypeAlias

import msgspec
import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.dialects.postgresql import distinct_on

from mudra.identity.accounts.user import UserState
from mudra.identity.operators.operator import Scope
from mudra.levels.evidence import Evidence
from mudra.levels.report import Report, read_report
from mudra.levels.spans import Member
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.entity_type import EntityType
from mudra.storage.database.among import is_among
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.alarms import alarm_preference
from mudra.storage.tables.identity import (
    entity,
    entity_admin,
    entity_reader,
    operator_scope,
    user_account,
)
from mudra.storage.tables.levels import level_report
from mudra.storage.tables.metrics import metrics_receipt

_R: Final = level_report.c
_LISTED: Final = (
    *(_R.report_id, _R.entity_id, _R.starts, _R.ends, _R.version),
    *(_R.made_at, _R.made_by),
)
_LATEST: Final = (
    sa.select(_R.entity_id, _R.report)
    .where(_R.starts == sa.bindparam("start"), _R.ends == sa.bindparam("end"))
    .ext(distinct_on(_R.entity_id))
    .order_by(_R.entity_id, _R.version.desc())
)
_ADD: Final = sa.insert(level_report)
_M: Final = metrics_receipt.c
_E: Final = entity.c
_U: Final = user_account.c
_WANTING: Final = (
    sa.select(_U.email, _U.name)
    .join(alarm_preference, alarm_preference.c.user_id == _U.user_id)
    .where(alarm_preference.c.level_reports, _U.state == UserState.ACTIVE.value)
    .order_by(_U.email)
)
_WHO_BELONGS: Final = _WANTING.where(
    _U.user_id.in_(
        sa.union(
            sa.select(entity_admin.c.user_id).where(
                entity_admin.c.entity_id == sa.bindparam("entity_id")
            ),
            sa.select(entity_reader.c.user_id).where(
                entity_reader.c.entity_id == sa.bindparam("entity_id")
            ),
        )
    )
)
_WHO_OPERATES: Final = _WANTING.where(
    _U.user_id.in_(
        sa.select(operator_scope.c.user_id).where(operator_scope.c.scope == Scope.HEALTH.value)
    )
)


Sign: TypeAlias = Callable[[bytes], tuple[str, Mapping[str, str]]]
"""Returns the detached signature of some bytes, and the public key (JWK) that checks it."""


class Listed(Struct, frozen=True, rename="camel"):
    """One stored version."""

    report_id: str
    entity_id: str
    start: datetime
    end: datetime
    version: int
    made_at: datetime
    made_by: str


class Signed(Struct, frozen=True):
    """A report with the signature of its text, and the public key (JWK) that checks it."""

    text: bytes
    signature: str
    key: Mapping[str, str]

    @property
    def report(self) -> Report:
        """The report of the text."""
        return read_report(self.text)


class Reports:
    """Stored versions of reports."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def make_alone(self, entity_id: str) -> None:
        """Lets no other transaction make reports of a member until this one ends."""
        await self._tx.lock_name(f"level report:{entity_id}")

    async def add(
        self, report_id: str, signed: Signed, report: Report, evidence: bytes, by: str
    ) -> None:
        """Stores a version with its evidence, which is compressed already."""
        await self._tx.connection.execute(
            _ADD,
            {
                "report_id": report_id,
                "entity_id": report.member.entity_id,
                "starts": report.start,
                "ends": report.end,
                "version": report.version,
                "made_at": report.made_at,
                "made_by": by,
                "report": signed.text,
                "signature": signed.signature,
                "key": dict(signed.key),
                "evidence": evidence,
            },
        )

    async def latest(self, entity_ids: Collection[str], within: TimeRange) -> Mapping[str, bytes]:
        """Returns the text of the last version of each of these members, of exactly this period."""
        rows = await self._tx.connection.execute(
            _LATEST.where(is_among(_R.entity_id, entity_ids)),
            {"start": within.start, "end": within.end},
        )
        return {entity_id: bytes(text) for entity_id, text in rows}

    async def list(
        self, *, entity_id: str | None, limit: int, since: datetime | None = None
    ) -> Sequence[Listed]:
        """Returns stored versions, the latest period and version first; of all for None."""
        query = sa.select(*_LISTED).order_by(
            _R.starts.desc(), _R.ends.desc(), _R.entity_id, _R.version.desc()
        )
        if entity_id is not None:
            query = query.where(_R.entity_id == entity_id)
        if since is not None:
            query = query.where(_R.made_at >= since)
        rows = await self._tx.connection.execute(query.limit(limit))
        return [Listed(*row) for row in rows]

    async def missed(self, report_ids: Collection[str]) -> Mapping[str, int]:
        """Returns how many targets each of these versions missed; none of one without a target."""
        query = sa.select(_R.report_id, _R.report).where(is_among(_R.report_id, report_ids))
        rows = await self._tx.connection.execute(query)
        figures = {str(report_id): read_report(bytes(text)).figures for report_id, text in rows}
        return {
            report_id: sum(one.met is False for one in found)
            for report_id, found in figures.items()
            if any(one.met is not None for one in found)
        }

    async def find(self, report_id: str) -> tuple[Listed, Signed] | None:
        """Returns a version with its text and signature."""
        row = (
            await self._tx.connection.execute(
                sa.select(*_LISTED, _R.report, _R.signature, _R.key).where(
                    _R.report_id == report_id
                )
            )
        ).first()
        if row is None:
            return None
        *listed, text, signature, key = row
        return Listed(*listed), Signed(bytes(text), signature, key)

    async def evidence(self, report_id: str) -> Evidence:
        """Returns the evidence of a version."""
        packed = await self._tx.connection.scalar(
            sa.select(_R.evidence).where(_R.report_id == report_id)
        )
        assert packed is not None, report_id
        return msgspec.json.decode(zlib.decompress(packed), type=Evidence)

    async def readers(self, entity_id: str) -> Sequence[tuple[str, str]]:
        """Returns the addresses and names of those who want a member's reports by email.

        For an empty ID, operators with the scope health, who want those of the network.
        """
        query = _WHO_OPERATES if not entity_id else _WHO_BELONGS
        given = {"entity_id": entity_id} if entity_id else {}
        rows = await self._tx.connection.execute(query, given)
        return [(email, name) for email, name in rows]

    async def latest_of_all(self, within: TimeRange) -> Sequence[bytes]:
        """Returns the text of each member's last version of exactly this period."""
        rows = await self._tx.connection.execute(
            _LATEST.where(_R.entity_id != ""), {"start": within.start, "end": within.end}
        )
        return [bytes(text) for _, text in rows]

    async def periods(self) -> Sequence[TimeRange]:
        """Returns the periods of all members' reports, the latest first."""
        found = await self._tx.connection.execute(
            sa.select(_R.starts, _R.ends)
            .where(_R.entity_id != "")
            .distinct()
            .order_by(_R.starts.desc(), _R.ends.desc())
        )
        return [TimeRange(start, end) for start, end in found]

    async def versions(self, since: datetime) -> Mapping[TimeRange, int]:
        """Returns how many versions of members' reports there are of each period from a time on."""
        found = await self._tx.connection.execute(
            sa.select(_R.starts, _R.ends, sa.func.count())
            .where(_R.entity_id != "", _R.starts >= since)
            .group_by(_R.starts, _R.ends)
        )
        return {TimeRange(start, end): number for start, end, number in found}

    async def made_of(self, within: TimeRange) -> frozenset[str]:
        """Returns the members that have a report of exactly this period."""
        found = await self._tx.connection.scalars(
            sa.select(_R.entity_id)
            .where(_R.starts == within.start, _R.ends == within.end)
            .distinct()
        )
        return frozenset(found)

    async def members(self, before: datetime) -> Sequence[Member]:
        """Returns the FIPs and AAs that were onboarded before a time, by ID."""
        rows = await self._tx.connection.execute(
            sa.select(_E.entity_id, _E.type, _E.name)
            .where(_E.type != EntityType.FIU.value, _E.created_at < before)
            .order_by(_E.entity_id)
        )
        return [Member(entity_id, EntityType(type_), name) for entity_id, type_, name in rows]

    async def member(self, entity_id: str) -> Member | None:
        """Returns a member of any role that was ever onboarded."""
        row = (
            await self._tx.connection.execute(
                sa.select(_E.entity_id, _E.type, _E.name).where(_E.entity_id == entity_id)
            )
        ).first()
        return None if row is None else Member(row[0], EntityType(row[1]), row[2])

    async def has_reports(self, within: TimeRange) -> bool:
        """Returns whether any AA reported in a period."""
        found = sa.select(sa.literal(1)).where(
            _M.window_at >= within.start, _M.window_at < within.end, _M.tag == "req"
        )
        return await self._tx.connection.scalar(found.limit(1)) is not None

    async def reported(self, within: TimeRange) -> frozenset[datetime]:
        """Returns the windows of a period that any AA reported."""
        found = await self._tx.connection.scalars(
            sa.select(_M.window_at)
            .where(_M.window_at >= within.start, _M.window_at < within.end, _M.tag == "req")
            .distinct()
        )
        return frozenset(found)
