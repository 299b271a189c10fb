"""The board never says that nothing is broken when no one looked."""

import asyncio
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.memory_transaction import MemoryTransaction

from mudra.console.framework.render import environment
from mudra.console.pages.operator.dashboard import EXPORTED, budgets_line, left_out
from mudra.disputes.dispute_service import DisputeService
from mudra.identity.memberships.member_search import MemberRow
from mudra.identity.operators.operator import Scope
from mudra.levels.budgets.budget_service import BudgetService
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.notifications.webhook_service import WebhookService
from mudra.metrics.payload.held_reports import HeldReportService
from mudra.metrics.subscriptions.subscription_store import Subscriptions
from mudra.overview.board.dashboard_rows import DashboardRow, Kind, Urgency, without_admin_row
from mudra.overview.board.operator_dashboard import Dashboard, dashboard_of, read_dashboard

MAX_COUNT = 200
MAX_COUNTED = 10_000

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def answers(value: object) -> Any:
    async def answer(*_: object, **__: object) -> object:
        return value

    return answer


def board(judged_until: datetime | None, *scopes: Scope) -> Dashboard:
    use_cases = {
        IncidentService: SimpleNamespace(to_handle=answers([])),
        HeldReportService: SimpleNamespace(list=answers([])),
        Subscriptions: SimpleNamespace(crowd=answers(None)),
        WebhookService: SimpleNamespace(list=answers([])),
        BudgetService: SimpleNamespace(of_now=answers([])),
        DisputeService: SimpleNamespace(list=answers([])),
        HealthService: SimpleNamespace(judged_until=answers(judged_until), names=answers({})),
    }
    tx: Any = MemoryTransaction(NOW, use_cases)
    return asyncio.run(read_dashboard(tx, frozenset(scopes)))


@pytest.mark.parametrize(
    ("judged_until", "unjudged_since"),
    [
        (NOW - 25 * MINUTE, None),
        (NOW - 80 * MINUTE, NOW - 80 * MINUTE),
        (None, None),
    ],
)
def test_80_minutes_without_judging_are_said(
    judged_until: datetime | None, unjudged_since: datetime | None
) -> None:
    assert board(judged_until, Scope.HEALTH).unjudged_since == unjudged_since
    assert board(judged_until, Scope.REGISTRY).unjudged_since is None


def test_the_page_says_so_instead_of_all_being_well() -> None:
    loader = environment().loader
    assert loader is not None
    source = loader.get_source(environment(), "operator_dashboard.html")[0]
    banner = source[source.index('<section class="banner') : source.index("</section>")]

    def shown(since: datetime | None, *, other_broken: bool = False) -> str:
        template = environment().from_string(banner)
        return template.render(
            causes=[], unowned=0, unjudged_since=since, other_broken=other_broken
        )

    assert "Nothing is broken now" in shown(None)
    expired = shown(None, other_broken=True)
    assert "Nothing is broken" not in expired
    assert "No incident is open" in expired
    assert 'class="banner warn"' in expired
    silent = shown(NOW)
    assert "Nothing is broken" not in silent
    assert "What is broken now is not known" in silent
    assert 'class="banner warn"' in silent


def members_without_admin(number: int) -> list[DashboardRow]:
    return [
        without_admin_row(
            MemberRow(f"NEW-{n:05}-FIP", "FIP", "New", "active", NOW, NOW, "", "", (), 0)
        )
        for n in range(number)
    ]


def test_counts_are_true_beyond_the_rows_of_a_kind() -> None:
    rows = members_without_admin(260)

    found = dashboard_of(rows, frozenset({Scope.MEMBERS}))
    of_the_file = dashboard_of(rows, frozenset({Scope.MEMBERS}), MAX_COUNTED)

    assert (len(found.rows), found.counts[Kind.NO_ADMIN]) == (MAX_COUNT, 260)
    assert (len(of_the_file.rows), of_the_file.cut) == (260, ())


def test_a_file_that_is_cut_says_so_in_its_last_line() -> None:
    rows = members_without_admin(MAX_COUNTED + 1)

    found = dashboard_of(rows, frozenset({Scope.MEMBERS}), MAX_COUNTED)
    cut = left_out(found, "")
    file = EXPORTED.export(found.rows, {"export": "board"}, left_out=cut)

    assert (len(found.rows), found.counts[Kind.NO_ADMIN]) == (MAX_COUNTED, MAX_COUNTED)
    assert file is not None
    lines = file.body.decode().splitlines()
    assert len(lines) == MAX_COUNTED + 2
    assert lines[-1] == '"Only the 10,000 worst are listed and counted of: No admin."'
    assert left_out(found, "mail") == ""


def test_several_error_budgets_are_one_line_with_their_members() -> None:
    def budget(entity_id: str, urgency: Urgency) -> DashboardRow:
        return DashboardRow(Kind.BUDGET, urgency, entity_id, entity_id, NOW, "what", "next")

    rows = [
        *(budget("A", Urgency.SOON), budget("A", Urgency.SOON)),
        budget("B", Urgency.WAITS),
        *members_without_admin(2),
    ]

    line = budgets_line(rows, {"A": "Kaveri Bank"})

    assert line == {"gone": 2, "short": 1, "members": ["Kaveri Bank (2)", "B"]}
    assert budgets_line(rows[:1], {}) is None
