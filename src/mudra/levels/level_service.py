"""Makes reports of service levels and their versions, and keeps the targets."""

import asyncio
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.levels.evidence import Evidence
from mudra.levels.gathering import Gathering, Network
from mudra.levels.months import month_name, month_of
from mudra.levels.notice import Notice, notices_of
from mudra.levels.occasions import Occasions
from mudra.levels.printing.league import Place, league_of
from mudra.levels.printing.printed import Printed, printed_report
from mudra.levels.proof import Proof, unequal_days
from mudra.levels.report import (
    Report,
    encoded_evidence,
    next_version,
    read_report,
    report_of,
    signed_text,
)
from mudra.levels.report_news import ReportNews
from mudra.levels.report_store import Listed, Reports, Sign, Signed
from mudra.levels.spans import Member
from mudra.levels.target import (
    MAX_RULES,
    MAX_TARGETS,
    NO_SUCH_TARGET,
    TOO_MANY_RULES,
    TOO_MANY_TARGETS,
    NetworkRule,
    Target,
    TargetCommand,
    in_force,
    rule_on,
    rule_refused,
    target_refused,
)
from mudra.levels.target_store import Targets
from mudra.localization.language import gettext, translatable
from mudra.metrics.incidents.silence import Silence
from mudra.metrics.payload.catalogue import window_start
from mudra.metrics.ports import Incidents, PublicMembers, ReportMarks, Silences
from mudra.metrics.rollup.coverage import TimeRange, coverage_of
from mudra.metrics.sums.percentiles import percentiles_of
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import PlainRefusal, RefusalKind, ValueRefused

NETWORK: Final = Member("", None)
MAX_LENGTH: Final = timedelta(days=100)
MAX_LISTED: Final = 500
_FAST: Final = 1
"""The compression of evidence: it is a third of the numbers, at a tenth of the processor time."""
MAX_A_DAY: Final = 50
"""Reports of other periods than months, made for one member."""

NO_SUCH_REPORT: Final = PlainRefusal(RefusalKind.NOT_FOUND, "no report of this ID")
NO_LEVELS: Final = PlainRefusal(
    RefusalKind.NOT_FOUND, "only FIPs, AAs and the network (an empty entityId) have reports"
)
NOTHING_REPORTED: Final = PlainRefusal(
    RefusalKind.CONFLICT,
    translatable("no AA reported anything in this time, so there is nothing to report"),
)
TOO_MANY_REPORTS: Final = PlainRefusal(
    RefusalKind.CONFLICT,
    f"{MAX_A_DAY} reports of this member were made within 24 hours: read one of these, or wait",
)


class LevelService(Struct, frozen=True):
    """Makes reports and stores targets in the caller's transaction; each has its audit entry."""

    reports: Reports
    targets: Targets
    gathering: Gathering
    marks: ReportMarks
    members: PublicMembers
    incidents: Incidents
    silences: Silences
    audit_log: AuditLog
    new_id: Callable[[], str]
    issuer: str
    zone: str
    """The time zone of the network, in which months begin."""
    kept: timedelta
    """How long single windows and maintenances are kept: an older period cannot be made."""
    news: ReportNews

    async def all_targets(self) -> Sequence[Target]:
        """Returns all targets that were ever set."""
        return await self.targets.all()

    async def targets_on(self, now: datetime) -> Sequence[Target]:
        """Returns the targets in force now."""
        return in_force(await self.targets.all(), now.astimezone(UTC).date())

    async def set_target(
        self, command: TargetCommand, caller: Caller, now: datetime
    ) -> Target | ValueRefused | PlainRefusal:
        """Sets a target from a day on; one of its kind that holds by then ends with that day."""
        refused = target_refused(command, now.astimezone(UTC).date())
        if refused is not None:
            return refused
        await self.targets.add_alone()
        if len(await self.targets.all()) >= MAX_TARGETS:
            return TOO_MANY_TARGETS
        made = await self.targets.put(self.new_id(), command, caller.actor, now)
        await self._note(EventName.LEVELS_TARGET_SET, caller, made, made.reason)
        return made

    async def end_target(
        self, target_id: str, caller: Caller, now: datetime
    ) -> Target | PlainRefusal:
        """Ends a target today; the shipped one of its kind holds again."""
        await self.targets.add_alone()
        day = now.astimezone(UTC).date()
        if not await self.targets.end(target_id, day):
            return NO_SUCH_TARGET
        ended = next(one for one in await self.targets.all() if one.target_id == target_id)
        await self._note(EventName.LEVELS_TARGET_END, caller, ended)
        return ended

    async def rules(self) -> Sequence[NetworkRule]:
        """Returns all rules that were ever set, in the order of their days."""
        return await self.targets.rules()

    async def rule_now(self, now: datetime) -> NetworkRule:
        """Returns the rule in force now."""
        return rule_on(await self.targets.rules(), now.astimezone(UTC).date())

    async def notices(self, maintenances: Iterable[Silence]) -> Mapping[str, Notice]:
        """Returns what the rule makes of each planned maintenance, by its ID."""
        return notices_of(maintenances, await self.targets.rules(), ZoneInfo(self.zone))

    async def set_rule(
        self, rule: NetworkRule, caller: Caller, now: datetime
    ) -> NetworkRule | ValueRefused | PlainRefusal:
        """Sets the rule of the network from a day on; reports keep the one of their first day."""
        refused = rule_refused(rule, now.astimezone(UTC).date())
        if refused is not None:
            return refused
        await self.targets.add_alone()
        if len(await self.targets.rules()) >= MAX_RULES:
            return TOO_MANY_RULES
        made = replace(rule, reason=rule.reason.strip())
        await self.targets.put_rule(made, caller.actor, now)
        detail: dict[str, str | int] = {
            "since": made.since.isoformat(),
            "noticeHours": made.notice_hours,
            "hoursAMonth": made.hours_a_month,
            "league": "shown" if made.league else "hidden",
            "published": "yes" if made.published else "no",
        }
        entry = AuditEntry(EventName.LEVELS_RULE_SET, caller, reason=made.reason, detail=detail)
        await self.audit_log.append(entry)
        return made

    async def list(self, entity_id: str | None) -> Sequence[Listed]:
        """Returns the stored versions of a member (empty: the network), or of all for None."""
        return await self.reports.list(entity_id=entity_id, limit=MAX_LISTED)

    async def find(
        self, report_id: str, readable: Sequence[str] | None = None
    ) -> tuple[Listed, Signed] | PlainRefusal:
        """Returns a version; `readable` are the members whose reports the caller may read."""
        found = await self.reports.find(report_id)
        if found is None or (readable is not None and found[0].entity_id not in readable):
            return NO_SUCH_REPORT
        return found

    async def proof(
        self, report_id: str, readable: Sequence[str] | None = None
    ) -> Proof | PlainRefusal:
        """Returns a version with its evidence, and the calls by day while all of them are kept."""
        found = await self.find(report_id, readable)
        if isinstance(found, PlainRefusal):
            return found
        _, signed = found
        report, evidence = signed.report, await self.reports.evidence(report_id)
        within = TimeRange(report.start, report.end)
        days = tuple(await self.gathering.days(report.member, within))
        proof = Proof(signed.text.decode(), signed.signature, dict(signed.key), evidence, days)
        if not await asyncio.to_thread(_adds_up, proof):
            # Reports that came since, or windows that are kept no more: the evidence has it all.
            proof = Proof(proof.report, proof.signature, proof.key, evidence)
        return proof

    def printed(self, signed: Signed, network: str) -> Printed:
        """Returns the texts of a version for print, in the current language."""
        return printed_report(
            signed.report, network, ZoneInfo(self.zone), signed.key.get("kid", "")
        )

    async def league(self, within: TimeRange, role: EntityType) -> Sequence[Place]:
        """Returns the members of a role by what they delivered in a period."""
        return await asyncio.to_thread(league_of, await self.reports.latest_of_all(within), role)

    async def league_months(self) -> Sequence[str]:
        """Returns the months that have a league table, such as 2026-03, the latest first."""
        zone = ZoneInfo(self.zone)
        return [
            month_name(one, zone)
            for one in await self.reports.periods()
            if one == month_of(one.start, zone)
        ]

    async def make(
        self, entity_id: str, within: TimeRange, caller: Caller, now: datetime, sign: Sign
    ) -> Listed | ValueRefused | PlainRefusal:
        """Makes a report of a period, or a further version where a number differs.

        Returns the latest version. An empty `entity_id` is the network.
        """
        refused = self._refused(within, now)
        if refused is not None:
            return refused
        member = NETWORK if not entity_id else await self.reports.member(entity_id)
        if member is None or member.role is EntityType.FIU:
            return NO_LEVELS
        await self.reports.make_alone(entity_id)
        listed = await self.reports.list(
            entity_id=entity_id, limit=MAX_A_DAY, since=now - timedelta(days=1)
        )
        if len(listed) >= MAX_A_DAY and caller.actor != "system":
            return TOO_MANY_REPORTS
        network = await self.network(within, now)
        if not network.reported:
            return NOTHING_REPORTED
        evidence = await self.gathering.evidence(member, network)
        before = await self.reports.latest([entity_id], within)
        await self.version(member, network, evidence, before, caller, now, sign)
        found = await self.reports.list(entity_id=entity_id, limit=MAX_LISTED)
        return next(one for one in found if (one.start, one.end) == (within.start, within.end))

    async def network(self, within: TimeRange, now: datetime) -> Network:
        """Returns what the reports of all members of a period have in common."""
        maintenances = [
            one
            for one in await self.silences.ending_after(within.start)
            if one.maintenance and one.begins < within.end
        ]
        incidents = await self.incidents.since(within.start)
        roles = {one.entity_id: one.role for one in await self.reports.members(now) if one.role}
        return Network(
            within,
            Occasions.of(
                [one for one in incidents if one.incident.began < within.end], maintenances, roles
            ),
            await self.reports.reported(within),
            await coverage_of(self.members, self.marks, within, now),
            rule_on(await self.targets.rules(), within.start.date()).maintenance,
            in_force(await self.targets.all(), within.start.date()),
        )

    async def version(
        self,
        member: Member,
        network: Network,
        evidence: Evidence,
        before: Mapping[str, bytes],
        caller: Caller,
        now: datetime,
        sign: Sign,
    ) -> Report | None:
        """Stores the report of a period, if it is the first one or a number differs.

        `before` are the texts of the last versions of some members.
        """
        text = before.get(member.entity_id)
        found = await asyncio.to_thread(_version, self, member, network, evidence, now, text)
        if found is None:
            return None
        made, packed = found
        text = signed_text(made)
        report_id = self.new_id()
        signed = Signed(text, *sign(text))
        await self.reports.add(report_id, signed, made, packed, caller.actor)
        detail: dict[str, str | int] = {
            "reportId": report_id,
            "start": made.start.isoformat(),
            "end": made.end.isoformat(),
            "version": made.version,
        }
        entry = AuditEntry(EventName.LEVELS_REPORT_MAKE, caller, member.entity_id, detail=detail)
        await self.audit_log.append(entry)
        await self.news.send(report_id, made, by_job=caller.actor == "system")
        return made

    def month(self, text: str) -> TimeRange:
        """Returns a month of the network's zone, such as 2026-03."""
        zone = ZoneInfo(self.zone)
        return month_of(datetime.fromisoformat(f"{text}-01").replace(tzinfo=zone), zone)

    def ended_month(self, text: str, now: datetime) -> TimeRange | PlainRefusal:
        """Returns a month that is over, of which a report can be made."""
        within = self.month(text)
        if within.end > now:
            sentence = gettext("the month %(month)s is not over", month=text)
        elif within.start < now - self.kept:
            sentence = gettext(
                "the month %(month)s began more than %(days)s days ago: single windows are kept no "
                "longer",
                month=text,
                days=self.kept.days,
            )
        else:
            return within
        return PlainRefusal(RefusalKind.INVALID, sentence)

    def _refused(self, within: TimeRange, now: datetime) -> ValueRefused | None:
        if within.start != window_start(within.start) or within.end != window_start(within.end):
            return ValueRefused("start", "and end must be full ten minutes, as windows begin")
        if not within.start < within.end <= window_start(now):
            return ValueRefused("end", "must be later than start, and not later than now")
        if within.end - within.start > MAX_LENGTH:
            return ValueRefused("end", f"must be at most {MAX_LENGTH.days} days after start")
        if within.start < now - self.kept:
            return ValueRefused(
                "start",
                f"must be within the last {self.kept.days} days: single windows are kept no longer",
            )
        return None

    async def _note(
        self, event: EventName, caller: Caller, target: Target, reason: str = ""
    ) -> None:
        detail = {
            "targetId": target.target_id,
            "role": target.role.value,
            "measure": target.measure.value,
            "api": target.api,
            "value": f"{target.value:g}",
            "since": target.since.isoformat(),
        }
        await self.audit_log.append(AuditEntry(event, caller, reason=reason, detail=detail))


def _version(
    service: LevelService,
    member: Member,
    network: Network,
    evidence: Evidence,
    now: datetime,
    before: bytes | None,
) -> tuple[Report, bytes] | None:
    """Returns the version to store, and its evidence as it is stored."""
    encoded = encoded_evidence(evidence)
    first = report_of(
        member,
        network.within,
        evidence,
        encoded,
        network.targets,
        issuer=service.issuer,
        rule=network.rule,
        now=now,
        percentiles_of=percentiles_of,
    )
    made = first if before is None else next_version(read_report(before), first)
    return None if made is None else (made, zlib.compress(encoded, _FAST))


def _adds_up(proof: Proof) -> bool:
    return not any(unequal_days(proof.evidence, proof.days))
