"""/operator/v1/members/import and export: members as a CSV file (scope members)."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Final, Literal

from litestar.types import ControllerRouterHandler
from msgspec import Meta, Struct, field

from mudra.http.auth.gates import LongOperatorCall, OperatorCall, operator, operator_at_length
from mudra.http.operator.members import MemberChoice, member_filter
from mudra.http.request.body.request_body import MEMBER_FILE_LIMITS
from mudra.http.response.response_body import CsvText, ResponseBody
from mudra.http.route import get, post
from mudra.identity.memberships.in_bulk.import_members import (
    RowOutcome,
    RowResult,
    export_members,
    import_members,
    preview_import,
)
from mudra.identity.memberships.in_bulk.member_file import (
    COLUMNS,
    MAX_BYTES,
    MAX_ROWS,
    read_member_file,
)
from mudra.identity.operators.operator import Scope
from mudra.shared.refusal import Refusal


class ImportedRow(Struct, kw_only=True):
    """The outcome of a row, or with `dryRun` expected; `column` is empty where none is to blame."""

    line: int
    entity_id: str = field(name="entityId")
    result: Literal["new", "unchanged", "refused", "left"]
    column: str
    problem: str


class ImportResponse(ResponseBody, kw_only=True):
    """The outcome of each row of a file, in its order, and how many rows have each result."""

    dry_run: bool = field(name="dryRun")
    new: int
    unchanged: int
    refused: int
    left: int
    rows: list[ImportedRow]


def import_response(outcomes: Sequence[RowOutcome], *, dry_run: bool) -> ImportResponse:
    """Return the outcomes of a file as the API and the commands show them."""
    counts = Counter(one.result for one in outcomes)
    return ImportResponse(
        dry_run=dry_run,
        new=counts[RowResult.NEW],
        unchanged=counts[RowResult.UNCHANGED],
        refused=counts[RowResult.REFUSED],
        left=counts[RowResult.LEFT],
        rows=[
            ImportedRow(
                line=one.row.line,
                entity_id=one.row.new.entity_id,
                result=one.result.value,
                column=one.column,
                problem=one.refusal.sentence if one.refusal else "",
            )
            for one in outcomes
        ],
    )


class ImportRequest(Struct, frozen=True):
    """A file of members; with `dryRun` nothing is changed."""

    csv: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_BYTES,
            description=f"CSV of at most {MAX_ROWS} rows with the columns {', '.join(COLUMNS)}; "
            "the last three are optional",
            examples=[
                "entityId,type,name,adminEmail\r\nTAPI-FIP,FIP,Tapi Bank,ila@tapi.example\r\n"
            ],
            extra_json_schema={"format": "member-file"},
        ),
    ]
    dry_run: bool = field(name="dryRun", default=False)


@post(
    "/members/import",
    "Onboard the members of a file",
    gate=operator_at_length(Scope.MEMBERS),
    limits=MEMBER_FILE_LIMITS,
)
async def import_file(call: LongOperatorCall[ImportRequest]) -> ImportResponse | Refusal:
    """Onboard each member of a CSV file whose row has no fault; the same again changes nothing.

    Each row is kept or refused for itself. Rows that were not begun within 20 seconds have the
    result `left`: send the same file again.
    """
    open_transaction = call.dependencies.transaction
    rows = read_member_file(call.body.csv)
    if isinstance(rows, Refusal):
        return rows
    if call.body.dry_run:
        async with open_transaction() as tx:
            return import_response(await preview_import(tx, rows), dry_run=True)
    outcomes = await import_members(open_transaction, rows, call.by)
    return import_response(outcomes, dry_run=False)


@get("/members/export", "Export members as a file", gate=operator(Scope.MEMBERS))
async def export_file(call: OperatorCall[MemberChoice]) -> CsvText:
    """Export the members of a filter as CSV, which an import reads: all rows in one file."""
    return CsvText(await export_members(call.tx, member_filter(call.body)))


handlers: Final[list[ControllerRouterHandler]] = [import_file, export_file]
