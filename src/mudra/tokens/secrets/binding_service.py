"""Switch the binding to listed addresses on and off: an admin its entity's, an operator any."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TypeVar

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, EventName, Outcome
from mudra.identity.memberships.admins import Requester, no_such_entity
from mudra.identity.memberships.member import NotYourEntity, has_role
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.memberships.notices import NoticeService
from mudra.identity.operators.act_on_person import lost_scope
from mudra.identity.operators.operator import ScopeMissing
from mudra.shared.mail.notice import NoticeKind
from mudra.shared.refusal import PlainRefusal, Refusal
from mudra.shared.time_text import iso_ms
from mudra.storage.database.transaction import Transaction
from mudra.tokens.secrets.address_binding import (
    EXEMPTION_BY_OPERATOR,
    MAX_SWITCHES,
    SWITCHES_IN,
    WATCHED_DAYS,
    AddressBinding,
    AddressesInUse,
    ChosenBinding,
    NoListedAddresses,
    TooManySwitches,
    is_enforced,
    switched,
)
from mudra.tokens.secrets.address_binding_store import AddressBindings
from mudra.tokens.secrets.foreign_addresses import AddressReport, EntityUse, report_addresses
from mudra.tokens.secrets.registered_key_store import RegisteredKeys
from mudra.tokens.secrets.secret_use_store import SecretUses

R = TypeVar("R", bound=Refusal)


class BindingView(Struct, frozen=True):
    """The binding of an entity, and what the last days show.

    `listed` are the `ips` of the live entry; `foreign` uses come from elsewhere.
    """

    entity_id: str
    chosen: ChosenBinding
    network_enforces: bool
    listed: Sequence[str]
    report: AddressReport
    uses: Sequence[EntityUse] = ()
    """Uses of the last days, whatever the address."""

    @property
    def own(self) -> AddressBinding:
        """Return what holds for this entity."""
        return self.chosen.binding

    @property
    def enforced(self) -> bool:
        """Return whether other addresses are refused now."""
        return is_enforced(self.own, self.listed, network_enforces=self.network_enforces)

    @property
    def foreign(self) -> Sequence[EntityUse]:
        """Return the uses from addresses that the entry does not list."""
        return self.report.foreign


BindingChange = (
    BindingView
    | NotYourEntity
    | PlainRefusal
    | NoListedAddresses
    | AddressesInUse
    | PlainRefusal
    | TooManySwitches
    | ScopeMissing
)


class BindingService(Struct, frozen=True):
    """The acts on the binding of an entity, in the caller's transaction."""

    tx: Transaction
    network_enforces: bool

    async def view(
        self, entity_id: str, requester: Requester
    ) -> BindingView | NotYourEntity | PlainRefusal:
        """Return the binding of an entity and the addresses that used its credentials lately."""
        if not _may(requester, entity_id):
            return NotYourEntity()
        own = await AddressBindings(self.tx).of(entity_id)
        return no_such_entity(entity_id) if own is None else await self._view(entity_id, own)

    async def bind(
        self, entity_id: str, wanted: AddressBinding, requester: Requester, *, even_so: bool
    ) -> BindingChange:
        """Switch; one that would refuse what was accepted lately needs `even_so`.

        A member that switches off goes back to the exemption that an operator gave it.
        """
        if not _may(requester, entity_id):
            return await self._refused(entity_id, requester, "not-admin", NotYourEntity())
        own = await AddressBindings(self.tx).locked(entity_id)
        lost = await self._lost_right(entity_id, requester)
        if lost is not None:
            return lost
        if own is None:
            return no_such_entity(entity_id)
        view, is_operator = await self._view(entity_id, own), requester.operator is not None
        refused = _refusal(view, wanted, is_operator=is_operator, even_so=even_so)
        if refused is not None:
            return await self._refused(entity_id, requester, type(refused).__name__, refused)
        to = switched(own, wanted, is_operator=is_operator)
        if to == own:
            return view
        too_many = None if is_operator else await self._too_many(entity_id)
        if too_many is not None:
            return await self._refused(entity_id, requester, "too-many-switches", too_many)
        await AddressBindings(self.tx).keep(entity_id, to)
        await self._record(entity_id, requester, detail=_detail(own, to))
        after = await self._view(entity_id, to)
        await self.tx.service(NoticeService).notify(
            entity_id,
            NoticeKind.ADDRESSES_BOUND,
            {
                "enforced": "yes" if after.enforced else "",
                "changed_by": requester.user.email if requester.user else "the operator",
                "changed_at": iso_ms(await AddressBindings(self.tx).now()),
                "listed": ", ".join(after.listed) or "none",
            },
        )
        return after

    async def _too_many(self, entity_id: str) -> TooManySwitches | None:
        """Refuse one more switch than 24 hours permit; under the entity's lock."""
        now = await AddressBindings(self.tx).now()
        times = sorted(await AddressBindings(self.tx).switches(entity_id, now - SWITCHES_IN))
        if len(times) < MAX_SWITCHES:
            return None
        return TooManySwitches(times[-MAX_SWITCHES] + SWITCHES_IN, now)

    async def _view(self, entity_id: str, own: ChosenBinding) -> BindingView:
        since = await AddressBindings(self.tx).now() - timedelta(days=WATCHED_DAYS)
        listed = await RegisteredKeys(self.tx).listed_addresses(entity_id)
        uses = await SecretUses(self.tx).since(since, entity_id)
        report = report_addresses(uses, {entity_id: listed})
        return BindingView(entity_id, own, self.network_enforces, listed, report, uses)

    async def _lost_right(
        self, entity_id: str, requester: Requester
    ) -> NotYourEntity | ScopeMissing | None:
        """Refuse who lost the right while they waited for the entity's lock."""
        if requester.operator is not None:
            return await lost_scope(self.tx, requester.operator)
        user = requester.user
        if user is not None:
            admins = await Memberships(self.tx).admins(entity_id)
            if has_role(admins, user.user_id):
                return None
        return await self._refused(entity_id, requester, "not-admin", NotYourEntity())

    async def _refused(self, entity_id: str, requester: Requester, reason: str, refusal: R) -> R:
        await self._record(entity_id, requester, reason)
        return refusal

    async def _record(
        self,
        entity_id: str,
        requester: Requester,
        reason: str = "",
        detail: dict[str, str | int] | None = None,
    ) -> None:
        await AuditLog(self.tx).append(
            AuditEntry(
                EventName.ENTITY_ADDRESSES_CHANGE,
                requester.caller,
                entity_id,
                reason=reason,
                detail=detail or {},
                outcome=Outcome.REFUSED if reason else Outcome.SUCCESS,
            )
        )


def _may(requester: Requester, entity_id: str) -> bool:
    """Return whether the binding of an entity is theirs to see and switch."""
    user = requester.user
    return entity_id in user.administers if user is not None else requester.operator is not None


def _detail(own: ChosenBinding, to: ChosenBinding) -> dict[str, str | int]:
    detail: dict[str, str | int] = {"from": own.binding.value, "to": to.binding.value}
    if own.exempt or to.exempt:
        ended = "kept" if to.exempt else "ended"
        detail["exemption"] = ended if own.exempt else "begun"
    return detail


def _refusal(
    view: BindingView, wanted: AddressBinding, *, is_operator: bool, even_so: bool
) -> NoListedAddresses | AddressesInUse | PlainRefusal | None:
    if wanted is AddressBinding.WATCH and not is_operator:
        return EXEMPTION_BY_OPERATOR
    if wanted is AddressBinding.ENFORCE and not view.listed:
        return NoListedAddresses(view.entity_id)
    to = switched(view.chosen, wanted, is_operator=is_operator).binding
    begins = not view.enforced and is_enforced(
        to, view.listed, network_enforces=view.network_enforces
    )
    if begins and view.foreign and not even_so:
        return AddressesInUse(tuple(use.address for use in view.foreign))
    return None
