"""One thing that happened, to one member or to the network, and who may see it. Pure."""

import enum
from collections.abc import Collection
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.localization.language import translatable


class HappeningKind(enum.StrEnum):
    """The kinds of events of a timeline."""

    SECRET = "secret"  # noqa: S105  # a kind, no secret
    KEY = "key"
    REGISTRATION = "registration"
    AGENT = "agent"
    MAINTENANCE = "maintenance"
    INCIDENT = "incident"
    DISPUTE = "dispute"
    ANNOUNCEMENT = "announcement"
    RELEASE = "release"


KIND_TITLES: Final = {
    HappeningKind.SECRET: translatable("secret"),
    HappeningKind.KEY: translatable("signing key"),
    HappeningKind.REGISTRATION: translatable("registration"),
    HappeningKind.AGENT: translatable("agent version"),
    HappeningKind.MAINTENANCE: translatable("maintenance"),
    HappeningKind.INCIDENT: translatable("incident"),
    HappeningKind.DISPUTE: translatable("dispute"),
    HappeningKind.ANNOUNCEMENT: translatable("announcement"),
    HappeningKind.RELEASE: translatable("release of Mudra"),
}
_SHOWN_TO_ALL: Final = frozenset(
    {HappeningKind.KEY, HappeningKind.ANNOUNCEMENT, HappeningKind.RELEASE}
)
"""Of the whole network: they concern every member."""
_PUBLIC: Final = frozenset({HappeningKind.REGISTRATION, HappeningKind.MAINTENANCE})
"""What the directory and the public status show of any member to all."""


class Happening(Struct, frozen=True):
    """One event; `entity_id` is empty for the whole network, `until` for one that only begins.

    `ref` is the ID of what it is about: a version, an incident, a dispute, a key.
    """

    at: datetime
    kind: HappeningKind
    entity_id: str
    text: str
    until: datetime | None = None
    ref: str = ""
    severity: str = ""
    """Of an incident: minor, major or critical."""
    begins: datetime | None = None
    """When what is announced begins; None where it is `at`, or is not said."""


def is_shown_to(one: Happening, entity_id: str, parties: Collection[str] = ()) -> bool:
    """Return whether a member sees an event: its own, the network's, and what is public of parties.

    `parties` are the others of an incident that the member is shown. Incidents are chosen by the
    caller, who knows whom each is shown to.
    """
    if one.kind is HappeningKind.INCIDENT or one.entity_id == entity_id:
        return True
    if not one.entity_id:
        return one.kind in _SHOWN_TO_ALL
    return one.kind in _PUBLIC and one.entity_id in parties
