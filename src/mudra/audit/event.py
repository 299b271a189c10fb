"""The closed list of events, and the shape of one (quality L5)."""

import enum
from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec import Struct, field


class EventName(enum.StrEnum):
    """What can happen, as `subject:object:action`. A word once used keeps its meaning forever."""

    USER_ACCOUNT_ONBOARD = "user:account:onboard"
    USER_ACCOUNT_CHANGE = "user:account:change"
    USER_LINK_SEND = "user:link:send"
    USER_LINK_USE = "user:link:use"
    USER_LINK_REFUSE = "user:link:refuse"
    USER_PASSWORD_SET = "user:password:set"  # noqa: S105 -- the name of an event
    USER_PASSWORD_FORGOT = "user:password:forgot"  # noqa: S105 -- the name of an event
    USER_PASSWORD_REHASH = "user:password:rehash"  # noqa: S105 -- the name of an event
    USER_PASSWORD_DISABLE = "user:password:disable"  # noqa: S105 -- the name of an event
    USER_SIGN_IN_SUCCEED = "user:sign_in:succeed"
    USER_SIGN_IN_REFUSE = "user:sign_in:refuse"
    USER_FACTOR_ADD = "user:factor:add"
    USER_FACTOR_REMOVE = "user:factor:remove"
    USER_FACTOR_USE = "user:factor:use"
    USER_FACTOR_REFUSE = "user:factor:refuse"
    USER_RECOVERY_RENEW = "user:recovery:renew"
    USER_SESSION_BEGIN = "user:session:begin"
    USER_SESSION_END = "user:session:end"
    USER_TOKEN_ISSUE = "user:token:issue"  # noqa: S105 -- the name of an event
    USER_ALARMS_CHANGE = "user:alarms:change"
    USER_TOKEN_REVOKE = "user:token:revoke"  # noqa: S105 -- the name of an event

    ENTITY_SECRET_CREATE = "entity:secret:create"  # noqa: S105 -- the name of an event
    ENTITY_SECRET_READ = "entity:secret:read"  # noqa: S105 -- the name of an event
    ENTITY_SECRET_RESET = "entity:secret:reset"  # noqa: S105 -- the name of an event
    ENTITY_SECRET_REFUSE = "entity:secret:refuse"  # noqa: S105 -- the name of an event
    ENTITY_SECRET_RETIRE = "entity:secret:retire"  # noqa: S105 -- the name of an event
    ENTITY_SECRET_REMIND = "entity:secret:remind"  # noqa: S105 -- the name of an event
    ENTITY_TOKEN_ISSUE = "entity:token:issue"  # noqa: S105 -- the name of an event
    ENTITY_TOKEN_REFUSE = "entity:token:refuse"  # noqa: S105 -- the name of an event
    ENTITY_TOKEN_REVOKE = "entity:token:revoke"  # noqa: S105 -- the name of an event
    ENTITY_TOKEN_BIND = "entity:token:bind"  # noqa: S105 -- the name of an event
    ENTITY_STATUS_CHANGE = "entity:status:change"
    ENTITY_MEMBER_ONBOARD = "entity:member:onboard"
    ENTITY_ADDRESSES_CHANGE = "entity:addresses:change"
    ENTITY_CONTACT_CHANGE = "entity:contact:change"

    KEYS_SIGNING_CREATE = "keys:signing:create"
    KEYS_SIGNING_ACTIVATE = "keys:signing:activate"
    KEYS_SIGNING_RETIRE = "keys:signing:retire"
    KEYS_SIGNING_DESTROY = "keys:signing:destroy"
    KEYS_SIGNING_IMPORT = "keys:signing:import"
    KEYS_MASTER_ROTATE = "keys:master:rotate"

    REGISTRY_ENTRY_SUBMIT = "registry:entry:submit"
    REGISTRY_ENTRY_APPROVE = "registry:entry:approve"
    REGISTRY_ENTRY_REJECT = "registry:entry:reject"
    REGISTRY_ENTRY_SUSPEND = "registry:entry:suspend"
    REGISTRY_ENTRY_RESTORE = "registry:entry:restore"
    REGISTRY_ENTRY_RETIRE = "registry:entry:retire"
    REGISTRY_ENTRY_ROLLBACK = "registry:entry:rollback"
    REGISTRY_ENTRY_REFUSE = "registry:entry:refuse"
    REGISTRY_VOCABULARY_CHANGE = "registry:vocabulary:change"

    OPERATOR_ACCOUNT_CREATE = "operator:account:create"
    OPERATOR_ACCOUNT_CHANGE = "operator:account:change"
    OPERATOR_SIGN_IN_SUCCEED = "operator:sign_in:succeed"
    OPERATOR_SIGN_IN_REFUSE = "operator:sign_in:refuse"

    METRICS_REPORT_ACCEPT = "metrics:report:accept"
    METRICS_REPORT_REFUSE = "metrics:report:refuse"
    METRICS_HELD_REPORT_ADMIT = "metrics:held_report:admit"
    METRICS_HELD_REPORT_REFUSE = "metrics:held_report:refuse"
    METRICS_INCIDENT_ACKNOWLEDGE = "metrics:incident:acknowledge"
    METRICS_INCIDENT_HAND_OVER = "metrics:incident:hand_over"
    METRICS_INCIDENT_COMMENT = "metrics:incident:comment"
    METRICS_INCIDENT_CLOSE = "metrics:incident:close"
    METRICS_INCIDENT_REOPEN = "metrics:incident:reopen"
    METRICS_INCIDENT_REVIEW = "metrics:incident:review"
    METRICS_SILENCE_BEGIN = "metrics:silence:begin"
    METRICS_SILENCE_END = "metrics:silence:end"
    METRICS_WEBHOOK_ADD = "metrics:webhook:add"
    METRICS_WEBHOOK_REMOVE = "metrics:webhook:remove"
    METRICS_WEBHOOK_ROTATE = "metrics:webhook:rotate"

    KEYS_SIGNING_DROP = "keys:signing:drop"

    MAIL_LETTER_RETRY = "mail:letter:retry"
    MAIL_LETTER_SEND = "mail:letter:send"

    AUDIT_CHAIN_VERIFY = "audit:chain:verify"
    AUDIT_EPOCH_OPEN = "audit:epoch:open"
    AUDIT_RESTORE_CONFIRM = "audit:restore:confirm"
    AUDIT_RECORD_EXPORT = "audit:record:export"
    AUDIT_RANGE_ARCHIVE = "audit:range:archive"
    AUDIT_RANGE_DROP = "audit:range:drop"
    AUDIT_TOKENS_PACK = "audit:tokens:pack"
    AUDIT_TOKENS_DROP = "audit:tokens:drop"
    DATABASE_BACKUP_RESTORE = "database:backup:restore"
    SANDBOX_CLOCK_ADVANCE = "sandbox:clock:advance"
    SANDBOX_HISTORY_FILL = "sandbox:history:fill"
    SANDBOX_FAULT_ON = "sandbox:fault:on"
    SANDBOX_FAULT_OFF = "sandbox:fault:off"


class Outcome(enum.StrEnum):
    """How the act ended."""

    SUCCESS = "success"
    REFUSED = "refused"
    """A rule said no; nothing changed."""
    FAILED = "failed"
    """Something broke; nothing changed."""


Detail = Mapping[str, str | int]

NOTHING: Final[Detail] = MappingProxyType({})

# Whole words of a detail's name that would say it holds what no one may read.
_NEVER_RECORDED = frozenset({"secret", "password", "token", "link", "authorization", "cookie"})


class AuditEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened. Holds no secret: identifiers and counts only.

    `actor` is who did it, as `user:ID`, `entity:ID`, `operator:ID`, `system` or
    `anonymous`; `address` the client's IP, empty for work without a client;
    `entity_id` whom it concerns, empty when no entity does; `reason` the code of
    a refusal. A token is named by its `jti`, a secret by its version.

    Raises ValueError for an instant that is not UTC and for a detail whose name
    says that it holds a secret, TypeError for a detail that is no text or number.
    """

    event: EventName
    outcome: Outcome
    at: datetime
    actor: str
    txn_id: str
    entity_id: str = ""
    address: str = ""
    reason: str = ""
    detail: Detail = NOTHING

    def __post_init__(self) -> None:
        if self.at.utcoffset() != timedelta():
            raise ValueError(f"at of {self.event} must be an aware datetime in UTC")
        for name, value in self.detail.items():
            if _NEVER_RECORDED & set(name.lower().split("_")):
                raise ValueError(f"detail {name!r} of {self.event} must not be recorded")
            if type(value) is not str and type(value) is not int:
                raise TypeError(
                    f"detail {name!r} of {self.event} must be a text or a whole number, "
                    f"not {type(value).__name__}"
                )


class Caller(Struct, frozen=True):
    """Who acts, from where, under which transaction ID of the interface."""

    actor: str
    address: str = ""
    txn_id: str = ""


class AuditEntry(Struct, frozen=True):
    """One act as a use case notes it, before the database has given it a time.

    `user_id` is the person whom it concerns, when that is not the actor.
    """

    event: EventName
    caller: Caller
    entity_id: str = ""
    user_id: str = ""
    reason: str = ""
    detail: Detail = field(default_factory=dict)
    outcome: Outcome = Outcome.SUCCESS

    def at(self, instant: datetime) -> AuditEvent:
        """Make the event of it."""
        concerned = {"user": self.user_id} if self.user_id else {}
        return AuditEvent(
            event=self.event,
            outcome=self.outcome,
            at=instant,
            actor=self.caller.actor,
            txn_id=self.caller.txn_id,
            entity_id=self.entity_id,
            address=self.caller.address,
            reason=self.reason,
            detail={**concerned, **self.detail},
        )
