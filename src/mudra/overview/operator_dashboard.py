"""Items that need an operator's attention this week, over all areas, the most urgent first.

A row says what is wrong, since when or by when, and the next step. Kinds that an
operator's scopes do not show are left out and named in `hidden`.
"""

import enum
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from mudra.disputes.dispute import Dispute, Side, State
from mudra.disputes.dispute_service import DisputeService
from mudra.identity.accounts.people_store import People
from mudra.identity.memberships.member_search import ExpiringSecret, MemberFilter, MemberRow
from mudra.identity.memberships.member_search_store import MemberSearch
from mudra.identity.operators.operator import Scope
from mudra.levels.budgets.budget_service import BudgetService
from mudra.levels.budgets.burn_rule import Outlook
from mudra.levels.budgets.burn_store import StoredBurn
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.health.public_rows import is_current
from mudra.metrics.incidents.incident import AaReporting, StoredIncident
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.incidents.subject import name_of, text_of
from mudra.metrics.notifications.alarm import symptom_text
from mudra.metrics.payload.held_reports import HeldReport, HeldReportService
from mudra.metrics.subscriptions.ports import Subscriptions
from mudra.metrics.subscriptions.subscription import MAX_CONFIRMATIONS_AN_HOUR, MAX_WAITING, Crowd
from mudra.overview.mail_queue_store import MailQueue, QueuedMail
from mudra.registry.key_search.key_search_store import KeySearches
from mudra.registry.key_search.weak_key import WeakKey, Weakness
from mudra.registry.lifecycle.difference import in_one_line
from mudra.registry.lifecycle.pending_entries import PendingEntry
from mudra.registry.lifecycle.pending_entry_store import PendingEntries
from mudra.storage.database.transaction import Transaction

WITHIN: Final = timedelta(days=7)
URGENT: Final = timedelta(days=2)
MAX_COUNT: Final = 200
"""Rows of one kind; more than that are one problem, not many."""
MAX_COUNTED: Final = 10_000
"""Of one kind that are read, so that its count is true: an import adds hundreds at once."""
_READ: Final = MAX_COUNTED + 1
"""One more says that there are more."""


class Kind(enum.StrEnum):
    """The subject of a row."""

    SILENT_AA = "silent-aa"
    INCIDENT = "incident"
    SECRET = "secret"  # noqa: S105  # a value of the interface
    APPROVAL = "approval"
    HELD_REPORT = "held-report"
    MAIL = "mail"
    SUBSCRIPTIONS = "subscriptions"
    NO_ADMIN = "no-admin"
    BUDGET = "budget"
    DISPUTE = "dispute"
    WEAK_KEY = "weak-key"


class Urgency(enum.StrEnum):
    """The urgency of a row."""

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
    Kind.HELD_REPORT: Scope.HEALTH,
    Kind.MAIL: Scope.MEMBERS,
    Kind.SUBSCRIPTIONS: Scope.HEALTH,
    Kind.NO_ADMIN: Scope.MEMBERS,
    Kind.BUDGET: Scope.HEALTH,
    Kind.DISPUTE: Scope.HEALTH,
    Kind.WEAK_KEY: Scope.REGISTRY,
}


class DashboardRow(Struct, frozen=True):
    """One thing to do. `subject` is the ID of what it is about: an entity, incident or mail."""

    kind: Kind
    urgency: Urgency
    subject: str
    entity_id: str
    at: datetime
    what: str
    next_step: str


class Dashboard(Struct, frozen=True):
    """The rows that these scopes show, and the kinds that they do not."""

    rows: tuple[DashboardRow, ...]
    hidden: tuple[Kind, ...]
    counts: Mapping[Kind, int] = field(default_factory=dict)
    """Of all, also of those beyond the rows of a kind; at most `MAX_COUNTED`."""
    cut: tuple[Kind, ...] = ()
    """Kinds of which there are more than are counted."""
    to_handle: Sequence[StoredIncident] = ()
    """The incidents among the rows."""
    judged_until: datetime | None = None
    unjudged_since: datetime | None = None
    """Since when no window was judged, if for long: what is broken now is not known."""


async def read_dashboard(
    tx: Transaction, scopes: frozenset[Scope], most: int = MAX_COUNT
) -> Dashboard:
    """Collect the rows for an operator with these scopes, at most so many of one kind."""
    now = await People(tx).now()
    rows: list[DashboardRow] = []
    to_handle: Sequence[StoredIncident] = ()
    judged_until = None
    if Scope.HEALTH in scopes:
        to_handle = await tx.service(IncidentService).to_handle(limit=_READ)
        judged_until = await tx.service(HealthService).judged_until()
        rows += [_incident(one) for one in to_handle]
        rows += _held(await tx.service(HeldReportService).list())
        rows += _crowd(await tx.service(Subscriptions).crowd())
        burns = await tx.service(BudgetService).of_now(now, in_danger=True)
        rows += [_budget(one) for one in burns]
        waiting = await tx.service(DisputeService).list(only_open=True)
        rows += [_dispute(one) for one in waiting if _is_late(one, now)]
    if Scope.MEMBERS in scopes:
        rows += [_secret(one, now) for one in await MemberSearch(tx).expiring(now + WITHIN, _READ)]
        rows += [_mail(one) for one in await MailQueue(tx).queue(failed=True, limit=_READ)]
        alone = MemberFilter(status="active", without_admin=True)
        rows += [without_admin(one) for one in await MemberSearch(tx).members(alone, "", _READ)]
    if Scope.REGISTRY in scopes:
        rows += [_approval(one) for one in await PendingEntries(tx).waiting(_READ)]
        rows += [_weak_key(one) for one in await KeySearches(tx).weak(_READ)]
    unjudged_since = judged_until if judged_until and not is_current(judged_until, now) else None
    found = dashboard_of(rows, scopes, most)
    return replace(
        found, to_handle=to_handle, judged_until=judged_until, unjudged_since=unjudged_since
    )


def dashboard_of(
    rows: Sequence[DashboardRow], scopes: frozenset[Scope], most: int = MAX_COUNT
) -> Dashboard:
    """Returns the worst rows first, at most so many of one kind."""
    hidden = tuple(kind for kind in Kind if NEEDED[kind] not in scopes)
    tally = Counter(row.kind for row in rows)
    counts = {kind: min(count, MAX_COUNTED) for kind, count in tally.items()}
    return Dashboard(
        _worst_of_each(_worst_first(rows), most),
        hidden,
        counts,
        tuple(kind for kind in Kind if tally[kind] > MAX_COUNTED),
    )


def _worst_of_each(rows: Iterable[DashboardRow], most: int) -> tuple[DashboardRow, ...]:
    """Returns the first of each kind, at most so many of it."""
    seen: Counter[Kind] = Counter()
    found = []
    for row in rows:
        seen[row.kind] += 1
        if seen[row.kind] <= most:
            found.append(row)
    return tuple(found)


def _worst_first(rows: Iterable[DashboardRow]) -> tuple[DashboardRow, ...]:
    urgencies, kinds = list(Urgency), list(Kind)
    return tuple(
        sorted(rows, key=lambda row: (urgencies.index(row.urgency), kinds.index(row.kind), row.at))
    )


def _incident(stored: StoredIncident) -> DashboardRow:
    incident = stored.incident
    taken = f" (owner: {stored.owner})" if stored.acknowledged_by else ""
    act = "View the incident" if stored.acknowledged_by else "Acknowledge the incident"
    name = name_of(incident.subject)
    if isinstance(incident.subject, AaReporting):
        return DashboardRow(
            Kind.SILENT_AA,
            Urgency.BROKEN,
            stored.incident_id,
            name.entity_id,
            incident.began,
            f"{name.entity_id} is not sending metrics{taken}",
            "Ask whether its agent is running",
        )
    return DashboardRow(
        Kind.INCIDENT,
        Urgency.BROKEN,
        stored.incident_id,
        name.entity_id,
        incident.began,
        f"{text_of(incident.subject)}: {symptom_text(incident)}{taken}",
        act,
    )


def _secret(one: ExpiringSecret, now: datetime) -> DashboardRow:
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
    return DashboardRow(
        Kind.SECRET, urgency, one.entity_id, one.entity_id, one.expires_at, what, act
    )


def _approval(one: PendingEntry) -> DashboardRow:
    version = "first registration" if one.live is None else f"version {one.pending.number}"
    due = one.pending.goes_live_at
    if due is not None:
        what, act = f"{one.entity_id}'s {version} is approved for a later time", "Review it again"
    else:
        risks = in_one_line(one.risks)
        what = f"{one.entity_id}'s {version} is awaiting approval" + (f": {risks}" if risks else "")
        act = "Compare, then approve or reject"
    at = due or one.pending.submitted_at
    return DashboardRow(Kind.APPROVAL, Urgency.WAITS, one.entity_id, one.entity_id, at, what, act)


def _weak_key(one: WeakKey) -> DashboardRow:
    shared = one.weakness is Weakness.SHARED_PRIME
    why = "shares a prime with another key" if shared else "has a small prime factor"
    return DashboardRow(
        Kind.WEAK_KEY,
        Urgency.BROKEN,
        one.entity_id,
        one.entity_id,
        one.found_at,
        f"{one.entity_id}'s key {one.kid} {why}: anyone can sign with it",
        "Have it register a new key; suspend its entry until then",
    )


def _held(reports: Sequence[HeldReport]) -> list[DashboardRow]:
    """One row for each AA: its reports are doubted for one reason."""
    by_aa: dict[str, list[HeldReport]] = {}
    for one in reports:
        by_aa.setdefault(one.aa_id, []).append(one)
    return [
        DashboardRow(
            Kind.HELD_REPORT,
            Urgency.WAITS,
            aa_id,
            aa_id,
            min(one.received_at for one in held),
            f"{len(held)} implausible report{'' if len(held) == 1 else 's'} of {aa_id}, in no sum",
            "Admit or refuse",
        )
        for aa_id, held in by_aa.items()
    ]


def _budget(one: StoredBurn) -> DashboardRow:
    burn = one.burn
    gone = burn.outlook is Outlook.GONE
    state = "is used up" if gone else "will not last the month"
    return DashboardRow(
        Kind.BUDGET,
        Urgency.SOON if gone else Urgency.WAITS,
        one.entity_id,
        one.entity_id,
        one.at if burn.gone_at is None else burn.gone_at,
        f"error budget of {one.entity_id} ({burn.measure.value}) {state}: "
        f"{burn.spent:,} of {burn.allowed:,} failures",
        "Ask the member what it does about it",
    )


def _is_late(one: Dispute, now: datetime) -> bool:
    return one.waits_for is Side.OPERATOR and (
        one.is_overdue(now) or (one.due_at is not None and one.due_at <= now + URGENT)
    )


def _dispute(one: Dispute) -> DashboardRow:
    assert one.due_at is not None
    act = "Take it" if one.state is State.RAISED else "Decide it"
    return DashboardRow(
        Kind.DISPUTE,
        Urgency.SOON,
        one.dispute_id,
        one.entity_id,
        one.due_at,
        f"{one.entity_id}'s dispute has to be acted on",
        act,
    )


def _mail(one: QueuedMail) -> DashboardRow:
    how = "was rejected" if one.given_up else f"failed {one.attempts} times"
    return DashboardRow(
        Kind.MAIL,
        Urgency.BROKEN if one.given_up else Urgency.SOON,
        one.mail_id,
        "",
        one.created_at,
        f"“{one.subject}” to {one.recipient} {how}",
        "Fix the address or mail server, then try again",
    )


def _crowd(found: Crowd | None) -> list[DashboardRow]:
    if found is None:
        return []
    what = (
        "requests for emails of the public status that wait for a confirmation email: "
        f"{found.waiting:,} ({MAX_CONFIRMATIONS_AN_HOUR:,} an hour are sent)"
    )
    if found.is_full:
        what += f"; {MAX_WAITING:,} are unconfirmed, and one more takes the place of the oldest"
    return [
        DashboardRow(
            Kind.SUBSCRIPTIONS,
            Urgency.BROKEN if found.is_full else Urgency.WAITS,
            "",
            "",
            found.since,
            what,
            "Look in the proxy's log who sends them; block a flood there",
        )
    ]


def without_admin(one: MemberRow) -> DashboardRow:
    """Returns the row of a member without an admin."""
    invited = "its admin has not set a password" if one.admins else "it has no admin"
    act = "Send the invitation again" if one.admins else "Add an admin"
    return DashboardRow(
        Kind.NO_ADMIN,
        Urgency.WAITS,
        one.entity_id,
        one.entity_id,
        one.created_at,
        f"no admin can act for {one.entity_id}: {invited}",
        act,
    )
