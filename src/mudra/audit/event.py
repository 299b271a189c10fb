"""The closed list of audit events, and the shape of one act (quality L3, L5).

Names are `subject:object:action`. An act never holds anything secret.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field


class Event(enum.StrEnum):
    """Everything that changes or reveals something."""

    MEMBER_ONBOARDED = "entity:member:onboard"
    ENTITY_STATUS_CHANGED = "entity:status:change"
    SECRET_CREATED = "entity:secret:create"  # noqa: S105  # an event's name
    SECRET_READ = "entity:secret:read"  # noqa: S105
    SECRET_READ_REFUSED = "entity:secret:read-refuse"  # noqa: S105
    SECRET_RESET = "entity:secret:reset"  # noqa: S105
    SECRET_RESET_REFUSED = "entity:secret:reset-refuse"  # noqa: S105
    SECRET_RETIRED = "entity:secret:retire"  # noqa: S105
    SECRET_RETIRE_REFUSED = "entity:secret:retire-refuse"  # noqa: S105
    ENTITY_TOKEN_ISSUED = "entity:token:issue"  # noqa: S105
    ENTITY_TOKEN_REFUSED = "entity:token:refuse"  # noqa: S105
    ENTITY_TOKEN_REVOKED = "entity:token:revoke"  # noqa: S105
    USER_ONBOARDED = "user:account:onboard"
    USER_STATUS_CHANGED = "user:account:status"
    LINK_SENT = "user:link:send"
    LINK_REFUSED = "user:link:refuse"
    PASSWORD_SET = "user:password:set"  # noqa: S105
    PASSWORD_FORGOTTEN = "user:password:forgot"  # noqa: S105
    SIGN_IN = "user:sign-in:succeed"
    SIGN_IN_REFUSED = "user:sign-in:refuse"
    USER_TOKEN_ISSUED = "user:token:issue"  # noqa: S105
    USER_TOKEN_REVOKED = "user:token:revoke"  # noqa: S105
    SIGNING_KEY_CREATED = "keys:signing:create"
    SIGNING_KEY_APPOINTED = "keys:signing:appoint"
    SIGNING_KEY_RETIRED = "keys:signing:retire"
    SIGNING_KEY_DROPPED = "keys:signing:drop"
    SIGNING_KEY_DESTROYED = "keys:signing:destroy"
    MASTER_KEY_ROTATED = "keys:master:rotate"
    MAIL_SENT = "mail:letter:send"
    MAIL_FAILED = "mail:letter:fail"
    CLOCK_ADVANCED = "sandbox:clock:advance"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who acts, from where, under which transaction ID of the interface."""

    actor: str
    address: str = ""
    txn_id: str = ""


@dataclass(frozen=True, slots=True)
class Act:
    """One act as a use case notes it; storage adds the database's time and a number."""

    event: Event
    caller: Caller
    entity_id: str = ""
    user_id: str = ""
    reason: str = ""
    detail: Mapping[str, str | int] = field(default_factory=dict)
