"""Messages about a step of a dispute: the webhook message, and the facts of its emails."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

import msgspec
from msgspec import Struct

from mudra.disputes.dispute import Act, Dispute, Side, Step
from mudra.metrics.payload.catalogue import TYPE_OF_API
from mudra.shared.mail.mail_text import safe_in_mail

_MAX_EXCERPT: Final = 600
_MAX_NAMED: Final = 3
_ADDING: Final = frozenset({Act.INFORM, Act.ANSWER, Act.ATTACH, Act.OVERDUE})


class DisputeData(Struct, rename="camel", kw_only=True):
    """The dispute in a message: what it is about, its state, and the step that was taken.

    No statement is in it: a webhook may lead to a chat that others read.
    """

    dispute_id: str
    entity_id: str
    kind: str
    about: str
    incident_id: str | None
    apis: tuple[str, ...]
    start: datetime
    end: datetime
    state: str
    due_at: datetime | None
    act: str
    by: str


class DisputeMessage(Struct):
    """The body of a message."""

    type: str
    timestamp: datetime
    data: DisputeData


def event_of(step: Step) -> str:
    """Return the event of a message: `dispute.` and the state that the step made, or the act.

    What only adds to a dispute never repeats the event of its state.
    """
    return f"dispute.{(step.act if step.act in _ADDING else step.state).value}"


def body_of(dispute: Dispute, step: Step) -> bytes:
    """Return the body of the message about a step."""
    data = DisputeData(
        dispute_id=dispute.dispute_id,
        entity_id=dispute.entity_id,
        kind=dispute.kind.value,
        about=dispute.about.value,
        incident_id=dispute.incident_id,
        apis=dispute.apis,
        start=dispute.start,
        end=dispute.end,
        state=dispute.state.value,
        due_at=dispute.due_at,
        act=step.act.value,
        by=step.by.value,
    )
    return msgspec.json.encode(DisputeMessage(event_of(step), step.at, data))


def _names_of(dispute: Dispute) -> str:
    """Return the English names of the APIs; empty for all, and for more than a line names."""
    if len(dispute.apis) > _MAX_NAMED:
        return ""
    return ", ".join(TYPE_OF_API[one].label for one in dispute.apis if one in TYPE_OF_API)


def facts_of(dispute: Dispute, step: Step) -> Mapping[str, str]:
    """Return the facts of an email about a step; its text on one line, cut where it is long."""
    said = safe_in_mail(" ".join(step.text.split()))
    if len(said) > _MAX_EXCERPT:
        said = said[:_MAX_EXCERPT] + " …"
    return {
        "kind": dispute.kind.value,
        "about": dispute.about.value,
        "apis": _names_of(dispute),
        "since": dispute.start.isoformat(),
        "until": dispute.end.isoformat(),
        "act": step.act.value,
        "by": step.by.value,
        "state": dispute.state.value,
        "said": said,
        "due_at": dispute.due_at.isoformat() if dispute.due_at else "",
        "waits_for": (dispute.waits_for or Side.SERVICE).value,
    }
