"""Refusals of the registry: data for the edge, never HTTP.

`sentence` is the text for the caller. It never names the holder of an ID or a
key: a FIP must not learn of other FIPs that way.
"""

import datetime as dt
from typing import Final, TypeAlias

from mudra.shared.refusal import PlainRefusal, Refusal, RefusalKind
from mudra.shared.time_text import iso_ms

NOT_YOUR_ENTRY: Final = PlainRefusal(
    RefusalKind.UNAUTHORIZED,
    "entityinfo.id and requester.id must be the entity that you act for",
)
RETIRED_BY_PEOPLE: Final = PlainRefusal(
    RefusalKind.UNAUTHORIZED,
    "an admin of the entity retires its entry, or an operator with the scope registry: an Entity "
    "Access Token does not",
)


class NeedsOperator(Refusal, frozen=True):
    """The action is for operators with a scope that the caller lacks."""

    kind = RefusalKind.UNAUTHORIZED
    scope: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"this needs an operator with the scope {self.scope}"


class SecondOperatorNeeded(Refusal, frozen=True):
    """The approver submitted the version, administers its member, or onboarded it."""

    kind = RefusalKind.CONFLICT
    entity_id: str
    is_admin: bool
    onboarded: bool = False

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        why = "you are an admin of it" if self.is_admin else "you submitted it"
        if self.onboarded:
            why = "you, or someone who gave you your right, onboarded it"
        return (
            f"another operator must approve this version of {self.entity_id}, since {why}; "
            "a network with one operator sets MUDRA_REGISTRY_ONE_OPERATOR=true"
        )


class SecondOperatorTied(Refusal, frozen=True):
    """Approver and submitter are tied by a right that was given lately: they may be one person."""

    kind = RefusalKind.CONFLICT
    entity_id: str
    untied_at: dt.datetime | None
    """None where a former admin, to whom one of the two gave the right, read its secret."""

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        if self.untied_at is None:
            return (
                f"another operator must approve this version of {self.entity_id}: a former admin "
                "who got the right from one of the two who submit and approve it read the secret, "
                "by which anyone can submit; once an admin has reset the secret, and the old one "
                "has ended, you may approve what is submitted"
            )
        return (
            f"another operator must approve this version of {self.entity_id}: less than a day "
            "before it was submitted, an operator's or admin's right was given by one of the two "
            "who submit and approve it, or to both by the same person; what is submitted after "
            f"{iso_ms(self.untied_at)} you may approve"
        )


def unknown_entity(entity_id: str) -> PlainRefusal:
    """Refuse: the registry has no entry of this ID and type."""
    return PlainRefusal(
        RefusalKind.NOT_FOUND, f"the registry has no entry {entity_id} of this type"
    )


def unknown_version(entity_id: str, number: int) -> PlainRefusal:
    """Refuse: the entry has no version of this number, or none of that kind."""
    return PlainRefusal(
        RefusalKind.NOT_FOUND, f"{entity_id} has no version {number} that was ever live"
    )


def duplicate_entity(entity_id: str) -> PlainRefusal:
    """Refuse: a first submission for an ID that is registered or pending."""
    return PlainRefusal(
        RefusalKind.CONFLICT,
        f"entityinfo.id {entity_id} is taken; update it with PUT if it is yours",
    )


class AlreadyHeld(Refusal, frozen=True):
    """A handle, `kid` or modulus that another entity holds or held. `holder` is for the audit.

    A name or code that `looks_alike` reads as that of another live entry.
    """

    kind = RefusalKind.CONFLICT
    path: str
    value: str
    holder: str
    looks_alike: bool = False

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        if self.looks_alike:
            return (
                f"{self.path} {self.value} is that of another live entry, or looks like it; choose "
                "another, or ask the operator: members that it onboarded by one name may share it"
            )
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


def version_not_named(entity_id: str) -> PlainRefusal:
    """Refuse: an approval that does not say of what."""
    return PlainRefusal(
        RefusalKind.INVALID,
        f"version must be the number of the version of {entity_id} that you reviewed; "
        "GET /operator/v1/registry/waiting shows it, with the hash of what it holds",
    )


def content_differs(entity_id: str, number: int) -> PlainRefusal:
    """Refuse: the pending version does not hold what was reviewed."""
    return PlainRefusal(
        RefusalKind.CONFLICT,
        f"hash is not that of version {number} of {entity_id}: review it and decide again",
    )


def version_moved(entity_id: str, expected: int, pending: int) -> PlainRefusal:
    """Refuse: another version is pending than the one that was reviewed."""
    return PlainRefusal(
        RefusalKind.CONFLICT,
        f"version {expected} of {entity_id} was replaced by version {pending}; "
        "review that one and decide again",
    )


def go_live_too_far(days: int) -> PlainRefusal:
    """Refuse: a scheduled time so far ahead that it is most likely a mistake."""
    return PlainRefusal(RefusalKind.INVALID, f"from must be at most {days} days ahead")


def wrong_type(given: str, onboarded_as: str) -> PlainRefusal:
    """Refuse: the payload's type is not the one that the entity was onboarded as."""
    return PlainRefusal(
        RefusalKind.INVALID,
        f"type must be {onboarded_as}, as the entity was onboarded, not {given}",
    )


RegistryRefusal: TypeAlias = (
    NeedsOperator
    | SecondOperatorNeeded
    | SecondOperatorTied
    | PlainRefusal
    | AlreadyHeld
    | WrongState
)
