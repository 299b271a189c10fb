"""The closed list of events, and the shape of one."""

import enum
from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec import Struct, field


class EventName(enum.StrEnum):
    """The recorded acts, as `subject:object:action`. A word once used keeps its meaning forever."""

    USER_ACCOUNT_ONBOARD = "user:account:onboard"
    """A person got an account, and an invitation."""
    USER_ACCOUNT_CHANGE = "user:account:change"
    """An account or its rights on an entity changed; `change` says what."""
    USER_LINK_SEND = "user:link:send"
    """A one-use link was sent by email."""
    USER_LINK_USE = "user:link:use"
    """A one-use link was used."""
    USER_LINK_REFUSE = "user:link:refuse"
    """A link was refused: used, replaced, expired or unknown; or none is sent to a person now."""
    USER_PASSWORD_SET = "user:password:set"  # noqa: S105 -- the name of an event
    """A password was set; the person's tokens ended."""
    USER_PASSWORD_FORGOT = "user:password:forgot"  # noqa: S105 -- the name of an event
    """A link for a new password was requested."""
    USER_PASSWORD_REHASH = "user:password:rehash"  # noqa: S105 -- the name of an event
    """A password was hashed again with the parameters now in force."""
    USER_PASSWORD_DISABLE = "user:password:disable"  # noqa: S105 -- the name of an event
    """A password was disabled after 100 failures in a row."""
    USER_SIGN_IN_SUCCEED = "user:sign_in:succeed"
    """A person signed in."""
    USER_SIGN_IN_REFUSE = "user:sign_in:refuse"
    """A sign-in was refused; `reason` says why."""
    USER_FACTOR_ADD = "user:factor:add"
    """A second factor or a passkey was added."""
    USER_FACTOR_REMOVE = "user:factor:remove"
    """A second factor or a passkey was removed."""
    USER_FACTOR_USE = "user:factor:use"
    """A code, a recovery code or a passkey was used."""
    USER_FACTOR_REFUSE = "user:factor:refuse"
    """A code or a passkey was refused."""
    USER_RECOVERY_RENEW = "user:recovery:renew"
    """New recovery codes replaced the previous ones."""
    USER_SESSION_BEGIN = "user:session:begin"
    """A session of the console began."""
    USER_SESSION_END = "user:session:end"
    """A session of the console ended."""
    USER_TOKEN_ISSUE = "user:token:issue"  # noqa: S105 -- the name of an event
    """A User Access Token was issued; `jti` names it."""
    USER_ALARMS_CHANGE = "user:alarms:change"
    """A person chose other alarms or another channel for them."""
    USER_TOKEN_REVOKE = "user:token:revoke"  # noqa: S105 -- the name of an event
    """A User Access Token ended before its time."""

    ENTITY_SECRET_CREATE = "entity:secret:create"  # noqa: S105 -- the name of an event
    """An entity got its first secret."""
    ENTITY_SECRET_READ = "entity:secret:read"  # noqa: S105 -- the name of an event
    """An admin read the secret."""
    ENTITY_SECRET_RESET = "entity:secret:reset"  # noqa: S105 -- the name of an event
    """The secret was reset; `version` names the new one."""
    ENTITY_SECRET_REFUSE = "entity:secret:refuse"  # noqa: S105 -- the name of an event
    """A reset or a read of a secret was refused."""
    ENTITY_SECRET_RETIRE = "entity:secret:retire"  # noqa: S105 -- the name of an event
    """The grace period of the old secret was ended by hand."""
    ENTITY_SECRET_REMIND = "entity:secret:remind"  # noqa: S105 -- the name of an event
    """Admins were reminded that the secret expires."""
    ENTITY_TOKEN_ISSUE = "entity:token:issue"  # noqa: S105 -- the name of an event
    """Entity Access Tokens were issued; packed into blocks after some time."""
    ENTITY_TOKEN_REFUSE = "entity:token:refuse"  # noqa: S105 -- the name of an event
    """Entity tokens were refused, counted by minute, entity and address."""
    ENTITY_TOKEN_REVOKE = "entity:token:revoke"  # noqa: S105 -- the name of an event
    """An Entity Access Token was revoked; `jti` names it."""
    ENTITY_TOKEN_BIND = "entity:token:bind"  # noqa: S105 -- the name of an event
    """A token was issued that is bound to a key (DPoP); `jkt` names the key."""
    ENTITY_STATUS_CHANGE = "entity:status:change"
    """A member was suspended, restored or retired."""
    ENTITY_MEMBER_ONBOARD = "entity:member:onboard"
    """A member was onboarded."""
    ENTITY_ADDRESSES_CHANGE = "entity:addresses:change"
    """It was enforced from which addresses an entity gets tokens, or no longer."""
    ENTITY_CONTACT_CHANGE = "entity:contact:change"
    """The backup contact of an entity was set or removed."""

    KEYS_SIGNING_CREATE = "keys:signing:create"
    """A signing key was made; it is published before it signs."""
    KEYS_SIGNING_ACTIVATE = "keys:signing:activate"
    """A signing key began to sign, or signs on since the one that was to follow was dropped."""
    KEYS_SIGNING_RETIRE = "keys:signing:retire"
    """A signing key no longer signs, or an imported key has ended."""
    KEYS_SIGNING_DESTROY = "keys:signing:destroy"
    """The private part of a signing key was destroyed."""
    KEYS_SIGNING_IMPORT = "keys:signing:import"
    """A public key of another issuer was imported."""
    KEYS_MASTER_ROTATE = "keys:master:rotate"
    """Rows were encrypted again under the active master key."""

    REGISTRY_ENTRY_SUBMIT = "registry:entry:submit"
    """A version of a registry entry was submitted."""
    REGISTRY_ENTRY_APPROVE = "registry:entry:approve"
    """An operator approved a version."""
    REGISTRY_ENTRY_REJECT = "registry:entry:reject"
    """An operator rejected a version; `reason` says why."""
    REGISTRY_ENTRY_SUSPEND = "registry:entry:suspend"
    """An entry was suspended: its tokens ended."""
    REGISTRY_ENTRY_RESTORE = "registry:entry:restore"
    """A suspended entry is live again."""
    REGISTRY_ENTRY_RETIRE = "registry:entry:retire"
    """An entry was retired for good."""
    REGISTRY_ENTRY_ROLLBACK = "registry:entry:rollback"
    """An earlier version was made the newest."""
    REGISTRY_ENTRY_PROBE = "registry:entry:probe"
    """The base URL of an entry was called: whether it answers and holds the registered key."""
    REGISTRY_ENTRY_REFUSE = "registry:entry:refuse"
    """A write to the registry was refused."""
    REGISTRY_KEY_FACTOR = "registry:key:factor"
    """A key of an entry was found to be one that anyone can factor; `weakness` says why."""
    REGISTRY_VOCABULARY_CHANGE = "registry:vocabulary:change"
    """An operator added a word that entries may use."""

    OPERATOR_ACCOUNT_CREATE = "operator:account:create"
    """An operator's account was made."""
    OPERATOR_ACCOUNT_CHANGE = "operator:account:change"
    """An operator's scopes or account changed."""
    OPERATOR_SIGN_IN_SUCCEED = "operator:sign_in:succeed"
    """An operator signed in by single sign-on."""
    OPERATOR_SIGN_IN_REFUSE = "operator:sign_in:refuse"
    """An operator without the scope for it asked for something."""

    METRICS_REPORT_ACCEPT = "metrics:report:accept"
    """A window of metrics was stored."""
    METRICS_REPORT_REFUSE = "metrics:report:refuse"
    """A window of metrics was refused."""
    METRICS_REPORT_REMOVE = "metrics:report:remove"
    """An operator removed a damaged report, so that its AA can send it again."""
    METRICS_HELD_REPORT_ADMIT = "metrics:held_report:admit"
    """An operator admitted a report that was held as implausible."""
    METRICS_HELD_REPORT_REFUSE = "metrics:held_report:refuse"
    """An operator refused a report that was held as implausible."""
    METRICS_INCIDENT_ACKNOWLEDGE = "metrics:incident:acknowledge"
    """An operator took an incident."""
    METRICS_INCIDENT_HAND_OVER = "metrics:incident:hand_over"
    """An incident was handed over."""
    METRICS_INCIDENT_COMMENT = "metrics:incident:comment"
    """A comment was written about an incident."""
    METRICS_INCIDENT_CLOSE = "metrics:incident:close"
    """An incident was closed by hand."""
    METRICS_INCIDENT_REOPEN = "metrics:incident:reopen"
    """An incident was reopened by hand."""
    METRICS_INCIDENT_REVIEW = "metrics:incident:review"
    """A post-mortem of an incident was written."""
    METRICS_SILENCE_BEGIN = "metrics:silence:begin"
    """A silence or a planned maintenance was announced."""
    METRICS_SILENCE_CHANGE = "metrics:silence:change"
    """A planned maintenance was changed by its member."""
    METRICS_SILENCE_END = "metrics:silence:end"
    """A silence or a planned maintenance was ended by hand."""
    METRICS_CAPACITY_NOTICE = "metrics:capacity:notice"
    """A notice was sent: more calls may come in a day than were ever handled well."""
    METRICS_CAPACITY_OVER = "metrics:capacity:over"
    """Such a notice is over."""
    METRICS_ANNOUNCEMENT_PUBLISH = "metrics:announcement:publish"
    """An announcement on the public status was published, or is to be later."""
    METRICS_ANNOUNCEMENT_CHANGE = "metrics:announcement:change"
    """An announcement on the public status was changed."""
    METRICS_ANNOUNCEMENT_END = "metrics:announcement:end"
    """An announcement on the public status was ended by hand."""
    METRICS_ANNOUNCEMENT_UPDATE = "metrics:announcement:update"
    """An operator added an update to an announcement, which subscribers get."""
    METRICS_FIPS_FOLLOW = "metrics:fips:follow"
    """A FIU follows a FIP, or no longer does."""
    METRICS_WEBHOOK_ADD = "metrics:webhook:add"
    """A webhook was added."""
    METRICS_WEBHOOK_REMOVE = "metrics:webhook:remove"
    """A webhook was removed."""
    METRICS_WEBHOOK_ROTATE = "metrics:webhook:rotate"
    """A webhook got a new signing key."""
    METRICS_WEBHOOK_RESEND = "metrics:webhook:resend"
    """An event of a webhook was sent to it once more."""
    METRICS_WEBHOOK_TEST = "metrics:webhook:test"
    """A test message was sent to a webhook."""

    DISPUTE_CASE_RAISE = "dispute:case:raise"
    """A member raised a dispute, or published a comment; `kind` says which."""
    DISPUTE_CASE_INFORM = "dispute:case:inform"
    """A member added to its statement, or answered a question."""
    DISPUTE_CASE_WITHDRAW = "dispute:case:withdraw"
    """A member withdrew a dispute or a comment."""
    DISPUTE_CASE_REVIEW = "dispute:case:review"
    """An operator took a dispute."""
    DISPUTE_CASE_ASK = "dispute:case:ask"
    """An operator asked a member for more information about its dispute."""
    DISPUTE_CASE_ANSWER = "dispute:case:answer"
    """An operator wrote to a member about its dispute or comment."""
    DISPUTE_CASE_DECIDE = "dispute:case:decide"
    """An operator decided a dispute; `state` says how."""
    DISPUTE_CASE_REOPEN = "dispute:case:reopen"
    """An operator reopened a dispute; its corrections ended."""
    DISPUTE_CASE_LAPSE = "dispute:case:lapse"
    """A dispute lapsed: the member did not answer a question in time."""
    DISPUTE_CASE_DELAY = "dispute:case:delay"
    """The operator did not act on a dispute in time."""
    DISPUTE_EVIDENCE_ADD = "dispute:evidence:add"
    """A member attached a file to a dispute."""
    DISPUTE_EVIDENCE_READ = "dispute:evidence:read"
    """A file of a dispute was read."""

    SERVICE_RELEASE_START = "service:release:start"
    """Another version of Mudra began to run; `version` names it."""

    LEVELS_TARGET_SET = "levels:target:set"
    """An operator set a target of service levels."""
    LEVELS_TARGET_END = "levels:target:end"
    """An operator ended a target of service levels."""
    LEVELS_REPORT_MAKE = "levels:report:make"
    """A version of a report of service levels was made and signed."""
    LEVELS_RULE_SET = "levels:rule:set"
    """An operator set the rule of service levels: maintenance, and who sees which figures."""
    LEVELS_BUDGET_ALARM = "levels:budget:alarm"
    """An alarm was sent: a month's error budget will be gone before its end, or is gone."""

    KEYS_SIGNING_DROP = "keys:signing:drop"
    """A signing key was dropped at once, with the tokens that it signed."""

    MAIL_LETTER_RETRY = "mail:letter:retry"
    """An operator had an email sent again."""
    MAIL_LETTER_SEND = "mail:letter:send"
    """A test email was sent."""

    AUDIT_CHAIN_VERIFY = "audit:chain:verify"
    """The audit chain was verified; `outcome` is the verdict."""
    AUDIT_EPOCH_OPEN = "audit:epoch:open"
    """The audit began a new epoch, as after a restore."""
    AUDIT_RESTORE_CONFIRM = "audit:restore:confirm"
    """An operator confirmed a restore that took events back."""
    AUDIT_RECORD_EXPORT = "audit:record:export"
    """Audit events were exported."""
    AUDIT_RANGE_ARCHIVE = "audit:range:archive"
    """A range of the audit was written to a signed file."""
    AUDIT_RANGE_DROP = "audit:range:drop"
    """An archived range was dropped from the database."""
    AUDIT_TOKENS_PACK = "audit:tokens:pack"
    """Issued tokens were packed into a block of the chain."""
    AUDIT_TOKENS_DROP = "audit:tokens:drop"
    """Token blocks were dropped after their time."""
    DATABASE_BACKUP_RESTORE = "database:backup:restore"
    """The service was restored to an earlier state."""
    DATABASE_PLACE_MOVE = "database:place:move"
    """An operator stated that the database was moved whole; `from` names the cluster before."""
    SANDBOX_CLOCK_ADVANCE = "sandbox:clock:advance"
    """The sandbox's clock was moved."""
    SANDBOX_HISTORY_FILL = "sandbox:history:fill"
    """Traffic of the past was filled into the sandbox."""
    SANDBOX_FAULT_ON = "sandbox:fault:on"
    """A fault was switched on for an entity in the sandbox."""
    SANDBOX_FAULT_OFF = "sandbox:fault:off"
    """A fault was switched off in the sandbox."""


class Outcome(enum.StrEnum):
    """The outcome of an act."""

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
    """The actor of a request, with its IP address and its transaction ID."""

    actor: str
    address: str = ""
    txn_id: str = ""


class AuditEntry(Struct, frozen=True):
    """One act as a use case records it, before the database has given it a time.

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


EVENT_COLUMNS: Final = (
    "at",
    "event",
    "outcome",
    "actor",
    "entity_id",
    "address",
    "txn_id",
    "reason",
    "detail",
)
"""What `event_row` gives."""


def event_row(event: AuditEvent) -> dict[str, object]:
    """Return an event as a row."""
    return {
        "at": event.at,
        "event": event.event.value,
        "outcome": event.outcome.value,
        "actor": event.actor,
        "entity_id": event.entity_id,
        "address": event.address,
        "txn_id": event.txn_id,
        "reason": event.reason,
        "detail": dict(event.detail),
    }
