"""What needs an operator's attention this week, over all areas, the most urgent first.

A row says what is wrong, since when or by when, and the next step. Kinds that an
operator's scopes do not show are left out and named in `hidden`.
"""

import enum
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.identity.memberships.member_search import ExpiringSecret, MemberFilter, MemberRow
from mudra.identity.operators.operator import Scope
from mudra.metrics.health.status_history import api_name
from mudra.metrics.incidents.incident import AaCalls, AaReporting, FipApi, StoredIncident
from mudra.overview.mail_queue import QueuedMail
from mudra.registry.lifecycle.pending_entries import PendingEntry
from mudra.unit_of_work import UnitOfWork

WITHIN: Final = timedelta(days=7)
URGENT: Final = timedelta(days=2)
MAX_COUNT: Final = 200
"""Rows of one kind; more than that are one problem, not many."""


class Kind(enum.StrEnum):
    """What a row is about."""

    SILENT_AA = "silent-aa"
    INCIDENT = "incident"
    SECRET = "secret"  # noqa: S105  # a value of the interface
    APPROVAL = "approval"
    MAIL = "mail"
    NO_ADMIN = "no-admin"


class Urgency(enum.StrEnum):
    """How soon someone must act."""

    BROKEN = "broken"
    """It already does harm."""
    SOON = "soon"
    """It will do harm within two days."""
    WAITS = "waits"
    """Someone is waiting for it, or it will do harm within the week."""


NEEDED: Final = {
    Kind.SILENT_AA: Scope.HEALTH,
    Kind.INCIDENT: Scope.HEALTH,
    Kind.SECRET: Scope.MEMBERS,
    Kind.APPROVAL: Scope.REGISTRY,
    Kind.MAIL: Scope.MEMBERS,
    Kind.NO_ADMIN: Scope.MEMBERS,
}


class BoardRow(Struct, frozen=True):
    """One thing to do. `subject` is the ID of what it is about: an entity, incident or mail."""

    kind: Kind
    urgency: Urgency
    subject: str
    entity_id: str
    at: datetime
    what: str
    next_act: str


class Board(Struct, frozen=True):
    """The rows that these scopes show, and the kinds that they do not."""

    rows: tuple[BoardRow, ...]
    hidden: tuple[Kind, ...]


async def board(work: UnitOfWork, scopes: frozenset[Scope]) -> Board:
    """Gather the rows for an operator with these scopes."""
    now = await work.people.now()
    rows: list[BoardRow] = []
    if Scope.HEALTH in scopes:
        found = await work.incidents.latest(only_open=True, entity_id=None, limit=MAX_COUNT)
        rows += [_incident(one) for one in found]
    if Scope.MEMBERS in scopes:
        rows += [
            _secret(one, now) for one in await work.member_search.expiring(now + WITHIN, MAX_COUNT)
        ]
        rows += [_mail(one) for one in await work.mail_queue.queue(failed=True, limit=MAX_COUNT)]
        alone = MemberFilter(status="active", without_admin=True)
        rows += [_alone(one) for one in await work.member_search.members(alone, "", MAX_COUNT)]
    if Scope.REGISTRY in scopes:
        rows += [_approval(one) for one in await work.pending_entries.waiting(MAX_COUNT)]
    hidden = tuple(kind for kind in Kind if NEEDED[kind] not in scopes)
    return Board(_worst_first(rows), hidden)


def _worst_first(rows: Iterable[BoardRow]) -> tuple[BoardRow, ...]:
    urgencies, kinds = list(Urgency), list(Kind)
    return tuple(
        sorted(rows, key=lambda row: (urgencies.index(row.urgency), kinds.index(row.kind), row.at))
    )


def _incident(stored: StoredIncident) -> BoardRow:
    incident = stored.incident
    taken = f" (owner: {stored.owner})" if stored.acknowledged_by else ""
    act = "View the incident" if stored.acknowledged_by else "Acknowledge the incident"
    match incident.subject:
        case AaReporting(aa_id):
            return BoardRow(
                Kind.SILENT_AA,
                Urgency.BROKEN,
                stored.incident_id,
                aa_id,
                incident.began,
                f"{aa_id} is not sending metrics{taken}",
                "Ask whether its agent is running",
            )
        case AaCalls(aa_id):
            entity_id, what = aa_id, aa_id
        case FipApi(fip_id, code):
            entity_id, what = fip_id, f"{fip_id}: {api_name(code)}"
    failing = _failing(incident.succeeded, incident.judged)
    return BoardRow(
        Kind.INCIDENT,
        Urgency.BROKEN,
        stored.incident_id,
        entity_id,
        incident.began,
        f"{what}: {failing}{taken}",
        act,
    )


def _failing(succeeded: int, judged: int) -> str:
    return f"{100 - 100 * succeeded // max(1, judged)} % of calls failing"


def _secret(one: ExpiringSecret, now: datetime) -> BoardRow:
    expired = one.expires_at <= now
    used = one.last_used_at is not None and one.last_used_at > now - WITHIN
    state = "has expired: no new tokens" if expired else "expires soon"
    what = f"secret of {one.entity_id} {state}"
    if not used:
        what += "; not used in the last 7 days"
    if expired:
        urgency = Urgency.BROKEN if used else Urgency.SOON
    else:
        urgency = Urgency.SOON if one.expires_at <= now + URGENT else Urgency.WAITS
    act = "Ask its admin to reset it" if one.able else "Give it an admin who can act"
    return BoardRow(Kind.SECRET, urgency, one.entity_id, one.entity_id, one.expires_at, what, act)


def _approval(one: PendingEntry) -> BoardRow:
    version = "first registration" if one.live is None else f"version {one.pending.number}"
    due = one.pending.goes_live_at
    if due is not None:
        what, act = f"{one.entity_id}'s {version} is approved for a later time", "Review it again"
    else:
        risks = "; ".join(risk.value for risk in one.risks)
        what = f"{one.entity_id}'s {version} is awaiting approval" + (f": {risks}" if risks else "")
        act = "Compare, then approve or reject"
    at = due or one.pending.submitted_at
    return BoardRow(Kind.APPROVAL, Urgency.WAITS, one.entity_id, one.entity_id, at, what, act)


def _mail(one: QueuedMail) -> BoardRow:
    how = "was rejected" if one.given_up else f"failed {one.attempts} times"
    return BoardRow(
        Kind.MAIL,
        Urgency.BROKEN if one.given_up else Urgency.SOON,
        one.mail_id,
        "",
        one.created_at,
        f"“{one.subject}” to {one.recipient} {how}",
        "Fix the address or mail server, then try again",
    )


def _alone(one: MemberRow) -> BoardRow:
    invited = "its admin has not set a password" if one.admins else "it has no admin"
    act = "Send the invitation again" if one.admins else "Add an admin"
    return BoardRow(
        Kind.NO_ADMIN,
        Urgency.WAITS,
        one.entity_id,
        one.entity_id,
        one.created_at,
        f"no admin can act for {one.entity_id}: {invited}",
        act,
    )


def counted(rows: Sequence[BoardRow]) -> dict[Kind, int]:
    """Count the rows of each kind."""
    return {kind: sum(row.kind is kind for row in rows) for kind in Kind}
