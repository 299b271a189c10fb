"""Alarms by email in PostgreSQL: preferences, what people know, what waits for them."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, time
from typing import Final, cast
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import Insert, insert

from mudra.identity.accounts.user import UserState
from mudra.identity.operators.operator import Scope
from mudra.metrics.notifications.alarm_mail import (
    Called,
    Habits,
    HeldAlarm,
    History,
    Mailing,
    OwnWebhook,
    PersonalAlarm,
    Reader,
)
from mudra.metrics.notifications.preferences import USUAL, AlarmPreferences, Channel
from mudra.metrics.notifications.severity import Severity
from mudra.metrics.notifications.webhook_formats import Format
from mudra.storage.database.among import is_among, is_among_given
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.alarms import alarm_mail, alarm_preference, followed_fip, health_webhook
from mudra.storage.tables.identity import (
    entity,
    entity_admin,
    entity_contact,
    operator_scope,
    user_account,
)

_M: Final = alarm_mail.c
_P: Final = alarm_preference.c
_W: Final = health_webhook.c
_U: Final = user_account.c
_F: Final = followed_fip.c
_DUE: Final = (
    sa.select(alarm_mail)
    .where(_M.due_at <= sa.bindparam("now"))
    .order_by(_M.due_at, _M.incident_id)
)
_OF_PEOPLE: Final = is_among_given(_M.user_id, "people")
_OF_INCIDENTS: Final = is_among_given(_M.incident_id, "incidents")
_WAITS: Final = _M.due_at.is_not(None)
_DELETE: Final = sa.delete(alarm_mail).where(_OF_PEOPLE, _WAITS, _M.notified_at.is_(None))
_CLEAR: Final = sa.update(alarm_mail).where(_OF_PEOPLE, _WAITS).values(due_at=None, text="")
_DELETE_SOME: Final = _DELETE.where(_OF_INCIDENTS)
_CLEAR_SOME: Final = _CLEAR.where(_OF_INCIDENTS)
_ADD: Final = insert(alarm_mail)


def _putting(*names: str) -> Insert:
    described = ("entity_id", "severity", "title", "over", "due_at", "text", "page", *names)
    return _ADD.on_conflict_do_update(
        index_elements=["user_id", "incident_id"],
        set_={name: _ADD.excluded[name] for name in described},
    )


_PUT_SENT: Final = _putting("notified_at", "in_storm")
_PUT_HELD: Final = _putting()
_WAITING: Final = sa.select(alarm_mail).where(_OF_PEOPLE, _OF_INCIDENTS, _WAITS)
_KNOWN: Final = sa.select(_M.user_id, _M.incident_id).where(
    _OF_PEOPLE, _OF_INCIDENTS, _M.notified_at.is_not(None)
)
_LATELY: Final = (
    sa.select(*(_M.user_id, sa.func.count()), sa.func.max(_M.notified_at).filter(_M.in_storm))
    .where(_OF_PEOPLE, _M.notified_at > sa.bindparam("since"))
    .group_by(_M.user_id)
)


class AlarmPreferenceStore:
    """People's preferences; a person without a row has the usual ones."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def of(self, user_id: str) -> AlarmPreferences:
        """Returns a person's preferences, the usual ones where none were chosen."""
        rows = await self._tx.connection.execute(
            sa.select(alarm_preference).where(_P.user_id == user_id)
        )
        row = rows.mappings().first()
        return USUAL if row is None else _preferences(row)

    async def set(self, user_id: str, preferences: AlarmPreferences) -> None:
        """Stores a person's preferences."""
        values = {
            "time_zone": preferences.time_zone,
            "quiet_from": preferences.quiet_from,
            "quiet_until": preferences.quiet_until,
            "breaks_quiet": preferences.breaks_quiet,
            "of_members": preferences.of_members,
            "of_network": preferences.of_network,
            "channel": preferences.channel.value,
            "apis": sorted(preferences.apis),
            "level_reports": preferences.level_reports,
        }
        await self._tx.connection.execute(
            insert(alarm_preference)
            .values(user_id=user_id, **values)
            .on_conflict_do_update(index_elements=["user_id"], set_=values)
        )


class FollowedFips:
    """One row for each FIP that a FIU follows."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def of(self, entity_id: str) -> Sequence[str]:
        """Returns the FIPs that an entity follows, by ID."""
        query = sa.select(_F.fip_id).where(_F.entity_id == entity_id).order_by(_F.fip_id)
        return (await self._tx.connection.scalars(query)).all()

    async def add(self, entity_id: str, fip_id: str) -> bool:
        """Stores that an entity follows a FIP; returns whether that is new."""
        row = insert(followed_fip).values(entity_id=entity_id, fip_id=fip_id)
        added = row.on_conflict_do_nothing().returning(_F.fip_id)
        return await self._tx.connection.scalar(added) is not None

    async def remove(self, entity_id: str, fip_id: str) -> bool:
        """Stores that it no longer does; returns whether it did."""
        which = sa.and_(_F.entity_id == entity_id, _F.fip_id == fip_id)
        removed = sa.delete(followed_fip).where(which).returning(_F.fip_id)
        return await self._tx.connection.scalar(removed) is not None


class AlarmMails:
    """The readers of alarms, what each was sent, and what waits."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def readers(
        self, entity_ids: Collection[str], user_ids: Collection[str]
    ) -> Sequence[Reader]:
        """Returns admins of these entities, operators who want alarms, and these people.

        No one whose account is not in use: an address that no one has verified is a stranger's, it
        may be. Of entities, those of `entity_ids`.
        """
        entities: dict[str, set[str]] = defaultdict(set)
        administered = sa.select(entity_admin.c.user_id, entity_admin.c.entity_id).where(
            is_among(entity_admin.c.entity_id, entity_ids)
        )
        for user_id, entity_id in await self._tx.connection.execute(administered):
            entities[user_id].add(entity_id)
        operates = sa.exists().where(
            operator_scope.c.user_id == _U.user_id, operator_scope.c.scope == Scope.HEALTH.value
        )
        found = await self._tx.connection.execute(
            sa.select(
                _U.email, _U.language, operates.label("operates"), _U.user_id.label("id"), *_P,
                _W.webhook_id, _W.format, _W.problem,
            )
            .outerjoin(alarm_preference, _P.user_id == _U.user_id)
            .outerjoin(health_webhook, _W.user_id == _U.user_id)
            .where(
                _U.state == UserState.ACTIVE.value,
                sa.or_(
                    is_among(_U.user_id, {*entities, *user_ids}),
                    # Without preferences the usual ones hold.
                    sa.and_(operates, sa.or_(_P.of_network.is_not(None), _P.user_id.is_(None))),
                ),
            )
            .order_by(_U.email)
        )  # fmt: skip
        return [
            Reader(
                row["id"],
                row["email"],
                _preferences(row) if row["time_zone"] else USUAL,
                frozenset(entities[row["id"]]),
                row["operates"],
                OwnWebhook(row["webhook_id"], Format(row["format"]), row["problem"])
                if row["webhook_id"]
                else None,
                row["language"],
            )
            for row in found.mappings()
        ]

    async def followers(self, fip_ids: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Returns the active FIUs that follow each of these FIPs."""
        found: dict[str, list[str]] = defaultdict(list)
        rows = await self._tx.connection.execute(
            sa.select(_F.fip_id, _F.entity_id)
            .join(entity, entity.c.entity_id == _F.entity_id)
            .where(is_among(_F.fip_id, fip_ids), entity.c.status == "active")
            .order_by(_F.entity_id)
        )
        for fip_id, entity_id in rows:
            found[fip_id].append(entity_id)
        return found

    async def called(self, entity_ids: Collection[str]) -> Mapping[str, Called]:
        """Returns the names and telephone numbers of these members."""
        rows = await self._tx.connection.execute(
            sa.select(entity.c.entity_id, entity.c.name, entity_contact.c.phone)
            .outerjoin(entity_contact, entity_contact.c.entity_id == entity.c.entity_id)
            .where(is_among(entity.c.entity_id, entity_ids))
        )
        return {entity_id: Called(name, phone or "") for entity_id, name, phone in rows}

    async def habits(self, addresses: Collection[str]) -> Mapping[str, Habits]:
        """Returns the time zones and languages of those addresses that have an account."""
        typed = {one.strip().lower(): one for one in addresses}
        rows = await self._tx.connection.execute(
            sa.select(_U.email, _P.time_zone, _U.language)
            .outerjoin(alarm_preference, _P.user_id == _U.user_id)
            .where(is_among(_U.email, typed))
        )
        return {
            typed[email]: Habits(ZoneInfo(zone) if zone else USUAL.zone, language)
            for email, zone, language in rows
        }

    async def due(self, now: datetime) -> Sequence[HeldAlarm]:
        """Returns what has waited long enough."""
        rows = await self._tx.connection.execute(_DUE, {"now": now})
        return [_held(row) for row in rows.mappings()]

    async def waiting(
        self, user_ids: Collection[str], incident_ids: Collection[str]
    ) -> Sequence[HeldAlarm]:
        """Returns what waits for these people about these incidents."""
        rows = await self._tx.connection.execute(
            _WAITING, {"people": list(user_ids), "incidents": list(incident_ids)}
        )
        return [_held(row) for row in rows.mappings()]

    async def history(
        self, user_ids: Collection[str], incident_ids: Collection[str], since: datetime
    ) -> Mapping[str, History]:
        """Returns what people know of these incidents, and their emails since a moment."""
        known: dict[str, set[str]] = defaultdict(set)
        people = list(user_ids)
        rows = await self._tx.connection.execute(
            _KNOWN, {"people": people, "incidents": list(incident_ids)}
        )
        for user_id, incident_id in rows:
            known[user_id].add(incident_id)
        lately = await self._tx.connection.execute(_LATELY, {"people": people, "since": since})
        counted = {user_id: (alarms, storm_at) for user_id, alarms, storm_at in lately}
        return {
            user_id: History(frozenset(known[user_id]), *counted.get(user_id, (0, None)))
            for user_id in user_ids
        }

    async def save(self, user_id: str, mailing: Mailing, now: datetime) -> None:
        """Records what a person is sent now, what waits, and what no longer does."""
        for alarms, in_storm in ((mailing.alone, False), (mailing.digest, mailing.is_storm)):
            for alarm in alarms:
                sent = {"notified_at": now, "in_storm": in_storm, "due_at": None, "text": ""}
                await self._put(_PUT_SENT, user_id, alarm, sent)
        for held in mailing.held:
            waits = {"due_at": held.due, "text": held.alarm.text}
            await self._put(_PUT_HELD, user_id, held.alarm, waits)
        if mailing.dropped:
            dropped = {"people": [user_id], "incidents": list(mailing.dropped)}
            await self._tx.connection.execute(_DELETE_SOME, dropped)
            await self._tx.connection.execute(_CLEAR_SOME, dropped)

    async def forget(self, user_ids: Collection[str]) -> None:
        """Drops what waits for people who no longer read alarms."""
        if not user_ids:
            return
        gone = {"people": list(user_ids)}
        await self._tx.connection.execute(_DELETE, gone)
        await self._tx.connection.execute(_CLEAR, gone)

    async def _put(
        self, putting: Insert, user_id: str, alarm: PersonalAlarm, values: Mapping[str, object]
    ) -> None:
        row = {
            "user_id": user_id,
            "incident_id": alarm.incident_id,
            "entity_id": alarm.entity_id,
            "severity": alarm.severity.value,
            "title": alarm.title,
            "over": alarm.over,
            "page": alarm.page,
            **values,
        }
        await self._tx.connection.execute(putting, row)


def _preferences(row: sa.RowMapping) -> AlarmPreferences:
    return AlarmPreferences(
        row["time_zone"],
        cast("time | None", row["quiet_from"]),
        cast("time | None", row["quiet_until"]),
        _severity(row["breaks_quiet"]),
        _severity(row["of_members"]),
        _severity(row["of_network"]),
        Channel(row["channel"]),
        frozenset(row["apis"]),
        bool(row["level_reports"]),
    )


def _severity(word: str | None) -> Severity | None:
    return Severity(word) if word else None


def _held(row: sa.RowMapping) -> HeldAlarm:
    alarm = PersonalAlarm(
        row["incident_id"],
        row["entity_id"],
        Severity(row["severity"]),
        row["title"],
        row["text"],
        over=row["over"],
        page=row["page"],
    )
    return HeldAlarm(row["user_id"], alarm, row["due_at"])
