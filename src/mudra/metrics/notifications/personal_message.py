"""The message of a person's own webhook: one alarm, or the digest of many."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from mudra.metrics.notifications.alarm_mail import MAX_LISTED, PersonalAlarm
from mudra.metrics.notifications.webhook_formats import ChatMessage, Format, in_format

PERSONAL: Final = "alarms"
"""The `type` of the message."""


class AlarmData(msgspec.Struct, rename="camel", kw_only=True):
    """One alarm; `entityId` is the reader's entity, empty for alarms of the network.

    `incidentId` is empty for one about an error budget.
    """

    incident_id: str
    entity_id: str
    severity: str
    over: bool
    title: str
    text: str
    link: str


class AlarmsData(msgspec.Struct):
    """The alarms of a message, the most urgent first; `more` were left out."""

    alarms: list[AlarmData]
    more: int


class AlarmsMessage(msgspec.Struct):
    """The body in the standard format."""

    type: str
    timestamp: datetime
    data: AlarmsData


def personal_body(
    alarms: Sequence[tuple[PersonalAlarm, str]], format_: Format, console: str, now: datetime
) -> bytes:
    """Returns the body for alarms with their pages."""
    listed = alarms[:MAX_LISTED]
    more = len(alarms) - len(listed)
    chat = in_format(format_, _chat(listed, more, console))
    if chat is not None:
        return chat
    data = [
        AlarmData(
            incident_id="" if one.page else one.incident_id,
            entity_id=one.entity_id,
            severity=one.severity.value,
            over=one.over,
            title=one.title,
            text=one.text,
            link=link,
        )
        for one, link in listed
    ]
    return msgspec.json.encode(AlarmsMessage(PERSONAL, now, AlarmsData(data, more)))


def _chat(alarms: Sequence[tuple[PersonalAlarm, str]], more: int, console: str) -> ChatMessage:
    first, link = alarms[0]
    if len(alarms) == 1 and not more:
        return ChatMessage(first.title, first.text, first.severity, first.over, link)
    over = sum(one.over for one, _ in alarms)
    lines = [f"{one.title}{' (over)' if one.over else ''}" for one, _ in alarms]
    if more:
        lines.append(f"and {more} more")
    title = f"{len(alarms) - over} open and {over} ended incident{'' if over == 1 else 's'}"
    return ChatMessage(title, "\n".join(lines), first.severity, over == len(alarms), console)
