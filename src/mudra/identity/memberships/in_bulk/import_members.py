"""Onboard the members of a file: first what becomes of each row, then the rows without a fault.

Each row is onboarded as a single member is. The same file again changes nothing.
"""

import enum
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, Self

from msgspec import Struct
from msgspec.structs import replace

from mudra.identity.accounts.refusals import WrongAccountKind
from mudra.identity.memberships.contact import checked_contact, keep_contact
from mudra.identity.memberships.in_bulk.member_file import FileRow
from mudra.identity.memberships.in_bulk.member_lists import all_members, all_users, written_file
from mudra.identity.memberships.in_bulk.one_by_one import REQUEST_S, act_one_by_one
from mudra.identity.memberships.member import Contact, Member
from mudra.identity.memberships.member_search import MemberFilter, MemberRow, UserFilter
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.memberships.onboard import (
    MemberDiffers,
    NewMember,
    Onboarded,
    OnboardRefused,
    checked_member,
    differing_field,
    onboard_member,
    type_refused,
)
from mudra.identity.operators.operator import ScopeMissing
from mudra.identity.operators.person_rule import ActingOperator
from mudra.shared.refusal import Refusal, ValueRefused
from mudra.storage.database.transaction import OpenTransaction, Transaction

_COLUMN_OF: Final = {"admin": "adminEmail", "email": "contactEmail", "phone": "contactPhone"}


class RowResult(enum.StrEnum):
    """The result of a row."""

    NEW = "new"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    LEFT = "left"
    """Not begun in the time of the request."""


class RowOutcome(Struct, frozen=True):
    """The outcome of a row; of a refused one why, and the column where one is to blame."""

    row: FileRow
    result: RowResult
    refusal: Refusal | None = None
    column: str = ""

    @property
    def is_ready(self) -> bool:
        """Return whether the row can be imported."""
        return self.result is RowResult.NEW

    def left(self) -> Self:
        """Return that it was not begun in the time of the request."""
        return replace(self, result=RowResult.LEFT)


async def preview_import(tx: Transaction, rows: Iterable[FileRow]) -> Sequence[RowOutcome]:
    """Say what becomes of each row, in the order of the file. Changes nothing, holds no lock."""
    known = {row.entity_id: row for row in await all_members(tx, MemberFilter())}
    operators = {row.email for row in await all_users(tx, UserFilter(operators_only=True))}
    rows = [*rows]
    types = await Memberships(tx).entry_types([row.new.entity_id for row in rows])
    lines: dict[str, int] = {}
    outcomes: list[RowOutcome] = []
    for row in rows:
        first = lines.setdefault(row.new.entity_id, row.line)
        outcome = _checked(row, known, operators, types)
        if first != row.line and outcome.result is not RowResult.REFUSED:
            outcome = _refused(row, ValueRefused("entityId", f"is on line {first}, too"))
        outcomes.append(outcome)
    return outcomes


async def import_row(tx: Transaction, planned: RowOutcome, by: ActingOperator) -> RowOutcome:
    """Onboard the member of a row that is new by its preview; any other stays as it is.

    What was onboarded since the preview is checked once more. Nothing is written for a row that
    is refused.
    """
    if not planned.is_ready:
        return planned
    row = planned.row
    onboarded = await onboard_member(tx, row.new, by)
    if not isinstance(onboarded, Onboarded):
        return _refused(row, onboarded)
    if not onboarded.created:
        return replace(planned, result=RowResult.UNCHANGED)
    if row.contact != Contact():
        # Their right was read under the locks of this transaction; there is no one to notify yet.
        contact = checked_contact(row.contact)
        assert isinstance(contact, Contact), contact  # checked by the preview
        await keep_contact(tx, by.caller, row.new.entity_id, contact)
    return planned


async def import_members(
    open_transaction: OpenTransaction,
    rows: Iterable[FileRow],
    by: ActingOperator,
    clock: Callable[[], float] = time.monotonic,
) -> Sequence[RowOutcome]:
    """Onboard every row that has no fault, each in a transaction of its own; report the others.

    After `REQUEST_S` no further row is begun: those are left, and the same file again goes on.
    """
    end = clock() + REQUEST_S
    async with open_transaction() as tx:
        planned = await preview_import(tx, rows)
    return await act_one_by_one(
        open_transaction,
        planned,
        lambda tx, one: import_row(tx, one, by),
        lambda: clock() < end,
    )


async def export_members(tx: Transaction, which: MemberFilter) -> str:
    """Write the members that a filter selects as a file for an import."""
    return await written_file(tx, await all_members(tx, which))


def _checked(
    row: FileRow,
    known: Mapping[str, MemberRow],
    operators: Collection[str],
    types: Mapping[str, str],
) -> RowOutcome:
    if row.fault is not None:
        return _refused(row, row.fault)
    new = checked_member(row.new)
    if not isinstance(new, NewMember):
        return _refused(row, new)
    contact = checked_contact(row.contact)
    if not isinstance(contact, Contact):
        return _refused(row, contact)
    existing = known.get(new.entity_id)
    if existing is None:
        refused = type_refused(new, types) or (
            WrongAccountKind() if new.admin_email in operators else None
        )
        return RowOutcome(row, RowResult.NEW) if refused is None else _refused(row, refused)
    member = Member(
        existing.entity_id, existing.entity_type, existing.name, existing.status, existing.admins
    )
    field = differing_field(member, new) or _other_contact(existing, contact)
    return (
        _refused(row, MemberDiffers(member, field))
        if field
        else RowOutcome(row, RowResult.UNCHANGED)
    )


def _other_contact(existing: MemberRow, contact: Contact) -> str:
    """Name what differs of the contact; an empty cell says nothing of it."""
    if contact.email not in {"", existing.contact}:
        return "contactEmail"
    return "" if contact.phone in {"", existing.phone} else "contactPhone"


def _refused(row: FileRow, refusal: OnboardRefused) -> RowOutcome:
    if isinstance(refusal, ScopeMissing):
        return RowOutcome(row, RowResult.REFUSED, refusal)
    field = "admin" if isinstance(refusal, WrongAccountKind) else refusal.field
    column = _COLUMN_OF.get(field, field)
    return RowOutcome(row, RowResult.REFUSED, refusal, "" if column == "row" else column)
