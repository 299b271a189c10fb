"""Meanings of the parameters of a query, see `FIELD_TEXTS`.

By name where several calls mean the same by it, else by `operationId.name`. The form of a value is
in its schema; here is what it does, and what holds when it is left out.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_DAY: Final = (
    "first instant of the time that is asked about; left out, a day before `to`; at most 400 days"
)
_WEEK: Final = _DAY.replace("a day", "seven days")

QUERY_TEXTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "from": _DAY,
        "listReceipts.from": _DAY.replace("400", "31"),
        "getOwnFunnel.from": _WEEK,
        "getFunnel.from": _WEEK,
        "getOwnTimeline.from": _WEEK,
        "getTimeline.from": _WEEK,
        "to": (
            "end of the time that is asked about; left out, that of the last window of ten minutes "
            "that is over"
        ),
        "listMails.to": "only emails to this address",
        "listSandboxMails.to": "only emails to this address",
        "at": "the registry as it was at this instant; left out, as it is now",
        "listEntryChanges.since": "only changes after this one; left out, all",
        "searchAudit.since": "only events from this instant on",
        "searchAudit.until": "only events before this instant",
        "countMemberTokens.days": "how many days of UTC to count, up to today: 1 to 366",
        "limit": "how many rows a page has",
        "after": "`next` of the page before; left out, the first page",
        "listReceipts.next": "`next` of the page before; left out, the first page",
        "format": "form of the answer",
        "language": "only with `format=pdf`",
        "week": "the week; left out, the last one that no report can change",
        "month": "whose figures the table has",
        "role": "whose table: FIPs or AAs",
        "type": "only members of this type; left out, all",
        "getHealthMatrix.type": "only calls of this API; left out, of all",
        "status": "only members of this status; left out, all",
        "listUsers.state": "only accounts of this state; left out, all",
        "words": "only rows whose ID or address, or name, has each of these words",
        "withoutAdmin": "`true`: only members without an admin who can act",
        "listUsers.operators": "`true`: only operators",
        "listMails.failed": (
            "`true`: only those that the mail server rejected, or that wait for over a day"
        ),
        "searchAudit.event": "only events of this name; may end in `*`",
        "searchAudit.outcome": "only events with this outcome; left out, all",
        "searchAudit.actor": "only events of this actor: an email address, or a name as listed",
        "searchAudit.userId": "only events about this person",
        "searchAudit.txnIdIs": "only events of the request with this `txnId`",
        "searchAudit.jti": "only events about the token with this ID",
        "entityId": "the entity that is asked about",
        "searchAudit.entityId": "only events about this entity",
        "getTimeline.entityId": "only what happened to this member; left out, to the whole network",
        "listIncidents.entityId": "only incidents about this member; left out, all",
        "listDisputes.entityId": "only those of this member; left out, of all",
        "listErrorBudgets.entityId": "only those of this member; left out, of all",
        "listLevelReports.entityId": "only those of this member; left out, of all",
        "listFaults.entityId": "only those of this entity; left out, of all that you may see",
        "listUsers.entityId": "only admins and readers of this entity",
        "aaId": "only calls of this AA",
        "fipId": "only calls to this FIP",
        "listDisputes.incidentId": "only disputes about this incident",
        "open": "`true`: only those that wait for a decision or an act",
        "listImplausibleReports.decided": "`true`: also those that were admitted or refused",
        "past": "`true`: also those that ended in the last 90 days",
        "retireEntry.reason": "the member and the history show it",
    }
)
