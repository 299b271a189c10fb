"""A new member's way from its invitation to its first token: what is done, what is next. Pure."""

import enum
from datetime import timedelta
from typing import Final

from msgspec import Struct

from mudra.overview.action_items import Facts
from mudra.registry.lifecycle.record import VersionStatus

_SHOWN_FOR: Final = timedelta(days=90)


class Step(enum.Enum):
    """A step of onboarding, in the order in which most members take them."""

    INVITED = "invited"
    ACTIVATED = "activated"
    SUBMITTED = "submitted"
    APPROVED = "approved"
    FIRST_TOKEN = "first-token"  # noqa: S105  # a step


class Progress(Struct, frozen=True):
    """A step, and whether it is done."""

    step: Step
    done: bool


def onboarding(facts: Facts) -> tuple[Progress, ...]:
    """Return the steps while one is missing; none once a member is through, or is no new one."""
    used, record = facts.used, facts.record
    first_token = bool(used.current_use.last_used_at or used.old_use.last_used_at)
    versions = record.versions if record else ()
    approved = record is not None and record.live is not None
    done = {
        Step.INVITED: True,
        Step.ACTIVATED: facts.able_admins > 0,
        Step.SUBMITTED: approved
        or any(one.status is not VersionStatus.REJECTED for one in versions),
        Step.APPROVED: approved,
        Step.FIRST_TOKEN: first_token,
    }
    is_new = used.current.version == 1 or used.now - used.current.created_at < _SHOWN_FOR
    if all(done.values()) or not is_new or (approved and used.current.version > 1):
        return ()
    return tuple(Progress(step, is_done) for step, is_done in done.items())
