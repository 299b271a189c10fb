"""One timeline over registry, tokens and metrics, for the network or for one member.

It is read from where events are stored: the audit, incidents, silences and announcements. A table
of events would be a second copy of history, which may disagree with the audit. The marks on charts
are the same list. The version of an agent is in the audit event of each accepted report, and a
node notes there when another version of Mudra begins to run.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.localization.language import gettext
from mudra.metrics.announcements.announcement_service import AnnouncementService
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.explanation import causes_of, concerns, may_see
from mudra.metrics.incidents.incident import Incident, StoredIncident
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.incidents.silence_service import SilenceService
from mudra.metrics.incidents.subject import Names, name_of
from mudra.metrics.notifications.alarm import title_of
from mudra.metrics.notifications.severity import severity_of
from mudra.metrics.rollup.coverage import TimeRange
from mudra.storage.database.transaction import Transaction
from mudra.timeline.audit_store import TimelineEvents
from mudra.timeline.audit_texts import LONGEST_GRACE, ended_secrets, happening_of
from mudra.timeline.happening import Happening, HappeningKind, is_shown_to
from mudra.timeline.ranking import LOOK_BACK, Candidate, parties_of, what_changed_before

MAX_SHOWN: Final = 2_000
_WINDOW: Final = timedelta(minutes=10)


class Reader(Struct, frozen=True):
    """The member for whom a timeline is read; `of_fips` for a FIU, which sees FIPs' incidents."""

    entity_id: str
    of_fips: bool = False


class TimelineService(Struct, frozen=True):
    """Reads events where they are, in the caller's transaction; stores none."""

    tx: Transaction

    async def of_network(
        self, within: TimeRange, now: datetime, *, entity_id: str = ""
    ) -> Sequence[Happening]:
        """Return all events of a time, the newest first, for operators; 2,000 at most.

        With an `entity_id` those of one member and of the network as a whole.
        """
        wanted = [entity_id] if entity_id else None
        found = await self._changes(within, now, wanted)
        names = await self.tx.service(HealthService).names()
        found += [_incident(one, names) for one in await self._incidents(within, entity_id)]
        return _newest(found)

    async def changes(self, within: TimeRange, now: datetime) -> Sequence[Happening]:
        """Return what changed in a time, of all members: all events but incidents."""
        return await self._changes(within, now, None)

    async def of_member(
        self, reader: Reader, within: TimeRange, now: datetime
    ) -> Sequence[Happening]:
        """Return the events of a time that concern a member, the newest first."""
        changes = await self._changes(within, now, [reader.entity_id])
        found = [one for one in changes if is_shown_to(one, reader.entity_id)]
        incidents = await self.tx.service(IncidentService).since(within.start)
        names = await self.tx.service(HealthService).names()
        found += [
            _incident(one, names)
            for one in causes_of(incidents, within)
            if may_see(one.incident, reader.entity_id, of_fips=reader.of_fips)
        ]
        return _newest(found)

    async def before(
        self, incident: Incident, now: datetime, reader: Reader | None = None
    ) -> Sequence[Candidate]:
        """Return what changed before an incident, the likeliest first.

        For a `reader` only what a member may see; the caller has checked that it sees the incident.
        """
        parties = parties_of(incident)
        within = TimeRange(incident.began - LOOK_BACK, min(incident.began + _WINDOW, now))
        changes = await self._changes(within, now, sorted(parties) if parties else None)
        if reader is not None:
            changes = [one for one in changes if is_shown_to(one, reader.entity_id, parties)]
        return what_changed_before(incident, changes)

    async def _incidents(self, within: TimeRange, entity_id: str) -> Sequence[StoredIncident]:
        stored = await self.tx.service(IncidentService).since(within.start)
        found = causes_of(stored, within)
        if not entity_id:
            return found
        return [
            one
            for one in found
            if concerns(one.incident, entity_id, None) or concerns(one.incident, None, entity_id)
        ]

    async def _changes(
        self, within: TimeRange, now: datetime, entity_ids: Collection[str] | None
    ) -> list[Happening]:
        """Return all but incidents: of these members, None for all, and of the network."""
        events, wanted = TimelineEvents(self.tx), None if entity_ids is None else [*entity_ids]
        rows = await events.changes(within.start - LONGEST_GRACE, within.end, wanted, MAX_SHOWN)
        shown = [happening_of(row) for row in rows if row.at >= within.start]
        found = [one for one in shown if one is not None]
        found += ended_secrets(rows, within.start, min(within.end, now))
        agents = await events.agent_versions(within.start, within.end, wanted, MAX_SHOWN)
        found += [
            Happening(
                *(at, HappeningKind.AGENT, aa_id),
                gettext("agent %(before)s became %(after)s", before=before, after=after),
            )
            for at, aa_id, before, after in agents
        ]
        found += await self._maintenances(within, now, wanted)
        found += await self._announcements(within, now, wanted)
        return found

    async def _maintenances(
        self, within: TimeRange, now: datetime, entity_ids: Sequence[str] | None
    ) -> list[Happening]:
        silences = await self.tx.service(SilenceService).list(now, past=True)
        return [
            Happening(
                *(one.begins, HappeningKind.MAINTENANCE, one.entity_id),
                gettext("planned maintenance: %(reason)s", reason=one.reason),
                one.ends,
                one.silence_id,
            )
            for one in silences
            if one.maintenance
            and one.has_time
            and within.start <= one.begins < within.end
            and (entity_ids is None or one.entity_id in entity_ids)
        ]

    async def _announcements(
        self, within: TimeRange, now: datetime, entity_ids: Sequence[str] | None
    ) -> list[Happening]:
        announced = await self.tx.service(AnnouncementService).list(now, past=True)
        return [
            Happening(
                *(one.publish_at, HappeningKind.ANNOUNCEMENT, ""),
                gettext("announcement: %(title)s", title=one.title),
                one.over_at,
                one.announcement_id,
                begins=one.begins,
            )
            for one in announced
            if within.start <= one.publish_at < min(within.end, now)
            and not one.was_withdrawn
            and (not one.fip_ids or entity_ids is None or set(one.fip_ids) & {*entity_ids})
        ]


def _incident(stored: StoredIncident, names: Names) -> Happening:
    found = stored.incident
    return Happening(
        found.began,
        HappeningKind.INCIDENT,
        name_of(found.subject).entity_id,
        title_of(found, names),
        found.ended,
        stored.incident_id,
        severity_of(found).value,
    )


def _newest(found: Sequence[Happening]) -> Sequence[Happening]:
    return sorted(found, key=lambda one: one.at, reverse=True)[:MAX_SHOWN]
