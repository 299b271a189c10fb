"""The acts of people about an incident: its rules.

The evidence opens and ends incidents; people own, discuss, close and reopen them. A decision of
people holds until later evidence speaks against it: an incident that was closed by hand is open
again when a window that began later is bad.
"""

import enum
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.metrics.incidents.incident import NO_CAUSES, Decision, StoredIncident
from mudra.shared.refusal import PlainRefusal, Refusal, RefusalKind, ValueRefused
from mudra.shared.text.visible_text import first_unseen

MAX_TEXT: Final = 4_000
MAX_POST_MORTEM: Final = 20_000
MAX_ACTS: Final = 500
"""Of one incident: a page must show them all."""
MAX_AT_ONCE: Final = 100
"""Incidents that one act assigns."""
_LAYOUT: Final = "\n\r\t"


class ActKind(enum.StrEnum):
    """The kind of an act."""

    ASSIGN = "assign"
    HAND_OVER = "hand-over"
    """To another owner, with a note of what is known and what is next."""
    COMMENT = "comment"
    CLOSE = "close"
    REOPEN = "reopen"
    POST_MORTEM = "post-mortem"
    """Its text; the latest counts."""


class Act(Struct, frozen=True):
    """One act of a person; `owner` is the one after it, where it names one."""

    at: datetime
    actor: str
    kind: ActKind
    text: str
    owner: str = ""

    @property
    def by(self) -> str:
        """The name of who did it."""
        return self.actor.removeprefix("operator:")

    @property
    def owner_name(self) -> str:
        """The name of the owner after it; empty for none."""
        return self.owner.removeprefix("operator:")


class ActCommand(Struct, frozen=True):
    """An act to carry out. `owner` is an address, or empty for no owner; other acts need none.

    `instead_of` is the owner when the caller decided, empty for none; None replaces any owner.
    """

    kind: ActKind
    text: str = ""
    owner: str = ""
    instead_of: str | None = None


INCIDENT_NOT_OPEN: Final = PlainRefusal(
    RefusalKind.CONFLICT, "the incident is over or was closed before, so nothing was changed"
)


INCIDENT_NOT_OVER: Final = PlainRefusal(
    RefusalKind.CONFLICT,
    "the incident is open, withdrawn or part of another one: there is nothing to reopen",
)


class Acknowledged(Refusal, frozen=True):
    """Someone else acknowledged the incident after the caller had opened it."""

    kind = RefusalKind.CONFLICT
    by: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return (
            f"the incident was acknowledged by {self.by} in the meantime, so nothing was changed; "
            "open it again to take it over"
        )


CommandRefused = ValueRefused | PlainRefusal | Acknowledged
_NAMES_OWNER: Final = frozenset({ActKind.ASSIGN, ActKind.HAND_OVER})


def names_owner(kind: ActKind) -> bool:
    """Returns whether an act of this kind changes the owner."""
    return kind in _NAMES_OWNER


def refusal_of(stored: StoredIncident, command: ActCommand, acts: int) -> CommandRefused | None:
    """Returns why an act is not carried out; None when it is. `acts` counts the earlier ones."""
    kind = command.kind
    most = MAX_POST_MORTEM if kind is ActKind.POST_MORTEM else MAX_TEXT
    text = command.text.strip()
    if not text and kind is not ActKind.ASSIGN:
        return ValueRefused("text", f"is missing: a text of 1 to {most} characters")
    if len(text) > most or not _is_plain(text):
        return ValueRefused(
            "text", f"must be at most {most} characters, without control ones but line ends"
        )
    if acts >= MAX_ACTS:
        return ValueRefused("act", f"is one too many: an incident has at most {MAX_ACTS}")
    if kind is ActKind.CLOSE and not stored.is_open:
        return INCIDENT_NOT_OPEN
    if kind is ActKind.REOPEN and not _may_reopen(stored):
        return INCIDENT_NOT_OVER
    owner = stored.acknowledged_by or ""
    if kind in _NAMES_OWNER and command.instead_of not in {None, owner}:
        return Acknowledged(stored.owner)
    return None


def decision_after(stored: StoredIncident, kind: ActKind) -> Decision | None:
    """Returns what people have decided about its being open, after this act."""
    if kind is ActKind.CLOSE:
        return Decision.CLOSED
    if kind is ActKind.REOPEN:
        # Evidence that says open decides alone again; one that says over is overruled.
        return None if stored.incident.ended is None else Decision.REOPENED
    return stored.decision


def _may_reopen(stored: StoredIncident) -> bool:
    gone = stored.incident.ending in NO_CAUSES
    return not stored.is_open and not gone


def _is_plain(text: str) -> bool:
    return not first_unseen(text, _LAYOUT)
