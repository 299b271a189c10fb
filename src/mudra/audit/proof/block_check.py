"""The check that the blocks of token issues are those that the chain names."""

from collections.abc import Sequence
from typing import Final

from mudra.audit.chain import Broken, Fault, SealedRow
from mudra.audit.event import EventName
from mudra.audit.ports import Blocks
from mudra.audit.token_issue_store import TokenIssueStore

_AT_ONCE: Final = 50


class BlockCheck:
    """A check of the rows of the chain in order, which compares each block that a row names.

    Blocks are numbered without gaps from 1; those that were dropped for their age may be gone.
    """

    def __init__(self, issues: Blocks, last: int = 0) -> None:
        self._issues = issues
        self._dropped = -1
        self._row_id = 0
        self.last = last
        """The number of the last block that a row named; at first that of an archive."""
        self.found = 0
        """How many were there."""

    async def fault(self, page: Sequence[SealedRow], sound: int) -> Broken | None:
        """Check the blocks that the next rows name; `sound` is how far the chain is vouched for."""
        named = [sealed for sealed in page if sealed.row.event.event is EventName.AUDIT_TOKENS_PACK]
        for start in range(0, len(named), _AT_ONCE):
            fault = await self._compare(named[start : start + _AT_ONCE], sound)
            if fault is not None:
                return fault
        return None

    async def _compare(self, named: Sequence[SealedRow], sound: int) -> Broken | None:
        first = self.last + 1
        stored = {b.number: b for b in await self._issues.blocks(first, first + len(named) - 1)}
        for sealed in named:
            number, detail = sealed.row.number, sealed.row.event.detail
            if detail.get("block") != self.last + 1:
                return Broken(number, Fault.BLOCK_MISPLACED, sound)
            self.last, self._row_id = self.last + 1, sealed.row.row_id
            block = stored.get(self.last)
            if block is None:
                if not await self._was_dropped():
                    return Broken(number, Fault.BLOCK_MISSING, sound)
                continue
            if detail.get("sha256") != block.digest():
                return Broken(number, Fault.BLOCK_CHANGED, sound)
            self.found += 1
        return None

    async def _was_dropped(self) -> bool:
        if self.last > self._dropped:  # asked when one is missing: it may be dropped meanwhile
            self._dropped = await self._issues.dropped()
        return self.last <= self._dropped

    async def added(self, issues: TokenIssueStore) -> str:
        """Say which block no row names; empty when there is none. Ask after the last row."""
        added = await issues.unnamed(self.last, self._row_id)
        return f"token block {added} was added: no event of the audit names it" if added else ""
