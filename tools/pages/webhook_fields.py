"""The fields of `data` of each message to webhooks, with their meanings, for their reference."""

from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Struct

from mudra.comparison.capacity_store import CapacityNotice
from mudra.disputes.dispute_message import DisputeData
from mudra.levels.budgets.burn_rule import Burn
from mudra.levels.budgets.burn_store import StoredBurn
from mudra.levels.report_news import ReportData
from mudra.metrics.announcements.announcement import TranslatedText, Translation, Update
from mudra.metrics.incidents.silence_service import MaintenanceData
from mudra.metrics.notifications.alarm_mailer import AlarmData, AlarmsData
from mudra.metrics.notifications.webhook import IncidentData, SampleData
from mudra.metrics.subscriptions.webhook_subscription import AnnouncementData, StatusData

_INCIDENT: Final = "ID of the incident; the same in all its messages"
_MEANINGS: Final[dict[type[Struct], dict[str, str]]] = {
    IncidentData: {
        "incidentId": _INCIDENT,
        "kind": "what is at fault, see [values](#values)",
        "entityId": "the member that is at fault; empty where it is the whole network",
        "peerId": "the FIP of a path whose AA is `entityId`; else empty",
        "type": "codes of the calls with commas; empty where all are meant",
        "symptoms": "what is seen, see [values](#values)",
        "detected": "when Mudra found it",
        "began": "start of the first bad window of ten minutes",
        "lastBad": "start of the latest bad window",
        "ended": "when it was over; null while it goes on",
        "state": "see [values](#values)",
        "badWindows": "number of the bad windows so far",
        "title": "one line for people",
        "text": "some lines for people, with the figures",
        "atOnce": "see [values](#values)",
        "provider": "see [values](#values)",
    },
    SampleData: {"webhookId": "ID of the webhook that is tested", "text": "a line for people"},
    DisputeData: {
        "disputeId": "ID of the dispute or comment; the same in all its messages",
        "entityId": "the member whose figure it is",
        "kind": "`dispute`, or `comment`: it asks for nothing",
        "about": "`incident`, `day`, or `line`: calls over some days, as a report has a line",
        "incidentId": "the incident it is about; null where it is about days",
        "apis": "codes of the calls it is about; empty for all",
        "start": "start of the time it is about",
        "end": "end of the time it is about",
        "state": (
            "`raised`, `under_review` or `information_wanted` while it is open; `accepted`,"
            " `partly_accepted` or `rejected` once decided; `withdrawn`; `lapsed`, as the member"
            " did not answer; `noted`, of a comment"
        ),
        "dueAt": "until when the side whose turn it is should act; null where none is",
        "act": (
            "the step: of the member `raise`, `comment`, `inform`, `attach`, `withdraw`; of an"
            " operator `review`, `ask`, `answer`, `accept`, `accept_partly`, `reject`, `reopen`;"
            " of the service `lapse`, `overdue`"
        ),
        "by": "who took the step: `member`, `operator` or `service`",
    },
    StoredBurn: {
        "entityId": "the member whose budget it is",
        "month": "when the month of the budget begins",
        "at": "when the budget was worked out",
    },
    Burn: {
        "measure": "which service level, such as `availability`",
        "target": "its target, in percent",
        "allowed": "failures that the target allows in the whole month",
        "spent": "failures of the month so far",
        "counted": "calls, FI requests or reports of the month so far, of which these failed",
        "leftPercent": "percent of the budget that is left; below zero once it is gone",
        "dayRate": "burn rate of the last day: at 1 the budget lasts exactly one month",
        "weekRate": "burn rate of the last week",
        "goneAt": "when it will be gone at the slower of both rates; null for after the month",
        "outlook": "see [values](#values)",
    },
    ReportData: {
        "reportId": "ID of the report, by which it is read",
        "entityId": "the member it is about; empty for the network",
        "start": "start of its time",
        "end": "end of its time",
        "version": "1 for the first report of this time, then one more each time",
        "missed": "measures over all calls of which the target was missed",
    },
    MaintenanceData: {
        "silenceId": "ID of the maintenance; the same in all its messages",
        "entityId": "the member about which nothing is judged meanwhile",
        "begins": "when it begins",
        "ends": "when it ends; of one that was ended early, when that was",
        "announcedAt": "when these times were announced; null where that is not known",
        "announcedBy": "`member` or `operator`",
    },
    CapacityNotice: {
        "entityId": "the AA or the FIP whose calls it is about; empty for the network",
        "noticedAt": "when it appeared",
        "day": "the day (UTC) of the next four weeks on which most calls may come",
        "calls": "calls that are expected of that day",
        "atMost": "the upper end of its range: nine of ten held-back days were within",
        "handledDay": "the busiest day of sixteen weeks on which the rule of success was kept",
        "handled": "calls of that day",
    },
    AlarmsData: {"more": "alarms that were left out of the list"},
    AlarmData: {
        "incidentId": f"{_INCIDENT}; empty for an alarm about an error budget",
        "entityId": "the member that the alarm is about",
        "severity": "see [values](#values)",
        "over": "whether it is over",
        "title": "one line for people",
        "text": "some lines for people, with the figures",
        "link": "page of the console with it",
    },
    StatusData: {
        "incidentId": _INCIDENT,
        "fipId": "ID of the institution",
        "name": "its name",
        "state": "see [values](#values)",
        "apis": "codes of the calls that are concerned; empty for all",
        "symptoms": "see [values](#values)",
        "effect": "what customers notice, see [values](#values)",
        "began": "when it began",
        "ended": "when it was over; null while it goes on",
        "link": "public page of the institution",
    },
    AnnouncementData: {
        "announcementId": "ID of the announcement; the same in all its messages",
        "kind": "see [values](#values)",
        "title": "title in English",
        "text": "text in English",
        "fipIds": "institutions it is about; empty for the whole network",
        "begins": "when the announced work begins; null where no time is named",
        "ends": "when it ends; null where no time is named",
        "over": "whether its last update ended it",
        "link": "page with it",
    },
    Translation: {
        "language": "a further language, by its code, such as `hi`",
        "title": "title in it",
        "text": "text in it",
    },
    TranslatedText: {
        "language": "a further language, by its code, such as `hi`",
        "text": "text in it",
    },
    Update: {"at": "when it was added", "text": "text in English"},
}
_INNER: Final[dict[tuple[type[Struct], str], type[Struct]]] = {
    (StoredBurn, "burn"): Burn,
    (AlarmsData, "alarms"): AlarmData,
    (AnnouncementData, "translations"): Translation,
    (AnnouncementData, "updates"): Update,
    (Update, "translations"): TranslatedText,
}
"""Fields that hold structures, whose own fields are explained in their place."""


def field_table(data: type[Struct]) -> list[str]:
    """Return the lines of a table. Raises KeyError for a field without a meaning."""
    return ["| field of `data` | meaning |", "|---|---|", *_rows(data, ""), ""]


def _rows(data: type[Struct], prefix: str) -> Iterator[str]:
    for field in msgspec.structs.fields(data):
        name = field.encode_name
        inner = _INNER.get((data, name))
        if inner is not None:
            yield from _rows(inner, f"{prefix}{name}{'' if inner is Burn else '[]'}.")
        else:
            yield f"| `{prefix}{name}` | {_MEANINGS[data][name]} |"
