"""Decides on approval, scheduled go-live and rejection of a pending version; pure."""

import datetime as dt
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.registry.lifecycle.actor import SCHEDULE, Actor, may_decide
from mudra.registry.lifecycle.acts.second_operator import second_operator_needed
from mudra.registry.lifecycle.decision import (
    Decision,
    Facts,
    RegistryAction,
    conflict,
    put_live,
    reason_missing,
)
from mudra.registry.lifecycle.record import Record, Version
from mudra.registry.lifecycle.refusal import (
    RegistryRefusal,
    WrongState,
    content_differs,
    go_live_too_far,
    version_moved,
    version_not_named,
)
from mudra.shared.entry_status import VersionStatus

MAX_GO_LIVE: Final = dt.timedelta(days=366)


class Reviewed(Struct, frozen=True):
    """The version that an approver looked at, and the hash of what was shown, if it is sent."""

    version: int
    hash: str = ""
    reason: str = ""
    """Why it is approved: optional, and part of the audit."""


def approve(
    record: Record,
    facts: Facts,
    actor: Actor,
    now: dt.datetime,
    *,
    goes_live_at: dt.datetime | None = None,
    reviewed: Reviewed,
    one_operator: bool = False,
) -> Decision | RegistryRefusal:
    """Decide on an approval, live at once or from `goes_live_at`; one of the past is at once.

    Without `one_operator` it takes a second operator (second_operator.py).

    `reviewed` is what was looked at. Approving a scheduled version again moves its time.
    """
    pending = _pending(record, actor, RegistryAction.APPROVE, reviewed.version)
    if not isinstance(pending, Version):
        return pending
    if not reviewed.version:
        return version_not_named(record.entity_id)
    if reviewed.hash not in {"", pending.hash}:
        return content_differs(record.entity_id, pending.number)
    why = reviewed.reason.strip()
    if why and (unsafe := reason_missing(RegistryAction.APPROVE, why)) is not None:
        return unsafe
    second = None if one_operator else second_operator_needed(record, pending, actor, facts)
    if second is not None:
        return second
    # Asked again: since the submission another entity may have gone live with this key.
    held = conflict(pending.entry, pending.key, facts)
    if held is not None:
        return held
    if goes_live_at is not None and goes_live_at - now > MAX_GO_LIVE:
        return go_live_too_far(MAX_GO_LIVE.days)
    due = goes_live_at if goes_live_at is not None and goes_live_at > now else None
    decided = replace(pending, decided_by=actor.name, decided_at=now, goes_live_at=due)
    if due is not None:
        after = record.with_version(replace(decided, status=VersionStatus.APPROVED))
    else:
        after = put_live(record, decided, now)
    return Decision(RegistryAction.APPROVE, actor, now, why, record, after, pending.number)


def go_live(record: Record, now: dt.datetime) -> Decision | None:
    """Put a scheduled version live when its time has come; None when there is none."""
    pending = record.pending
    if (
        pending is None
        or pending.status is not VersionStatus.APPROVED
        or pending.goes_live_at is None
    ):
        return None
    if pending.goes_live_at > now:
        return None
    after = put_live(record, pending, now)
    return Decision(RegistryAction.GO_LIVE, SCHEDULE, now, "", record, after, pending.number)


def reject(
    record: Record, actor: Actor, now: dt.datetime, reason: str, *, expected: int = 0
) -> Decision | RegistryRefusal:
    """Decide on a rejection; a scheduled version can still be rejected."""
    pending = _pending(record, actor, RegistryAction.REJECT, expected)
    if not isinstance(pending, Version):
        return pending
    missing = reason_missing(RegistryAction.REJECT, reason)
    if missing is not None:
        return missing
    rejected = replace(
        pending,
        status=VersionStatus.REJECTED,
        decided_by=actor.name,
        decided_at=now,
        reason=reason.strip(),
    )
    after = record.with_version(rejected)
    return Decision(
        RegistryAction.REJECT, actor, now, reason.strip(), record, after, pending.number
    )


def _pending(
    record: Record, actor: Actor, action: RegistryAction, expected: int
) -> Version | RegistryRefusal:
    refusal = may_decide(actor)
    if refusal is not None:
        return refusal
    pending = record.pending
    if pending is None:
        state = f"{record.status} without a pending version"
        return WrongState(record.entity_id, action, state, "submitted or updated")
    if expected not in {0, pending.number}:
        return version_moved(record.entity_id, expected, pending.number)
    return pending
