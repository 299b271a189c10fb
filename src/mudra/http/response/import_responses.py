"""What became of a file of members, as the API and the commands show it."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, field

from mudra.http.response.response_body import ResponseBody
from mudra.identity.memberships.import_members import RowOutcome, RowResult


class ImportedRow(Struct, kw_only=True):
    """What became of a row, or with `dryRun` would; `column` is empty where none is to blame."""

    line: int
    entity_id: str = field(name="entityId")
    result: Literal["new", "unchanged", "refused", "left"]
    column: str
    problem: str


class ImportResponse(ResponseBody, kw_only=True):
    """What became of each row of a file, in its order, and how many rows have each result."""

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
