"""The packer's use cases: issues of tokens become blocks, and old blocks are dropped.

One process at a time runs them, before it seals.
"""

from datetime import datetime, timedelta
from typing import Final

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.audit.token_issue_store import TokenIssueStore
from mudra.audit.token_issues import BLOCK_ISSUES, block_of, pack

_DROPPED_AT_ONCE: Final = 500
_DAY: Final = timedelta(days=1)


async def pack_next(issues: TokenIssueStore, audit_log: AuditLog, now: datetime) -> int:
    """Pack one block when it is due, and append the event that names it; give its issues."""
    waiting = block_of(await issues.waiting(BLOCK_ISSUES), now)
    if not waiting:
        return 0
    block = pack(await issues.next_number(), waiting)
    await issues.keep(block, [issue.seq for issue in waiting])
    detail: dict[str, str | int] = {
        "block": block.number,
        "issues": len(waiting),
        "count": sum(len(issue.jtis) for issue in waiting),
        "sha256": block.digest(),
    }
    await audit_log.append(AuditEntry(EventName.AUDIT_TOKENS_PACK, Caller("system"), detail=detail))
    return len(waiting)


async def drop_over_age(
    issues: TokenIssueStore, audit_log: AuditLog, kept: timedelta, now: datetime
) -> int:
    """Drop blocks whose tokens were all issued before `kept`; give their number.

    They are dropped by the day, so that not every hour leaves an event. What is dropped is
    signed: a block that is missing without that is a fault.
    """
    oldest = await issues.oldest()
    if oldest is None or now - oldest < kept + _DAY:
        return 0
    over_age = await issues.until(now - kept, _DROPPED_AT_ONCE)
    if not over_age:
        return 0
    dropped = await issues.drop(over_age, now)
    detail: dict[str, str | int] = {"until_block": over_age, "blocks": dropped, "days": kept.days}
    await audit_log.append(AuditEntry(EventName.AUDIT_TOKENS_DROP, Caller("system"), detail=detail))
    return dropped
