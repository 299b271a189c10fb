"""Queries of AAs about their reports, and the members: implements metrics/ports.py."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple, cast

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, distinct_on

from mudra.audit.event import EventName, Outcome
from mudra.identity.memberships.member import MemberStatus
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.ingest_rule import Receipt
from mudra.metrics.ports import RefusedPush
from mudra.metrics.rollup.coverage import ReportingTimes, StatusChange, TimeRange, reporting_times
from mudra.registry.payload.vocabulary import shipped_vocabulary
from mudra.registry.payload.vocabulary_store import VocabularyStore
from mudra.storage.database.among import is_among
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.reports import Row, findings_of, receipt_of
from mudra.storage.metrics.stored_report import long_tag
from mudra.storage.tables.audit import audit_event
from mudra.storage.tables.identity import entity
from mudra.storage.tables.metrics import metrics_receipt, metrics_refused
from mudra.storage.tables.registry import registry_version

_R: Final = metrics_receipt.c
_ACTIVE: Final = MemberStatus.ACTIVE.value
_STATUS_CHANGE: Final[sa.ColumnElement[str]] = sa.literal_column(
    f"'{EventName.ENTITY_STATUS_CHANGE.value}'", sa.Text
)
"""As text of the statement: with a parameter a prepared one could not use the index of these rows.

Without that index all that was ever recorded of an AA is read: each push is a row.
"""


class PostgresReceipts:
    """Receipts, windows received, payloads refused."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def receipts(self, aa_id: str, within: TimeRange, limit: int) -> Sequence[Receipt]:
        """Returns receipts for these windows, newest version of each, by window and tag."""
        rows = await self._tx.connection.execute(
            sa.select(metrics_receipt)
            .ext(distinct_on(_R.window_at, _R.tag))
            .where(_R.aa_id == aa_id, _R.window_at >= within.start, _R.window_at < within.end)
            .order_by(_R.window_at, _R.tag, _R.version.desc())
            .limit(limit)
        )
        return [receipt_of(cast("Row", row)) for row in rows.mappings()]

    async def receipt(self, receipt_id: str) -> Receipt | None:
        """Returns the receipt of this ID, a UUID; None without it."""
        rows = await self._tx.connection.execute(
            sa.select(metrics_receipt).where(_R.receipt_id == receipt_id)
        )
        row = rows.mappings().one_or_none()
        return None if row is None else receipt_of(cast("Row", row))

    async def windows(self, aa_id: str, within: TimeRange) -> Mapping[Tag, Sequence[datetime]]:
        """Returns the windows for which anything was received."""
        rows = await self._tx.connection.execute(
            sa.select(_R.tag, _R.window_at)
            .where(
                _R.aa_id == aa_id,
                _R.version == 1,
                _R.window_at >= within.start,
                _R.window_at < within.end,
            )
            .order_by(_R.window_at)
        )
        found: dict[Tag, list[datetime]] = {tag: [] for tag in Tag}
        for tag, window in rows:
            found[long_tag(tag)].append(window)
        return found

    async def refused(self, aa_id: str, since: datetime, limit: int) -> Sequence[RefusedPush]:
        """Returns refused payloads, the latest first."""
        c = metrics_refused.c
        rows = await self._tx.connection.execute(
            sa.select(c.at, c.total, c.findings)
            .where(c.aa_id == aa_id, c.at >= since)
            .order_by(c.at.desc())
            .limit(limit)
        )
        return [RefusedPush(at, total, findings_of(found)) for at, total, found in rows]


_V: Final = registry_version.c
# The first version that was live; a minimum would read all that there ever were.
_LIVE_FROM: Final = (
    sa.select(_V.live_from)
    .where(_V.entity_id == entity.c.entity_id, _V.live_from.is_not(None))
    .order_by(_V.number)
    .limit(1)
    .scalar_subquery()
)
_AAS: Final = sa.select(
    entity.c.entity_id,
    _LIVE_FROM,
    entity.c.status == _ACTIVE,
    # Only a change of status ends all tokens: few AAs ever had one.
    entity.c.tokens_not_before.is_not(None),
).where(entity.c.type == "AA")
_FIPS: Final = sa.select(entity.c.entity_id).where(entity.c.type == "FIP")
_LIVE_FIPS: Final = _FIPS.where(entity.c.status == "active")
_MEMBER: Final = sa.select(entity.c.entity_id).where(
    entity.c.entity_id == sa.bindparam("entity_id")
)
_FIU: Final = _MEMBER.where(entity.c.type == "FIU")
_NAMES: Final = sa.select(entity.c.entity_id, entity.c.name)
_ENTRY: Final = sa.cast(sa.func.convert_from(_V.body, "UTF8"), JSONB)
_FI_TYPES: Final = (
    sa.select(_V.entity_id, _ENTRY["entityinfo"]["fitypes"])
    .join(entity, entity.c.entity_id == _V.entity_id)
    .where(_V.status == "live", entity.c.type == "FIP")
)


_PROVIDERS: Final = (
    sa.select(_V.entity_id, _ENTRY["entityinfo"]["gsp"]["name"].astext)
    .join(entity, entity.c.entity_id == _V.entity_id)
    .where(_V.status == "live", entity.c.type == "FIP")
)


class _Aa(NamedTuple):
    live_from: datetime | None
    is_active: bool
    was_changed: bool


def _first_window(aa_id: sa.ColumnElement[str], tag: Tag) -> sa.ScalarSelect[datetime]:
    return (
        sa.select(sa.func.min(_R.window_at))
        .where(_R.aa_id == aa_id, _R.tag == tag.value[:3])
        .scalar_subquery()
    )


_OWN: Final = (
    sa.func.unnest(sa.bindparam("aas", type_=sa.ARRAY(sa.Text)))
    .table_valued("aa_id")
    .render_derived()
    .c.aa_id
)
_FIRST_WINDOWS: Final = sa.select(_OWN, sa.func.least(*(_first_window(_OWN, tag) for tag in Tag)))


class OnboardedMembers:
    """The members of the network, by onboarding, the registry and the windows received."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def reporting_aas(self) -> Mapping[str, ReportingTimes]:
        """Returns the AAs that must report, or had to before they were suspended or retired.

        From when the AA's entry went live, or the first window it reported before; an AA that is
        only onboarded need not report yet. The audit has when its status changed.
        """
        rows = await self._tx.connection.execute(_AAS)
        aas = {aa_id: _Aa(*facts) for aa_id, *facts in rows}
        reported = await self._first_windows(list(aas))
        changes = await self._status_changes([aa for aa, one in aas.items() if one.was_changed])
        found = {}
        for aa_id, one in aas.items():
            begins = [at for at in (one.live_from, reported.get(aa_id)) if at is not None]
            if begins:
                found[aa_id] = reporting_times(
                    min(begins), changes.get(aa_id, ()), is_active=one.is_active
                )
        return found

    async def _status_changes(self, aa_ids: Sequence[str]) -> Mapping[str, Sequence[StatusChange]]:
        if not aa_ids:
            return {}
        e = audit_event.c
        rows = await self._tx.connection.execute(
            sa.select(
                e.entity_id,
                e.at,
                sa.func.coalesce(e.detail["from"].astext == _ACTIVE, sa.false()),
                sa.func.coalesce(e.detail["to"].astext == _ACTIVE, sa.false()),
            )
            .where(
                is_among(e.entity_id, aa_ids),
                e.event == _STATUS_CHANGE,
                e.outcome == Outcome.SUCCESS.value,
            )
            .order_by(e.seq)
        )
        found: dict[str, list[StatusChange]] = defaultdict(list)
        for aa_id, *change in rows:
            found[aa_id].append(StatusChange(*change))
        return found

    async def never_reported(self, aa_ids: Collection[str]) -> frozenset[str]:
        """Returns which of these AAs never sent a report."""
        first = await self._first_windows(sorted(aa_ids))
        return frozenset(aa_id for aa_id in aa_ids if first.get(aa_id) is None)

    async def _first_windows(self, aa_ids: Sequence[str]) -> Mapping[str, datetime]:
        if not aa_ids:
            return {}
        rows = await self._tx.connection.execute(_FIRST_WINDOWS, {"aas": aa_ids})
        return {aa_id: begin for aa_id, begin in rows}  # noqa: C416  # rows are no pairs to mypy

    async def is_member(self, entity_id: str) -> bool:
        """Returns whether an entity of this ID was ever onboarded."""
        found = await self._tx.connection.scalar(_MEMBER, {"entity_id": entity_id})
        return found is not None

    async def is_fiu(self, entity_id: str) -> bool:
        """Returns whether a FIU was ever onboarded under this ID."""
        found = await self._tx.connection.scalar(_FIU, {"entity_id": entity_id})
        return found is not None

    async def live_fips(self) -> frozenset[str]:
        """Returns the FIPs that are onboarded and neither suspended nor retired."""
        return frozenset(await self._tx.connection.scalars(_LIVE_FIPS))

    async def onboarded_fips(self) -> frozenset[str]:
        """Returns the FIPs that were ever onboarded, also those suspended or retired."""
        return frozenset(await self._tx.connection.scalars(_FIPS))

    async def groups(self) -> Mapping[str, tuple[str, ...]]:
        """Returns the groups of each institution with a live entry, by its FI types."""
        additions = await VocabularyStore(self._tx).additions()
        vocabulary = shipped_vocabulary().extended(additions)
        rows = await self._tx.connection.execute(_FI_TYPES)
        return {fip_id: vocabulary.groups_of(words or ()) for fip_id, words in rows}

    async def providers(self) -> Mapping[str, str]:
        """Returns the gateway service provider of each FIP whose live entry names one."""
        rows = await self._tx.connection.execute(_PROVIDERS)
        return {fip_id: name for fip_id, name in rows if name}

    async def names(self) -> Mapping[str, str]:
        """Returns the names of all entities by ID."""
        rows = await self._tx.connection.execute(_NAMES)
        return {entity_id: name for entity_id, name in rows}  # noqa: C416  # rows are no pairs
