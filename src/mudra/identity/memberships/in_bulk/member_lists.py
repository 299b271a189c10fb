"""Whole lists of members and users, read page by page, and members written as a file."""

from collections.abc import Iterable, Sequence
from typing import Final

from mudra.identity.memberships.in_bulk.member_file import member_file
from mudra.identity.memberships.member_search import MemberFilter, MemberRow, UserFilter, UserRow
from mudra.identity.memberships.member_search_store import MemberSearch
from mudra.storage.database.transaction import Transaction

_PAGE: Final = 1000


async def all_members(tx: Transaction, which: MemberFilter) -> Sequence[MemberRow]:
    """List all members that a filter selects, by entity ID."""
    rows: list[MemberRow] = []
    after = ""
    while found := await MemberSearch(tx).members(which, after, _PAGE):
        rows += found
        after = found[-1].entity_id
    return rows


async def all_users(tx: Transaction, which: UserFilter) -> Sequence[UserRow]:
    """List all users that a filter selects, by address."""
    rows: list[UserRow] = []
    after = ""
    while found := await MemberSearch(tx).users(which, after, _PAGE):
        rows += found
        after = found[-1].email
    return rows


async def written_file(tx: Transaction, rows: Iterable[MemberRow]) -> str:
    """Write these members as a file for an import."""
    names = {row.email: row.name for row in await all_users(tx, UserFilter())}
    return member_file(rows, names)
