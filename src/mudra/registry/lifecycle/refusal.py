"""Refusals of the registry: data for the edge, never HTTP.

`sentence` is the text for the caller. It never names the holder of an ID or a
key: a FIP must not learn of other FIPs that way.
"""

import datetime as dt
from typing import TypeAlias

from mudra.shared.refusal import Refusal, RefusalKind
from mudra.shared.time_text import iso_ms


class NotYourEntry(Refusal, frozen=True):
    """A member acts for an entity that is not its own."""

    kind = RefusalKind.UNAUTHORIZED
    entity_id: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return "entityinfo.id and requester.id must be the entity that you act for"


class NeedsOperator(Refusal, frozen=True):
    """The action is for operators with a scope that the caller lacks."""

    kind = RefusalKind.UNAUTHORIZED
    scope: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"this needs an operator with the scope {self.scope}"


class SecondOperatorNeeded(Refusal, frozen=True):
    """One who submitted a version, or administers its member, approves it."""

    kind = RefusalKind.CONFLICT
    entity_id: str
    is_admin: bool

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        why = "you are an admin of it" if self.is_admin else "you submitted it"
        return (
            f"another operator must approve this version of {self.entity_id}, since {why}; "
            "a network with one operator sets MUDRA_REGISTRY_ONE_OPERATOR=true"
        )


class SecondOperatorTied(Refusal, frozen=True):
    """Approver and submitter are tied by a right that was given lately: they may be one person."""

    kind = RefusalKind.CONFLICT
    entity_id: str
    untied_at: dt.datetime

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return (
            f"another operator must approve this version of {self.entity_id}: less than a day "
            "before it was submitted, an operator's or admin's right was given by one of the two "
            "who submit and approve it, or to both by the same person; what is submitted after "
            f"{iso_ms(self.untied_at)} you may approve"
        )


class UnknownEntity(Refusal, frozen=True):
    """The registry has no entry of this ID and type."""

    kind = RefusalKind.NOT_FOUND
    entity_id: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"the registry has no entry {self.entity_id} of this type"


class UnknownVersion(Refusal, frozen=True):
    """The entry has no version of this number, or none of that kind."""

    kind = RefusalKind.NOT_FOUND
    entity_id: str
    number: int

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"{self.entity_id} has no version {self.number} that was ever live"


class DuplicateEntity(Refusal, frozen=True):
    """A first submission for an ID that is registered or pending."""

    kind = RefusalKind.CONFLICT
    entity_id: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"entityinfo.id {self.entity_id} is taken; update it with PUT if it is yours"


class AlreadyHeld(Refusal, frozen=True):
    """A handle, `kid` or modulus that another entity holds or held. `holder` is for the audit."""

    kind = RefusalKind.CONFLICT
    path: str
    value: str
    holder: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        shown = f" {self.value}" if self.value else ""
        return f"{self.path}{shown} is taken by another entity; choose another"


class WrongState(Refusal, frozen=True):
    """The entry's state does not permit the action."""

    kind = RefusalKind.CONFLICT
    entity_id: str
    action: str
    state: str
    allowed: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"{self.entity_id} is {self.state}; {self.action} needs it to be {self.allowed}"


class VersionMoved(Refusal, frozen=True):
    """Another version is pending than the one that was reviewed."""

    kind = RefusalKind.CONFLICT
    entity_id: str
    expected: int
    pending: int

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return (
            f"version {self.expected} of {self.entity_id} was replaced by version {self.pending}; "
            "review that one and decide again"
        )


class ReasonMissing(Refusal, frozen=True):
    """The action needs a reason, which the member sees, and has none."""

    kind = RefusalKind.INVALID
    action: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        allowed = "1 to 500 characters without control characters or '=?'"
        return f"reason must be {allowed} to {self.action}"


class GoLiveTooFar(Refusal, frozen=True):
    """A scheduled time so far ahead that it is most likely a mistake."""

    kind = RefusalKind.INVALID
    days: int

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"from must be at most {self.days} days ahead"


class WrongType(Refusal, frozen=True):
    """The payload's type is not the one that the entity was onboarded as."""

    kind = RefusalKind.INVALID
    given: str
    onboarded_as: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"type must be {self.onboarded_as}, as the entity was onboarded, not {self.given}"


RegistryRefusal: TypeAlias = (
    NotYourEntry
    | NeedsOperator
    | SecondOperatorNeeded
    | SecondOperatorTied
    | UnknownEntity
    | UnknownVersion
    | DuplicateEntity
    | AlreadyHeld
    | WrongType
    | WrongState
    | VersionMoved
    | ReasonMissing
    | GoLiveTooFar
)
