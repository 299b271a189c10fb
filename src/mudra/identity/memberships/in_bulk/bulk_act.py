"""One act on many members: first what becomes of each, then the act on each (decision 0094).

Each member is acted on by the use case of the single act, in a transaction of its own.
"""

import enum
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Self

from msgspec import Struct
from msgspec.structs import replace

from mudra.identity.accounts.acts.manage_accounts import invite_admin
from mudra.identity.accounts.user import UserState
from mudra.identity.memberships.admins import no_such_entity
from mudra.identity.memberships.in_bulk.bulk_rule import BulkAct, checked_reason
from mudra.identity.memberships.in_bulk.member_lists import all_members, all_users, written_file
from mudra.identity.memberships.in_bulk.one_by_one import REQUEST_S, act_one_by_one
from mudra.identity.memberships.member import MemberStatus
from mudra.identity.memberships.member_search import MemberFilter, MemberRow, UserFilter, UserRow
from mudra.identity.memberships.member_status import already_retired, set_member_status
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.operators.operator import Scope
from mudra.identity.operators.person_rule import ActingOperator, may_act
from mudra.shared.refusal import PlainRefusal, Refusal, RefusalKind, ValueRefused
from mudra.storage.database.transaction import OpenTransaction, Transaction

MAX_MEMBERS: Final = 500


class BulkResult(enum.StrEnum):
    """The result of a member."""

    READY = "ready"
    """The act can be done; nothing was changed yet."""
    DONE = "done"
    REFUSED = "refused"
    LEFT = "left"
    """Not begun in the time of the request."""


def no_admin_invited(entity_id: str) -> PlainRefusal:
    """Refuse: no admin of the member waits to activate an account."""
    return PlainRefusal(
        RefusalKind.CONFLICT, f"no admin of {entity_id} has an account that waits for activation"
    )


def already_suspended(entity_id: str) -> PlainRefusal:
    """Refuse: the member gets no tokens already; its first reason stays the one of the audit."""
    return PlainRefusal(RefusalKind.CONFLICT, f"{entity_id} is suspended already")


class TooManyMembers(Refusal, frozen=True):
    """More members were chosen than one act is done to."""

    kind = RefusalKind.INVALID
    chosen: int

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"at most {MAX_MEMBERS} members at a time, not {self.chosen}"


class BulkOutcome(Struct, frozen=True):
    """The outcome of a member: `people` are the addresses that get a link; of a refused one why.

    A refused one has in `people` those who got their link before the refusal.
    """

    entity_id: str
    name: str
    result: BulkResult
    people: tuple[str, ...] = ()
    refusal: Refusal | None = None

    @property
    def is_ready(self) -> bool:
        """Return whether the act can be done."""
        return self.result is BulkResult.READY

    def left(self) -> Self:
        """Return that it was not begun in the time of the request."""
        return replace(self, result=BulkResult.LEFT)


async def preview_bulk(
    tx: Transaction, act: BulkAct, entity_ids: Sequence[str], by: ActingOperator
) -> Sequence[BulkOutcome] | TooManyMembers:
    """Say what becomes of each member, once each, in the order given.

    Changes nothing, holds no lock.
    """
    chosen = tuple(dict.fromkeys(entity_ids))
    if len(chosen) > MAX_MEMBERS:
        return TooManyMembers(len(chosen))
    known = {row.entity_id: row for row in await all_members(tx, MemberFilter())}
    invited = await _invited(tx) if act is BulkAct.INVITE else {}
    return [_planned(act, one, known.get(one), invited.get(one, ()), by) for one in chosen]


async def act_in_bulk(
    open_transaction: OpenTransaction,
    act: BulkAct,
    entity_ids: Sequence[str],
    reason: str,
    by: ActingOperator,
    clock: Callable[[], float] = time.monotonic,
) -> Sequence[BulkOutcome] | TooManyMembers | ValueRefused:
    """Act on each member that can be acted on; report the others.

    After `REQUEST_S` no further member is begun: those are left, for a next request.
    """
    end = clock() + REQUEST_S
    if (wrong := checked_reason(act, reason)) is not None:
        return wrong
    async with open_transaction() as tx:
        planned = await preview_bulk(tx, act, entity_ids, by)
    if isinstance(planned, TooManyMembers):
        return planned
    if act is BulkAct.EXPORT:
        return exported(planned)
    reached: set[str] = set()
    return await act_one_by_one(
        open_transaction,
        planned,
        lambda tx, one: act_on_member(tx, act, one, reason, by, reached),
        lambda: clock() < end,
    )


async def act_on_member(  # one member of an order, and who was reached by it
    tx: Transaction,
    act: BulkAct,
    planned: BulkOutcome,
    reason: str,
    by: ActingOperator,
    reached: set[str],
) -> BulkOutcome:
    """Invite or suspend a member that is ready by its preview; any other stays as it is.

    An admin of several members gets one link: `reached` are the addresses that have theirs.
    """
    if not planned.is_ready:
        return planned
    if act is BulkAct.INVITE:
        return await _invite(tx, planned, by, reached)
    outcome = await set_member_status(tx, planned.entity_id, MemberStatus.SUSPENDED, reason, by)
    if isinstance(outcome, Refusal):
        return replace(planned, result=BulkResult.REFUSED, refusal=outcome)
    return replace(planned, result=BulkResult.DONE)


def exported(planned: Sequence[BulkOutcome]) -> Sequence[BulkOutcome]:
    """Return the members of a preview as members of a file, which is written once for all."""
    return [replace(one, result=BulkResult.DONE) if one.is_ready else one for one in planned]


async def export_chosen(tx: Transaction, entity_ids: Sequence[str]) -> str:
    """Write the chosen members that exist as a file for an import, by entity ID."""
    chosen = set(entity_ids)
    rows = await all_members(tx, MemberFilter())
    return await written_file(tx, [row for row in rows if row.entity_id in chosen])


async def _invite(
    tx: Transaction, planned: BulkOutcome, by: ActingOperator, reached: set[str]
) -> BulkOutcome:
    admins = await Memberships(tx).admins(planned.entity_id)
    waiting = [admin.email for admin in admins if admin.state is UserState.INVITED]
    if not waiting:
        refusal = no_admin_invited(planned.entity_id)
        return replace(planned, result=BulkResult.REFUSED, people=(), refusal=refusal)
    for number, email in enumerate(waiting):
        if email in reached:
            continue
        sent = await invite_admin(tx, by, planned.entity_id, email)
        if isinstance(sent, Refusal):
            done = tuple(waiting[:number])
            return replace(planned, result=BulkResult.REFUSED, people=done, refusal=sent)
        reached.add(email)
    return replace(planned, result=BulkResult.DONE, people=tuple(waiting))


async def _invited(tx: Transaction) -> Mapping[str, Sequence[UserRow]]:
    """Return the admins who have not activated their account, by member."""
    found: dict[str, list[UserRow]] = {}
    for row in await all_users(tx, UserFilter(state=UserState.INVITED.value)):
        for entity_id in row.administers:
            found.setdefault(entity_id, []).append(row)
    return found


def _planned(
    act: BulkAct,
    entity_id: str,
    row: MemberRow | None,
    invited: Sequence[UserRow],
    by: ActingOperator,
) -> BulkOutcome:
    if row is None:
        refusal: Refusal | None = no_such_entity(entity_id)
    elif act is BulkAct.INVITE:
        refusal = _invite_refused(entity_id, invited, by)
    elif act is BulkAct.SUSPEND:
        refusal = _suspend_refused(row)
    else:
        refusal = None
    result = BulkResult.READY if refusal is None else BulkResult.REFUSED
    people = () if refusal else tuple(one.email for one in invited)
    return BulkOutcome(entity_id, row.name if row else "", result, people, refusal)


def _invite_refused(
    entity_id: str, invited: Sequence[UserRow], by: ActingOperator
) -> Refusal | None:
    if not invited:
        return no_admin_invited(entity_id)
    for one in invited:
        held = frozenset(Scope(scope) for scope in one.scopes)
        refused = may_act(by.scopes, held, own=one.user_id == by.user_id)
        if refused is not None:
            return refused
    return None


def _suspend_refused(row: MemberRow) -> Refusal | None:
    if row.status == MemberStatus.RETIRED:
        return already_retired(row.entity_id)
    return already_suspended(row.entity_id) if row.status == MemberStatus.SUSPENDED else None
