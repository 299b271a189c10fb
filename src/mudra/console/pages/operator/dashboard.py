"""The operator's first page: what is broken now, and what needs attention this week."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.navigation import operator_path
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Outcome, RenderedPage
from mudra.console.framework.table import Column, Table
from mudra.console.health.callable_members import callees
from mudra.console.health.cause_rows import CauseRow, cause_rows, silent_aas
from mudra.console.pages.operator.audit_log.audit_pages import latest_acts
from mudra.console.pages.operator.health.incident_list_acts import assigned_text
from mudra.console.pages.operator.labels import KINDS, URGENCIES, row_link
from mudra.http.auth.gates import operator
from mudra.identity.operators.operator import Scope
from mudra.localization.duration import span_text
from mudra.localization.language import ENGLISH, current, gettext, translatable, written_in
from mudra.metrics.health.api_names import api_names
from mudra.metrics.health.health_service import HealthService
from mudra.overview.board.dashboard_rows import DashboardRow, Kind, Urgency
from mudra.overview.board.operator_dashboard import (
    MAX_COUNT,
    MAX_COUNTED,
    NEEDED,
    Dashboard,
    read_dashboard,
)

EXPORTED: Final = Table[DashboardRow](
    "board",
    translatable("Needs attention this week"),
    (
        Column("urgency", translatable("Urgency"), lambda row: row.urgency.value),
        Column("kind", translatable("Kind"), lambda row: row.kind.value),
        Column("at", translatable("Since or by"), lambda row: row.at, "time"),
        Column("entity", translatable("Entity"), lambda row: row.entity_id),
        Column("what", translatable("What"), lambda row: row.what),
        Column("act", translatable("Next step"), lambda row: row.next_step),
    ),
)


BOARD: Final = operator_path("board")
_CAUSES: Final = frozenset({Kind.INCIDENT, Kind.SILENT_AA})
"""Kinds that have rows of their own: one for each cause."""
_LISTS: Final = {
    Kind.SECRET: operator_path("members?members.sort=secret"),
    Kind.APPROVAL: operator_path("approvals"),
    Kind.HELD_REPORT: operator_path("held-reports"),
    Kind.MAIL: operator_path("mails?failed=true"),
    Kind.NO_ADMIN: operator_path("members?status=active&alone=true"),
    Kind.BUDGET: operator_path("levels#budgets"),
    Kind.DISPUTE: operator_path("disputes"),
    Kind.WEBHOOK: operator_path("webhooks"),
}
"""The pages that list all of a kind."""
_MINUTE: Final = timedelta(minutes=1)
_SEVERAL: Final = 2
_ACTS: Final = 8
_MAX_OF_KIND: Final = 5
"""Rows of one kind among the others: an import of members adds hundreds of a kind."""


@page.get("/operator/board", gate=operator())
async def show_board(page_context: PageContext) -> Outcome:
    """Show what needs attention this week, limited to the operator's scopes."""
    kind = page_context.query.get("kind", "")
    if EXPORTED.is_exported(page_context.query):
        return await _file(page_context, kind)
    found = await read_dashboard(page_context.tx, page_context.scopes, MAX_COUNT)
    chosen = _of_kind(found, kind)
    rows = [row for row in chosen if row.kind not in _CAUSES]
    shown = rows if kind else _few_of_each(rows)
    counts = found.counts
    health = page_context.tx.service(HealthService)
    causes = await _causes(page_context, found)
    cut = left_out(found, kind)
    alone = Scope.AUDIT in page_context.scopes and len(found.hidden) == len(KINDS)
    acts, verified = await latest_acts(page_context, _ACTS) if alone else (None, None)
    return RenderedPage(
        "operator_dashboard.html",
        {
            "kinds": [
                {"word": one.value, "title": gettext(title), "count": counts.get(one, 0)}
                for one, title in KINDS.items()
                if one not in found.hidden and one not in _CAUSES
            ],
            "acts": acts,
            "verified": verified,
            "address": BOARD + (f"?kind={kind}" if kind in tuple(Kind) else ""),
            "causes": causes,
            "changed": await health.changed_rates() if causes is not None else (),
            "names": found.names,
            "api_names": api_names,
            "at_once": await health.at_once(found.to_handle) if causes else (),
            "incidents": sum(counts.get(one, 0) for one in _CAUSES),
            "cut": cut,
            "unjudged_since": found.unjudged_since,
            "other_broken": any(
                row.urgency is Urgency.BROKEN and row.kind not in _CAUSES for row in found.rows
            ),
            "unowned": sum(not one.owner for one in causes or ()),
            "kind": kind,
            "message": assigned_text(page_context.query.get("told", "")),
            "one_operator": page_context.dependencies.settings.one_operator_decides
            and not page_context.dependencies.settings.sandbox,
            "rows": [
                {
                    "row": row,
                    "tag": _tag(row),
                    "link": row_link(row),
                    "ago": _ago(page_context.now - row.at),
                }
                for row in shown
            ],
            "more": _left_out(counts, shown, kind),
            "budgets": None if kind else budgets_line(rows, found.names),
            "no_admin": counts.get(Kind.NO_ADMIN, 0),
            "all": sum(count for one, count in counts.items() if one not in _CAUSES),
            "hidden": [gettext(KINDS[one]) for one in found.hidden],
            "needed": sorted({NEEDED[one].value for one in found.hidden}),
        },
    )


async def _file(page_context: PageContext, kind: str) -> Outcome:
    """Returns the rows as a file, which is in English for every reader (decision 0059)."""
    with written_in(ENGLISH):
        found = await read_dashboard(page_context.tx, page_context.scopes, MAX_COUNTED)
        rows, cut = _of_kind(found, kind), left_out(found, kind)
    return EXPORTED.file(rows, page_context.query, left_out=cut)


def _of_kind(found: Dashboard, kind: str) -> Sequence[DashboardRow]:
    return [row for row in found.rows if not kind or row.kind.value == kind]


async def _causes(page_context: PageContext, board: Dashboard) -> list[CauseRow] | None:
    """Returns what is broken now; None for operators who may not see it."""
    if Scope.HEALTH not in page_context.scopes:
        return None
    found = board.to_handle
    health = page_context.tx.service(HealthService)
    never = await health.never_reported(silent_aas(found))
    called = await callees(page_context.tx, found)
    rows = cause_rows(found, board.judged_until, page_context.now, never, board.names, called)
    return rows[:MAX_COUNT]


def left_out(found: Dashboard, chosen: str) -> str:
    """Returns what the board and its file do not show of a kind; empty for nothing."""
    kinds = [gettext(KINDS[one]) for one in found.cut if chosen in {"", one.value}]
    if not kinds:
        return ""
    return gettext(
        "Only the %(count)s worst are listed and counted of: %(kinds)s.",
        count=current().number(MAX_COUNTED),
        kinds=", ".join(kinds),
    )


def _few_of_each(rows: Sequence[DashboardRow]) -> list[DashboardRow]:
    of_kind: Counter[Kind] = Counter()
    few = []
    for row in rows:
        of_kind[row.kind] += 1
        if of_kind[row.kind] <= _MAX_OF_KIND:
            few.append(row)
    # One act helps all of these members: where there are several they are one line.
    several = of_kind[Kind.NO_ADMIN] > 1
    budgets = [row for row in few if row.kind is Kind.BUDGET]
    return [
        row for row in few if not (several and row.kind is Kind.NO_ADMIN) and row not in budgets[1:]
    ]


def budgets_line(
    rows: Sequence[DashboardRow], names: Mapping[str, str]
) -> Mapping[str, object] | None:
    """Returns what one line says of several error budgets; None where there are not several."""
    found = [row for row in rows if row.kind is Kind.BUDGET]
    if len(found) < _SEVERAL:
        return None
    gone = sum(row.urgency is Urgency.SOON for row in found)
    of_member = Counter(names.get(row.entity_id, row.entity_id) for row in found)
    return {
        "gone": gone,
        "short": len(found) - gone,
        "members": [
            f"{name} ({count})" if count > 1 else name for name, count in of_member.items()
        ],
    }


def _ago(age: timedelta) -> str:
    """Returns how long ago something was, in whole minutes."""
    if age < _MINUTE:
        return gettext("less than a minute ago")
    return gettext("%(time)s ago", time=span_text(age - age % _MINUTE))


def _tag(row: DashboardRow) -> tuple[str, str]:
    used_up = row.kind is Kind.BUDGET and row.urgency is Urgency.SOON
    if used_up:
        return translatable("Used up"), "bad"
    return (translatable("Failing"), "warn") if row.kind is Kind.WEBHOOK else URGENCIES[row.urgency]


def _left_out(
    counts: Mapping[Kind, int], shown: Sequence[DashboardRow], chosen: str
) -> list[dict[str, str | int]]:
    """Returns the kinds of which there are more than shown, and where all of them are."""
    listed = Counter(row.kind for row in shown)
    return [
        {
            "link": _LISTS.get(kind, "") if chosen else f"?kind={kind.value}",
            "title": gettext(title),
            "count": counts[kind] - listed[kind],
        }
        for kind, title in KINDS.items()
        if kind not in _CAUSES and chosen in {"", kind.value}
        if chosen or kind is not Kind.NO_ADMIN or listed[kind]
        if chosen or kind is not Kind.BUDGET
        if counts.get(kind, 0) > listed[kind]
    ]


handlers: Final[list[ControllerRouterHandler]] = [show_board]
