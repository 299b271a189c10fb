"""A new member's way from its invitation to its first token: since when, what is next, who acts."""

import enum
from datetime import date, datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.identity.accounts.people_store import People
from mudra.identity.memberships.member import MemberStatus
from mudra.overview.milestone_store import MilestoneReads, Milestones
from mudra.storage.database.transaction import Transaction

_SHOWN_FOR: Final = timedelta(days=90)


class Step(enum.Enum):
    """A step of onboarding, in the order in which most members take them."""

    INVITED = "invited"
    ACTIVATED = "activated"
    SUBMITTED = "submitted"
    APPROVED = "approved"
    FIRST_TOKEN = "first-token"  # noqa: S105  # a step


class Progress(Struct, frozen=True):
    """A step, and when it was done; `is_next` of the first one that is open."""

    step: Step
    since: datetime | date | None
    is_next: bool

    @property
    def done(self) -> bool:
        """Return whether the step was taken."""
        return self.since is not None

    @property
    def by_operator(self) -> bool:
        """Return whether the operator takes the step; else an admin of the member does."""
        return self.step in {Step.INVITED, Step.APPROVED}


def is_unfinished(reached: Milestones, now: datetime) -> bool:
    """Return whether a member is new and has a step to take; a retired one has none."""
    is_first = reached.secret_version == 1
    is_new = is_first or now - reached.secret_since < _SHOWN_FOR
    is_past_its_start = reached.live_from is not None and not is_first
    if not is_new or is_past_its_start or reached.status == MemberStatus.RETIRED:
        return False
    return any(since is None for since in _taken(reached).values())


def steps_of(reached: Milestones) -> tuple[Progress, ...]:
    """Return all steps in their order."""
    taken = _taken(reached)
    following = next((step for step, since in taken.items() if since is None), None)
    return tuple(Progress(step, since, step is following) for step, since in taken.items())


async def onboarding_of(tx: Transaction, entity_id: str) -> tuple[Progress, ...]:
    """Return the steps while one is missing; none once a member is through, or is no new one."""
    reached = await MilestoneReads(tx).of_member(entity_id)
    if reached is None or not is_unfinished(reached, await People(tx).now()):
        return ()
    return steps_of(reached)


async def unfinished_members(tx: Transaction) -> frozenset[str]:
    """Return the IDs of the members who have a step to take."""
    now = await People(tx).now()
    found = await MilestoneReads(tx).of_all()
    return frozenset(one.entity_id for one in found if is_unfinished(one, now))


def _taken(reached: Milestones) -> dict[Step, datetime | date | None]:
    return {
        Step.INVITED: reached.invited_at,
        Step.ACTIVATED: reached.activated_at,
        Step.SUBMITTED: reached.submitted_at,
        Step.APPROVED: reached.live_from,
        Step.FIRST_TOKEN: reached.first_token_on,
    }
