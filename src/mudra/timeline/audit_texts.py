"""Events of the audit as a timeline shows them: their kind and their text. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from mudra.audit.event import EventName
from mudra.audit.search import AuditRow
from mudra.localization.language import gettext, translatable
from mudra.timeline.happening import Happening, HappeningKind

LONGEST_GRACE: Final = timedelta(days=7)
"""The longest time that an old secret works after a reset (spec 2.3)."""
_K: Final = HappeningKind
_TEXTS: Final = {
    EventName.ENTITY_SECRET_RESET: (_K.SECRET, translatable("secret reset")),
    EventName.ENTITY_SECRET_RETIRE: (_K.SECRET, translatable("old secret ended by hand")),
    EventName.ENTITY_STATUS_CHANGE: (_K.REGISTRATION, translatable("status is %(to)s")),
    EventName.ENTITY_ADDRESSES_CHANGE: (
        _K.REGISTRATION,
        translatable("addresses for tokens enforced, or no longer"),
    ),
    EventName.KEYS_SIGNING_ACTIVATE: (_K.KEY, translatable("signing key %(kid)s began to sign")),
    EventName.KEYS_SIGNING_RETIRE: (_K.KEY, translatable("signing key %(kid)s retired")),
    EventName.KEYS_SIGNING_DROP: (_K.KEY, translatable("signing key %(kid)s dropped at once")),
    EventName.KEYS_SIGNING_IMPORT: (_K.KEY, translatable("key %(kid)s of another issuer imported")),
    EventName.REGISTRY_ENTRY_APPROVE: (
        _K.REGISTRATION,
        translatable("version %(version)s of the entry approved"),
    ),
    EventName.REGISTRY_ENTRY_SUBMIT: (
        _K.REGISTRATION,
        translatable("version %(version)s of the entry is live"),
    ),
    EventName.REGISTRY_ENTRY_ROLLBACK: (
        _K.REGISTRATION,
        translatable("entry rolled back to version %(version)s"),
    ),
    EventName.REGISTRY_ENTRY_SUSPEND: (_K.REGISTRATION, translatable("entry suspended")),
    EventName.REGISTRY_ENTRY_RESTORE: (_K.REGISTRATION, translatable("entry restored")),
    EventName.REGISTRY_ENTRY_RETIRE: (_K.REGISTRATION, translatable("entry retired")),
    EventName.DISPUTE_CASE_RAISE: (_K.DISPUTE, translatable("dispute raised")),
    EventName.DISPUTE_CASE_DECIDE: (_K.DISPUTE, translatable("dispute decided: %(state)s")),
    EventName.DISPUTE_CASE_WITHDRAW: (_K.DISPUTE, translatable("dispute withdrawn")),
    EventName.DISPUTE_CASE_LAPSE: (_K.DISPUTE, translatable("dispute lapsed")),
    EventName.DISPUTE_CASE_REOPEN: (_K.DISPUTE, translatable("dispute reopened")),
    EventName.SERVICE_RELEASE_START: (_K.RELEASE, translatable("Mudra %(version)s began to run")),
}
_LIVE: Final = "live"
_COMMENT: Final = "comment"
"""The kind of what was raised where it is no dispute."""
_NAMED: Final = ("to", "kid", "version", "state")
_REFS: Final = ("disputeId", "kid", "version")


def happening_of(row: AuditRow) -> Happening | None:
    """Return an event as a timeline shows it; None for one that changed nothing yet.

    A submitted version changes something where it is live at once.
    """
    event = EventName(row.event)
    if event is EventName.REGISTRY_ENTRY_SUBMIT and row.detail.get("status") != _LIVE:
        return None
    kind, text = _TEXTS[event]
    if event is EventName.DISPUTE_CASE_RAISE and row.detail.get("kind") == _COMMENT:
        text = translatable("comment published")
    values = {name: str(row.detail.get(name, "")) for name in _NAMED}
    values["state"] = values["state"].replace("_", " ")
    values["version"] = values["version"].partition("+")[0]  # not the commit that it was built of
    ref = next((str(row.detail[name]) for name in _REFS if name in row.detail), "")
    return Happening(row.at, kind, row.entity_id, gettext(text, **values), ref=ref)


def ended_secrets(
    rows: Sequence[AuditRow], since: datetime, until: datetime
) -> Sequence[Happening]:
    """Return when the old secrets of resets stopped working by themselves in a time.

    `rows` are the changes since `LONGEST_GRACE` before. A later reset ends the grace period of the
    one before, and so does ending it by hand.
    """
    ends: dict[str, datetime] = {}
    found = list[Happening]()
    text = gettext("old secret stopped working")
    for row in sorted(rows, key=lambda one: one.seq):
        if row.event not in {EventName.ENTITY_SECRET_RESET, EventName.ENTITY_SECRET_RETIRE}:
            continue
        end = ends.pop(row.entity_id, None)
        if end is not None and end <= row.at:
            found.append(Happening(end, _K.SECRET, row.entity_id, text))
        days = row.detail.get("keep_old_days", 0)
        if row.event == EventName.ENTITY_SECRET_RESET and isinstance(days, int) and days > 0:
            ends[row.entity_id] = row.at + timedelta(days=days)
    found += [Happening(end, _K.SECRET, entity_id, text) for entity_id, end in ends.items()]
    return [one for one in found if since <= one.at < until]
