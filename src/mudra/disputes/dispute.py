"""A comment or dispute of a member: what it is about, its states, and each step. Values.

A comment is published with the figures and asks for nothing. A dispute asks for a correction, and
is decided by an operator.
"""

import enum
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.disputes.correction import Correction
from mudra.disputes.evidence import Evidence


class Kind(enum.StrEnum):
    """The wish of the member."""

    COMMENT = "comment"
    DISPUTE = "dispute"


class About(enum.StrEnum):
    """The subject of a comment or a dispute."""

    INCIDENT = "incident"
    DAY = "day"
    LINE = "line"
    """One API over some days, as a report has a line."""


class State(enum.StrEnum):
    """The state of a dispute; a comment is `noted` until it is withdrawn."""

    NOTED = "noted"
    RAISED = "raised"
    UNDER_REVIEW = "under_review"
    INFORMATION_WANTED = "information_wanted"
    ACCEPTED = "accepted"
    PARTLY_ACCEPTED = "partly_accepted"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    LAPSED = "lapsed"


OPEN: Final = frozenset({State.RAISED, State.UNDER_REVIEW, State.INFORMATION_WANTED})
"""The states in which a decision is due."""
DECIDED: Final = frozenset({State.ACCEPTED, State.PARTLY_ACCEPTED, State.REJECTED})


class Side(enum.StrEnum):
    """The side that takes a step."""

    MEMBER = "member"
    OPERATOR = "operator"
    SERVICE = "service"


class Act(enum.StrEnum):
    """The kind of a step in a dispute."""

    RAISE = "raise"
    COMMENT = "comment"
    """Publish a comment: the first step of one."""
    INFORM = "inform"
    """The member adds to its statement, or answers a question."""
    ATTACH = "attach"
    """The member attaches evidence."""
    WITHDRAW = "withdraw"
    REVIEW = "review"
    """An operator takes it."""
    ASK = "ask"
    """An operator asks the member for more information."""
    ANSWER = "answer"
    """An operator writes to the member; the state stays."""
    ACCEPT = "accept"
    ACCEPT_PARTLY = "accept_partly"
    REJECT = "reject"
    REOPEN = "reopen"
    """An operator has it decided again; its corrections end."""
    LAPSE = "lapse"
    """The member did not answer in time."""
    OVERDUE = "overdue"
    """The operator did not act in time: both sides are notified."""


MEMBER_ACTS: Final = frozenset({Act.INFORM, Act.WITHDRAW})
OPERATOR_ACTS: Final = frozenset(
    {Act.REVIEW, Act.ASK, Act.ANSWER, Act.ACCEPT, Act.ACCEPT_PARTLY, Act.REJECT, Act.REOPEN}
)


class Step(Struct, frozen=True):
    """One step; `state` is the one after it."""

    number: int
    at: datetime
    actor: str
    act: Act
    state: State
    text: str

    @property
    def by(self) -> Side:
        """Return which side took it."""
        if self.actor.startswith("user:"):
            return Side.MEMBER
        return Side.OPERATOR if self.actor.startswith("operator:") else Side.SERVICE


class Dispute(Struct, frozen=True):
    """A comment or dispute; from `start` until before `end`, in UTC on the edges of windows.

    No `apis` means all. `due_at` is when the next step must be taken: by the member where
    information is wanted, else by the operator. None once it is closed.
    """

    dispute_id: str
    entity_id: str
    kind: Kind
    about: About
    incident_id: str | None
    apis: tuple[str, ...]
    start: datetime
    end: datetime
    state: State
    raised_by: str
    raised_at: datetime
    changed_at: datetime
    due_at: datetime | None

    @property
    def is_open(self) -> bool:
        """Return whether a decision is due."""
        return self.state in OPEN

    @property
    def waits_for(self) -> Side | None:
        """Return who has the next step; None where no one has."""
        if not self.is_open:
            return None
        return Side.MEMBER if self.state is State.INFORMATION_WANTED else Side.OPERATOR

    def is_overdue(self, now: datetime) -> bool:
        """Return whether the next step is late."""
        return self.due_at is not None and self.due_at <= now

    def is_noted_late(self, steps: "Iterable[Step]") -> bool:
        """Return whether a step says already that the present deadline has passed."""
        due = self.due_at
        return due is not None and any(one.act is Act.OVERDUE and one.at >= due for one in steps)


class Case(Struct, frozen=True):
    """A dispute with all that belongs to it."""

    dispute: Dispute
    steps: Sequence[Step]
    evidence: Sequence[Evidence]
    corrections: Sequence[Correction]
