"""News of a report: a webhook message, and emails to those who want them."""

from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Struct

from mudra.levels.report import Report
from mudra.levels.report_store import Reports
from mudra.levels.target import ALL_APIS
from mudra.metrics.notifications.webhook_store import Webhooks
from mudra.shared.mail.notice import Notice, NoticeKind
from mudra.storage.database.transaction import Transaction
from mudra.storage.mail.outbox import Outbox

EVENT: Final = "levels.report"
_MOMENT: Final = timedelta(microseconds=1)


class ReportData(Struct, rename="camel"):
    """The version in a message: its numbers are read by its ID."""

    report_id: str
    entity_id: str
    """Empty for the network."""
    start: datetime
    end: datetime
    version: int
    missed: tuple[str, ...]
    """Measures over all calls of which the target was missed."""


class ReportMessage(Struct):
    """The body of a message."""

    type: str
    timestamp: datetime
    data: ReportData


class ReportNews(Struct, frozen=True):
    """Sends news in the caller's transaction."""

    tx: Transaction
    reports: Reports
    messages: Webhooks
    zone: str

    async def send(self, report_id: str, report: Report, *, by_job: bool) -> None:
        """Posts a new version to webhooks, and emails one that a job made to those who want it.

        A report of the network goes to the webhooks and operators of the network alone.
        """
        member = report.member
        missed = missed_measures(report)
        data = ReportData(
            report_id, member.entity_id, report.start, report.end, report.version, missed
        )
        body = msgspec.json.encode(ReportMessage(EVENT, report.made_at, data))
        whom = [member.entity_id] if member.entity_id else []
        await self.messages.post(whom, body, report.made_at, event=EVENT)
        if not by_job:
            return
        page = f"operator/levels/{report_id}"
        if member.entity_id:
            page = f"entity/{member.entity_id}/levels/{report_id}"
        zone, outbox = ZoneInfo(self.zone), self.tx.service(Outbox)
        facts = {
            "entity_id": member.entity_id,
            "entity_name": member.name or member.entity_id or "Network",
            "from_day": report.start.astimezone(zone).date().isoformat(),
            "to_day": (report.end - _MOMENT).astimezone(zone).date().isoformat(),
            "version": str(report.version),
            "missed": ", ".join(missed),
            "page": page,
        }
        for email, name in await self.reports.readers(member.entity_id):
            notice = Notice(email, NoticeKind.LEVELS_REPORT, {"user_name": name, **facts})
            await outbox.post(notice)


def missed_measures(report: Report) -> tuple[str, ...]:
    """Returns the measures over all calls of which the target was missed."""
    return tuple(
        one.measure.value for one in report.figures if one.api == ALL_APIS and one.met is False
    )
