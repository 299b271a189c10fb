"""Items that need an operator's attention this week, over all areas, the most urgent first.

A row says what is wrong, since when or by when, and the next step. Kinds that an
operator's scopes do not show are left out and named in `hidden`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from mudra.disputes.dispute_service import DisputeService
from mudra.identity.accounts.people_store import People
from mudra.identity.memberships.member_search import MemberFilter
from mudra.identity.memberships.member_search_store import MemberSearch
from mudra.identity.operators.operator import Scope
from mudra.levels.budgets.budget_service import BudgetService
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.incidents.subject import NO_NAMES, Names
from mudra.metrics.notifications.webhook_service import WebhookService
from mudra.metrics.payload.held_reports import HeldReportService
from mudra.metrics.public_status.public_rows import is_current
from mudra.metrics.subscriptions.subscription_store import Subscriptions
from mudra.overview.board.dashboard_rows import (
    WITHIN,
    DashboardRow,
    Kind,
    Urgency,
    approval_row,
    budget_row,
    crowd_rows,
    dispute_row,
    held_rows,
    incident_row,
    is_late,
    mail_row,
    secret_row,
    weak_key_row,
    webhook_row,
    without_admin_row,
)
from mudra.overview.mail_queue_store import MailQueue
from mudra.registry.key_search.key_search_store import KeySearches
from mudra.registry.lifecycle.pending_entry_store import PendingEntries
from mudra.storage.database.transaction import Transaction

MAX_COUNT: Final = 200
"""Rows of one kind; more than that are one problem, not many."""
MAX_COUNTED: Final = 10_000
"""Of one kind that are read, so that its count is true: an import adds hundreds at once."""
_READ: Final = MAX_COUNTED + 1
"""One more says that there are more."""


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
    Kind.WEBHOOK: Scope.HEALTH,
}


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
    names: Names = NO_NAMES
    """Of members, by their IDs."""
    judged_until: datetime | None = None
    unjudged_since: datetime | None = None
    """Since when no window was judged, if for long: what is broken now is not known."""


async def read_dashboard(
    tx: Transaction, scopes: frozenset[Scope], most: int = MAX_COUNT
) -> Dashboard:
    """Collect the rows for an operator with these scopes, at most so many of one kind."""
    now = await People(tx).now()
    names = await tx.service(HealthService).names()
    rows: list[DashboardRow] = []
    to_handle: Sequence[StoredIncident] = ()
    judged_until = None
    if Scope.HEALTH in scopes:
        to_handle = await tx.service(IncidentService).to_handle(limit=_READ)
        judged_until = await tx.service(HealthService).judged_until()
        rows += [incident_row(one, names) for one in to_handle]
        rows += held_rows(await tx.service(HeldReportService).list(), names)
        rows += crowd_rows(await tx.service(Subscriptions).crowd())
        burns = await tx.service(BudgetService).of_now(now, in_danger=True)
        rows += [budget_row(one, names) for one in burns]
        waiting = await tx.service(DisputeService).list(only_open=True)
        rows += [dispute_row(one, now, names) for one in waiting if is_late(one, now)]
        webhooks = await tx.service(WebhookService).list()
        rows += [webhook_row(one, names) for one in webhooks if one.problem]
    if Scope.MEMBERS in scopes:
        rows += [
            secret_row(one, now) for one in await MemberSearch(tx).expiring(now + WITHIN, _READ)
        ]
        rows += [mail_row(one) for one in await MailQueue(tx).queue(failed=True, limit=_READ)]
        alone = MemberFilter(status="active", without_admin=True)
        rows += [without_admin_row(one) for one in await MemberSearch(tx).members(alone, "", _READ)]
    if Scope.REGISTRY in scopes:
        rows += [approval_row(one, names) for one in await PendingEntries(tx).waiting(_READ)]
        rows += [weak_key_row(one, names) for one in await KeySearches(tx).weak(_READ)]
    unjudged_since = judged_until if judged_until and not is_current(judged_until, now) else None
    found = dashboard_of(rows, scopes, most)
    return replace(
        found,
        names=names,
        to_handle=to_handle,
        judged_until=judged_until,
        unjudged_since=unjudged_since,
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
