"""Take members, secrets and public keys of another identity server over; again changes nothing."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.refusals import WrongAccountKind
from mudra.identity.memberships.onboard import (
    ENTITY_ID,
    MemberDiffers,
    NewMember,
    Onboarded,
    onboard_member,
    preview_onboarding,
)
from mudra.identity.operators.operator import ScopeMissing
from mudra.identity.operators.person_rule import owner
from mudra.shared.refusal import ValueRefused
from mudra.storage.database.transaction import Transaction
from mudra.tokens.claims import TokenKind
from mudra.tokens.migration.carried_secrets import CarriedSecrets, carried_secrets
from mudra.tokens.migration.keycloak_export import Admins, ExportedClient
from mudra.tokens.migration.keycloak_keys import ExportedKey
from mudra.tokens.secrets.secret_store import Secrets
from mudra.tokens.signing_keys.key_lifecycle import KeyState, SigningKey, at_once
from mudra.tokens.signing_keys.signing_key_store import SigningKeys

LONGEST: Final = timedelta(days=366)


class Line(Struct, frozen=True):
    """The outcome for one thing of the export: `result` is new, unchanged, changed or refused."""

    what: str
    name: str
    result: str
    detail: str = ""


class KnownSecret(Struct, frozen=True):
    """Gives a new member the secrets that it has; implements the port of onboarding."""

    tx: Transaction
    carried: CarriedSecrets

    async def create(self, entity_id: str, caller: Caller, now: datetime) -> None:
        """Store the secret, and the one before it in its grace period."""
        del now  # that of the decision, by the same clock
        first, secrets = self.carried.stored(entity_id), Secrets(self.tx)
        await secrets.keep_first(first.secret, first.text)
        version = first.secret.version
        if first.replaced_by is not None:
            await secrets.replace(*first.replaced_by)
            version = first.replaced_by[0].new.version
        detail: dict[str, str | int] = {"version": version, "origin": "imported"}
        await AuditLog(self.tx).append(
            AuditEntry(EventName.ENTITY_SECRET_CREATE, caller, entity_id, detail=detail)
        )


def member_of(client: ExportedClient, admins: Admins) -> NewMember | Line:
    """Return the member that a client is, or why it can be none."""
    admin = admins.get(client.client_id)

    def refused(why: str) -> Line:
        return Line("member", client.client_id[:64], "refused", why)

    if not ENTITY_ID.fullmatch(client.client_id):
        return refused("the client ID is no entity ID: 1 to 64 letters, digits, @ . _ -")
    if admin is None:
        return refused("the file of admins names none for it")
    kind = admin.entity_type or client.entity_type
    if kind not in {"FIP", "FIU", "AA"}:
        return refused("its type is unknown: name FIP, FIU or AA in the file of admins")
    name = admin.member_name or client.name
    return NewMember(client.client_id, kind, name, admin.email, admin.name)


async def move_member(
    tx: Transaction, client: ExportedClient, admins: Admins, caller: Caller
) -> Line:
    """Onboard a client as a member with its secret; one that is there stays as it is."""
    member = member_of(client, admins)
    if isinstance(member, Line):
        return member
    known = await People(tx).member(member.entity_id)
    if known is not None:
        return await _unchanged(tx, client)
    carried = carried_secrets(client, await tx.now())
    known_secret = None if carried.current is None else KnownSecret(tx, carried)
    outcome = await onboard_member(tx, member, owner(caller), known_secret)
    if isinstance(outcome, Onboarded):
        return Line("member", member.entity_id, "new", carried.detail)
    if isinstance(outcome, MemberDiffers):
        return Line("member", member.entity_id, "unchanged")
    assert not isinstance(outcome, ScopeMissing), outcome  # the owner has every scope
    return _refused(member, outcome)


async def preview_member(tx: Transaction, client: ExportedClient, admins: Admins) -> Line:
    """Say what `move_member` would do."""
    member = member_of(client, admins)
    if isinstance(member, Line):
        return member
    if await People(tx).member(member.entity_id) is not None:
        return await _unchanged(tx, client)
    refused = await preview_onboarding(tx, member)
    if refused is not None:
        return _refused(member, refused)
    carried = carried_secrets(client, await tx.now())
    return Line("member", member.entity_id, "new", carried.detail)


def _refused(member: NewMember, refusal: ValueRefused | WrongAccountKind) -> Line:
    why = (
        "adminEmail is an operator's: admins use accounts of their own"
        if isinstance(refusal, WrongAccountKind)
        else f"{refusal.field} {refusal.problem}"
    )
    return Line("member", member.entity_id, "refused", why)


async def _unchanged(tx: Transaction, client: ExportedClient) -> Line:
    """Say whether a member that is there has the secret of the export."""
    held = await Secrets(tx).held(client.client_id)
    if held is None or client.secret is None:
        return Line("member", client.client_id, "unchanged")
    same = await Secrets(tx).text_of(held.current) == client.secret.text
    detail = "" if same else "it has another secret here, which stays"
    return Line("member", client.client_id, "unchanged", detail)


class KeyMove(Struct, frozen=True):
    """Publishes public keys of one other issuer until a date; none of them ever signs."""

    keys: SigningKeys
    audit_log: AuditLog
    issuer: str
    until: datetime
    now: datetime
    caller: Caller
    asked: bool
    """Whether someone chose `until`: else the end of a key that is known stays as it is."""

    async def move(self, exported: ExportedKey, *, apply: bool) -> Line:
        """Publish one key, or only say what that would change."""
        known = {one.kid: one for one in await self.keys.locked_keys()}.get(exported.kid)
        result = "new"
        if known is not None:
            if not known.issuer or known.public_jwk != exported.public_jwk:
                return Line("key", exported.kid, "refused", "another key here has its ID")
            if known.issuer != self.issuer:
                return Line("key", exported.kid, "refused", f"it is imported for {known.issuer}")
            if not self.asked:
                return self._as_it_is(known)
            same = known.state(self.now) is KeyState.IMPORTED and known.retires_at == self.until
            result = "unchanged" if same else "changed"
        if apply and result != "unchanged":
            await self._publish(exported)
        shown = f"published until {self.until:%Y-%m-%d}, for tokens of {self.issuer}"
        return Line("key", exported.kid, result, shown)

    def _as_it_is(self, known: SigningKey) -> Line:
        """Leave a known key alone: one that was ended must not come back with later members."""
        if known.state(self.now) is not KeyState.IMPORTED or known.retires_at is None:
            why = "it has ended here: give --until to publish it again"
            return Line("key", known.kid, "unchanged", why)
        shown = f"published until {known.retires_at:%Y-%m-%d}, for tokens of {self.issuer}"
        return Line("key", known.kid, "unchanged", shown)

    async def _publish(self, exported: ExportedKey) -> None:
        key = SigningKey(
            kid=exported.kid,
            kind=TokenKind.ENTITY,
            created_at=self.now,
            active_from=None,
            retires_at=self.until,
            public_jwk=exported.public_jwk,
            issuer=self.issuer,
        )
        await self.keys.keep_imported(key)
        detail = {"kid": key.kid, "issuer": self.issuer, "until": self.until.isoformat()}
        await self.audit_log.append(
            AuditEntry(EventName.KEYS_SIGNING_IMPORT, self.caller, detail=detail)
        )


async def end_keys(
    keys: SigningKeys, audit_log: AuditLog, issuer: str, now: datetime, caller: Caller
) -> Sequence[str]:
    """End the imported keys of an issuer now, of every one where none is named."""
    ended = [
        one
        for one in await keys.locked_keys()
        if one.state(now) is KeyState.IMPORTED and issuer in {"", one.issuer}
    ]
    for one in ended:
        await keys.keep_imported(replace(one, retires_at=at_once(now)))
        detail = {"kid": one.kid, "issuer": one.issuer}
        await audit_log.append(AuditEntry(EventName.KEYS_SIGNING_RETIRE, caller, detail=detail))
    return [one.kid for one in ended]
