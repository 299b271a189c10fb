"""The outcome of an action on the registry: what storage has to store, as one value."""

import datetime as dt
import enum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.registry.lifecycle.actor import Actor
from mudra.registry.lifecycle.difference import FieldChange, difference
from mudra.registry.lifecycle.grants import Grant
from mudra.registry.lifecycle.record import Record, Version
from mudra.registry.lifecycle.refusal import AlreadyHeld, wrong_type
from mudra.registry.payload.entry import Entry, canonical
from mudra.registry.payload.fields.certificate import KeyFacts
from mudra.registry.payload.fields.timestamp import wire_time
from mudra.registry.payload.finding_texts import WITH_NEW_TXNID, WITHDRAWS
from mudra.shared.entity_type import EntityType
from mudra.shared.entry_status import EntityStatus, VersionStatus
from mudra.shared.finding import Finding, Severity
from mudra.shared.mail.mail_text import unsafe_in_mail
from mudra.shared.refusal import PlainRefusal, RefusalKind

MAX_REASON: Final = 500
HANDLE_STAYS_AFTER: Final = dt.timedelta(hours=24)
"""An entity that had a handle live for so long in all keeps it from others (0205)."""


class RegistryAction(enum.StrEnum):
    """An action on the registry, as the audit log and the history name it."""

    SUBMIT = "submit"
    UPDATE = "update"
    APPROVE = "approve"
    GO_LIVE = "goLive"
    REJECT = "reject"
    SUSPEND = "suspend"
    RESTORE = "restore"
    RETIRE = "retire"
    ROLL_BACK = "rollBack"


class TokenEffect(enum.StrEnum):
    """The effect of the action on the entity's tokens, in the same transaction."""

    NONE = "none"
    STOP = "stop"
    RESUME = "resume"


class Publication(Struct, frozen=True):
    """A change of what the directory shows; no body means that the entry left it."""

    entity_id: str
    entity_type: EntityType
    body: bytes | None


class Decision(Struct, frozen=True):
    """A permitted action: store `after`, publish, stop tokens, audit; all or nothing."""

    action: RegistryAction
    actor: Actor
    at: dt.datetime
    reason: str
    before: Record | None
    after: Record
    version: int
    """The version that the action is about; 0 if it is about the whole entity."""

    @property
    def status(self) -> str:
        """The status in the response: that of the version, or of the entity."""
        version = self.after.version(self.version)
        return self.after.status.value if version is None else version.status.value

    @property
    def publication(self) -> Publication | None:
        """Return what the directory shows from now on, when that changed."""
        previous = None if self.before is None else shown(self.before)
        now = shown(self.after)
        if previous == now:
            return None
        return Publication(self.after.entity_id, self.after.entity_type, now)

    @property
    def tokens(self) -> TokenEffect:
        """Return whether the entity's tokens stop or come back."""
        previous = self.before is not None and gets_no_token(self.before.status)
        now = gets_no_token(self.after.status)
        if previous == now:
            return TokenEffect.NONE
        return TokenEffect.STOP if now else TokenEffect.RESUME

    @property
    def withdrawn(self) -> Version | None:
        """Return the version that was to go live at a time, and will not, since it is withdrawn."""
        pending = None if self.before is None else self.before.scheduled
        after = None if pending is None else self.after.version(pending.number)
        return pending if after and after.status is VersionStatus.WITHDRAWN else None

    @property
    def changes(self) -> tuple[FieldChange, ...]:
        """The fields in which the version differs from the one that was live before."""
        version = self.after.version(self.version)
        previous = None if self.before is None else self.before.live
        if version is None or previous is None:
            return ()
        return difference(previous.entry, version.entry)


class Facts(Struct, frozen=True):
    """The facts of the registry beyond this record, as storage found them under its lock.

    Each holder is the ID of another entity, or `""`. A holder is one whose
    version with that `kid` or modulus is approved or was ever live: a mere
    submission holds nothing, or anyone could block a member's public key.

    A handle goes live without approval: what one entity takes for a moment must
    not be lost to all others. It is held by who has it in a version that is live
    or approved, by who had it live and is retired, and by who had it live for
    `HANDLE_STAYS_AFTER` in all, since people know it by then. Its case makes no
    other handle of it.

    A name or code is held by live entries in which it looks the same, unless the operator
    onboarded both members by one name, or the entry has it live already.

    `grants` are those that may tie who approves the pending version to who submitted it.
    `onboarded_by` is the operator who onboarded the member, as `user:ID`, and `deciders` is the
    number of operators who may approve.
    """

    onboarded_as: EntityType | None = None
    handle_holder: str = ""
    kid_holder: str = ""
    modulus_holder: str = ""
    name_holder: str = ""
    code_holder: str = ""
    grants: tuple[Grant, ...] = ()
    onboarded_by: str = ""
    deciders: int = 0

    @property
    def of_import(self) -> "Facts":
        """Return the facts that hold for an import: what is live elsewhere has its name already."""
        return replace(self, name_holder="", code_holder="")


def shown(record: Record) -> bytes | None:
    """Return the entry that the directory shows, as bytes, or None."""
    live = record.live
    visible = record.status is EntityStatus.LIVE and live is not None
    return canonical(live.entry) if visible and live is not None else None


def gets_no_token(status: EntityStatus) -> bool:
    """Return whether token issuing is off: an entity without an entry does get tokens."""
    return status in {EntityStatus.SUSPENDED, EntityStatus.RETIRED}


def conflict(entry: Entry, key: KeyFacts, facts: Facts) -> AlreadyHeld | PlainRefusal | None:
    """Refuse what another entity holds, and a type that the entity was not onboarded as."""
    if facts.onboarded_as not in {None, entry.type}:
        return wrong_type(entry.type, str(facts.onboarded_as))
    if facts.handle_holder:
        path = "entityinfo.entityhandle"
        return AlreadyHeld(path, entry.entityinfo.entityhandle, facts.handle_holder)
    if facts.kid_holder:
        return AlreadyHeld("entityinfo.certificate.kid", key.kid, facts.kid_holder)
    if facts.modulus_holder:
        return AlreadyHeld("entityinfo.certificate.n", "", facts.modulus_holder)
    info = entry.entityinfo
    for name, value, holder in (
        ("name", info.name, facts.name_holder),
        ("code", info.code, facts.code_holder),
    ):
        if holder:
            return AlreadyHeld(f"entityinfo.{name}", value, holder, looks_alike=True)
    return None


def reason_missing(action: RegistryAction, reason: str) -> PlainRefusal | None:
    """Refuse an action whose reason is missing, too long, or unsafe in an email."""
    text = reason.strip()
    fits = 0 < len(text) <= MAX_REASON and not unsafe_in_mail(text)
    allowed = "1 to 500 characters without control characters or '=?'"
    sentence = f"reason must be {allowed} to {action.value}"
    return None if fits else PlainRefusal(RefusalKind.INVALID, sentence)


def put_live(record: Record, version: Version, now: dt.datetime) -> Record:
    """Return the record with that version live and the previous one superseded."""
    previous = record.live
    if previous is not None:
        record = record.with_version(
            replace(previous, status=VersionStatus.SUPERSEDED, live_until=now)
        )
    status = EntityStatus.LIVE if record.status is EntityStatus.UNLISTED else record.status
    live = replace(version, status=VersionStatus.LIVE, live_from=now)
    return replace(record, status=status).with_version(live)


def withdrawal_note(version: Version) -> Finding:
    """Say to the sender of an update that it withdraws a scheduled version."""
    at = version.goes_live_at
    values = {"version": version.number, "at": "" if at is None else wire_time(at)}
    return Finding("$", WITHDRAWS % values, WITH_NEW_TXNID, severity=Severity.NOTE)


def without_pending(record: Record) -> Record:
    """Return the record with its pending version withdrawn."""
    pending = record.pending
    if pending is None:
        return record
    return record.with_version(replace(pending, status=VersionStatus.WITHDRAWN))
