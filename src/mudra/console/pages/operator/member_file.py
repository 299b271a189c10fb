"""Import of members from a CSV file: what would become of each row, then the import."""

from collections.abc import Sequence
from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.console_errors import page_problem, refusal_text
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import LongAct, Outcome, RenderedPage
from mudra.console.framework.session.identity_proof import RECENT
from mudra.http.auth.gates import operator
from mudra.identity.memberships.in_bulk.import_members import (
    RowOutcome,
    RowResult,
    import_members,
    preview_import,
)
from mudra.identity.memberships.in_bulk.member_file import (
    COLUMNS,
    MAX_BYTES,
    MAX_ROWS,
    REQUIRED,
    read_member_file,
)
from mudra.identity.operators.operator import Scope
from mudra.server_protocol.body_reader import BodyLimits
from mudra.shared.refusal import Refusal

_LIMITS: Final = BodyLimits(3 * MAX_BYTES)
"""A form encodes one byte in up to three."""


@page.get("/operator/import", gate=operator(Scope.MEMBERS))
async def show_import(_: PageContext) -> Outcome:
    """Show the form of a file."""
    return _page("")


@page.post("/operator/import/check", gate=operator(Scope.MEMBERS), limits=_LIMITS)
async def check_import(page_context: PageContext, fields: Fields) -> Outcome:
    """Show what would become of each row of a file."""
    text = fields.get("csv", "")
    rows = read_member_file(text)
    if isinstance(rows, Refusal):
        return _page(text, rows)
    return _page(text, outcomes=await preview_import(page_context.tx, rows))


@page.post("/operator/import", gate=operator(Scope.MEMBERS), proof=RECENT, limits=_LIMITS)
async def import_file(page_context: PageContext, fields: Fields) -> Outcome | LongAct:
    """Onboard the members of a file and invite their admins."""
    text = fields.get("csv", "")
    rows = read_member_file(text)
    if isinstance(rows, Refusal):
        return _page(text, rows)

    async def run() -> RenderedPage:
        open_transaction = page_context.dependencies.transaction
        outcomes = await import_members(open_transaction, rows, page_context.acting_operator)
        return _page(text, outcomes=outcomes, done=True)

    return LongAct(run)


def _page(
    text: str,
    refusal: Refusal | None = None,
    *,
    outcomes: Sequence[RowOutcome] = (),
    done: bool = False,
) -> RenderedPage:
    problem = None if refusal is None else page_problem(refusal)
    of = {result: [one for one in outcomes if one.result is result] for result in RowResult}
    return RenderedPage(
        "operator_import.html",
        {
            "text": text,
            "checked": bool(outcomes) and not done,
            "done": done,
            "refused": [
                (one, refusal_text(one.refusal) if one.refusal else "")
                for one in of[RowResult.REFUSED]
            ],
            "new": of[RowResult.NEW],
            "left": of[RowResult.LEFT],
            "unchanged": of[RowResult.UNCHANGED],
            "columns": COLUMNS,
            "required": REQUIRED,
            "max_rows": MAX_ROWS,
            "problem": refusal_text(refusal) if refusal else "",
        },
        status=problem.status if problem else 200,
    )


handlers: Final[list[ControllerRouterHandler]] = [show_import, check_import, import_file]
