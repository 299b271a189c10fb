"""A draft compared with what the registry has of the entity; pure."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from mudra.registry.lifecycle.decision import withdrawal_note
from mudra.registry.lifecycle.difference import FieldChange, difference, matters, needs_approval
from mudra.registry.lifecycle.record import Record, Version
from mudra.registry.payload.validation import CheckedPayload
from mudra.shared.entry_status import VersionStatus
from mudra.shared.finding import Finding

_OF_THE_REQUEST: Final = ("$.timestamp", "$.txnid")


class DraftReview(Struct, frozen=True):
    """The findings in a draft, and what it would change.

    `checked` is None when a finding refuses the draft. `same_as_pending` says whether
    the pending version is equal to it; `same_as_rejected` is the number of the latest
    version if that was rejected and is equal to it.
    """

    findings: Sequence[Finding]
    checked: CheckedPayload | None
    changes: Sequence[FieldChange]
    is_first: bool
    needs_approval: bool
    compared_with: str
    same_as_pending: bool
    same_as_rejected: int | None

    @property
    def is_worth_sending(self) -> bool:
        """Return whether submitting the draft would change anything."""
        if self.checked is None or self.same_as_pending:
            return False
        return self.is_first or matters(tuple(self.changes))


def review_draft(record: Record | None, checked: CheckedPayload | Sequence[Finding]) -> DraftReview:
    """Compare a checked draft with the live version, else with the pending one."""
    payload = checked if isinstance(checked, CheckedPayload) else None
    live, pending = (record.live, record.pending) if record else (None, None)
    base = live or pending
    changes = difference(base.entry, payload.entry) if base and payload else ()
    last = last_if_rejected(record)
    same_as_pending = pending is not None and _is_same(pending, payload)
    findings = [*(checked.notes if isinstance(checked, CheckedPayload) else checked)]
    if record and record.scheduled and payload and not same_as_pending:
        findings.append(withdrawal_note(record.scheduled))
    return DraftReview(
        findings=findings,
        checked=payload,
        changes=tuple(change for change in changes if change.path not in _OF_THE_REQUEST),
        is_first=base is None,
        needs_approval=live is None or needs_approval(changes),
        compared_with="live version" if live else "pending version" if pending else "registry",
        same_as_pending=same_as_pending,
        same_as_rejected=last.number if last and _is_same(last, payload) else None,
    )


def last_if_rejected(record: Record | None) -> Version | None:
    """Return the latest version if it was rejected."""
    last = record.versions[-1] if record and record.versions else None
    return last if last and last.status is VersionStatus.REJECTED else None


def _is_same(version: Version, payload: CheckedPayload | None) -> bool:
    return payload is not None and not matters(difference(version.entry, payload.entry))
