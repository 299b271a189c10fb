"""An event of the audit as a sentence: who did what, to whom."""

import json
from collections.abc import Mapping
from typing import Final

from mudra.audit.event import EventName, Outcome
from mudra.audit.search import AuditRow

_E = EventName
_DONE: Final[Mapping[EventName, str]] = {
    _E.USER_ACCOUNT_ONBOARD: "{actor} made an account for {person}",
    _E.USER_ACCOUNT_CHANGE: "{actor} changed the account of {person}: {change}",
    _E.USER_LINK_SEND: "{actor} had a link sent to {person}",
    _E.USER_LINK_USE: "{person} used a link from an email",
    _E.USER_LINK_REFUSE: "A link from an email was refused",
    _E.USER_PASSWORD_SET: "{person} set a password",
    _E.USER_PASSWORD_FORGOT: "{person} asked for a link to a new password",
    _E.USER_PASSWORD_REHASH: "The password of {person} was hashed again",
    _E.USER_PASSWORD_DISABLE: "The password of {person} was disabled after 100 failures",
    _E.USER_SIGN_IN_SUCCEED: "{person} signed in",
    _E.USER_SIGN_IN_REFUSE: "A sign-in was refused",
    _E.USER_FACTOR_ADD: "{person} added a second factor",
    _E.USER_FACTOR_REMOVE: "{actor} removed a second factor of {person}",
    _E.USER_FACTOR_USE: "{person} used a second factor",
    _E.USER_FACTOR_REFUSE: "A second factor of {person} was refused",
    _E.USER_RECOVERY_RENEW: "{person} made new recovery codes",
    _E.USER_SESSION_BEGIN: "{person} began a session of the console",
    _E.USER_SESSION_END: "A session of {person} ended",
    _E.USER_TOKEN_ISSUE: "{person} got a User Access Token",
    _E.USER_ALARMS_CHANGE: "{person} changed the own alarms",
    _E.USER_TOKEN_REVOKE: "{actor} revoked a User Access Token of {person}",
    _E.ENTITY_SECRET_CREATE: "{entity} got its first secret",
    _E.ENTITY_SECRET_READ: "{actor} read the secret of {entity}",
    _E.ENTITY_SECRET_RESET: "{actor} reset the secret of {entity}",
    _E.ENTITY_SECRET_REFUSE: "{actor} was refused the secret of {entity}",
    _E.ENTITY_SECRET_RETIRE: "{actor} ended the old secret of {entity}",
    _E.ENTITY_SECRET_REMIND: "The admins of {entity} were reminded that its secret expires",
    _E.ENTITY_TOKEN_ISSUE: "{entity} got Entity Access Tokens",
    _E.ENTITY_TOKEN_REFUSE: "{entity} was refused Entity Access Tokens",
    _E.ENTITY_TOKEN_REVOKE: "{actor} revoked an Entity Access Token of {entity}",
    _E.ENTITY_TOKEN_BIND: "{entity} got a token that is bound to its key",
    _E.ENTITY_STATUS_CHANGE: "{actor} changed the status of {entity} from {from} to {to}",
    _E.ENTITY_MEMBER_ONBOARD: "{actor} onboarded {entity}",
    _E.ENTITY_ADDRESSES_CHANGE: "{actor} changed from which addresses {entity} gets tokens",
    _E.ENTITY_CONTACT_CHANGE: "{actor} changed the backup contact of {entity}",
    _E.KEYS_SIGNING_CREATE: "{actor} made a signing key",
    _E.KEYS_SIGNING_ACTIVATE: "A signing key began to sign",
    _E.KEYS_SIGNING_RETIRE: "A signing key stopped signing",
    _E.KEYS_SIGNING_DESTROY: "The private part of a signing key was destroyed",
    _E.KEYS_SIGNING_IMPORT: "{actor} imported the public key of another issuer",
    _E.KEYS_SIGNING_DROP: "{actor} dropped a signing key, with the tokens that it signed",
    _E.KEYS_MASTER_ROTATE: "{actor} encrypted rows again under the active master key",
    _E.REGISTRY_ENTRY_SUBMIT: "{actor} submitted version {version} of the entry of {entity}",
    _E.REGISTRY_ENTRY_APPROVE: "{actor} approved version {version} of the entry of {entity}",
    _E.REGISTRY_ENTRY_REJECT: "{actor} rejected version {version} of the entry of {entity}",
    _E.REGISTRY_ENTRY_SUSPEND: "{actor} suspended the membership of {entity}",
    _E.REGISTRY_ENTRY_RESTORE: "{actor} restored the membership of {entity}",
    _E.REGISTRY_ENTRY_RETIRE: "{actor} retired {entity}",
    _E.REGISTRY_ENTRY_ROLLBACK: "{actor} brought back an earlier version of the entry of {entity}",
    _E.REGISTRY_ENTRY_PROBE: "The base URL of {entity} was called to verify it",
    _E.REGISTRY_ENTRY_REFUSE: "{actor} was refused a change of the entry of {entity}",
    _E.REGISTRY_KEY_FACTOR: "The key {kid} of {entity} can be factored by anyone: {weakness}",
    _E.REGISTRY_VOCABULARY_CHANGE: "{actor} added {word} to the words that entries may use",
    _E.OPERATOR_ACCOUNT_CREATE: "{actor} made {person} an operator",
    _E.OPERATOR_ACCOUNT_CHANGE: "{actor} changed the scopes of {person} to {scopes}",
    _E.OPERATOR_SIGN_IN_SUCCEED: "{actor} signed in by single sign-on",
    _E.OPERATOR_SIGN_IN_REFUSE: "{actor} asked for what needs another scope",
    _E.METRICS_REPORT_ACCEPT: "A report of {entity} was stored",
    _E.METRICS_REPORT_REFUSE: "A report of {entity} was refused",
    _E.METRICS_REPORT_REMOVE: "{actor} removed a damaged report of {entity}",
    _E.METRICS_HELD_REPORT_ADMIT: "{actor} accepted a held report of {entity}",
    _E.METRICS_HELD_REPORT_REFUSE: "{actor} refused a held report of {entity}",
    _E.METRICS_INCIDENT_ACKNOWLEDGE: "{actor} took an incident",
    _E.METRICS_INCIDENT_HAND_OVER: "{actor} handed an incident over",
    _E.METRICS_INCIDENT_COMMENT: "{actor} commented on an incident",
    _E.METRICS_INCIDENT_CLOSE: "{actor} closed an incident by hand",
    _E.METRICS_INCIDENT_REOPEN: "{actor} reopened an incident",
    _E.METRICS_INCIDENT_REVIEW: "{actor} wrote the post-mortem of an incident",
    _E.METRICS_SILENCE_BEGIN: "{actor} started a silence or a planned maintenance",
    _E.METRICS_SILENCE_END: "{actor} ended a silence or a planned maintenance",
    _E.METRICS_ANNOUNCEMENT_PUBLISH: "{actor} published the announcement “{title}”",
    _E.METRICS_ANNOUNCEMENT_CHANGE: "{actor} changed the announcement “{title}”",
    _E.METRICS_ANNOUNCEMENT_END: "{actor} ended an announcement",
    _E.METRICS_ANNOUNCEMENT_UPDATE: "{actor} added an update to an announcement",
    _E.METRICS_FIPS_FOLLOW: "{actor} changed which FIPs {entity} follows",
    _E.METRICS_WEBHOOK_ADD: "{actor} added a webhook",
    _E.METRICS_WEBHOOK_REMOVE: "{actor} removed a webhook",
    _E.METRICS_WEBHOOK_ROTATE: "{actor} gave a webhook a new signing secret",
    _E.METRICS_WEBHOOK_RESEND: "{actor} had an event sent to a webhook again",
    _E.METRICS_WEBHOOK_TEST: "{actor} sent a test message to a webhook",
    _E.DISPUTE_CASE_RAISE: "{actor} raised a dispute or published a comment for {entity}",
    _E.DISPUTE_CASE_INFORM: "{actor} added to the statement of {entity} in a dispute",
    _E.DISPUTE_CASE_WITHDRAW: "{actor} withdrew a dispute or a comment of {entity}",
    _E.DISPUTE_CASE_REVIEW: "{actor} took a dispute of {entity}",
    _E.DISPUTE_CASE_ASK: "{actor} asked {entity} for more information about a dispute",
    _E.DISPUTE_CASE_ANSWER: "{actor} wrote to {entity} about a dispute or a comment",
    _E.DISPUTE_CASE_DECIDE: "{actor} decided a dispute of {entity}: {state}",
    _E.DISPUTE_CASE_REOPEN: "{actor} reopened a dispute of {entity}",
    _E.DISPUTE_CASE_LAPSE: "A dispute of {entity} lapsed without an answer to a question",
    _E.DISPUTE_CASE_DELAY: "The operator did not act in time on a dispute of {entity}",
    _E.DISPUTE_EVIDENCE_ADD: "{actor} attached a file to a dispute of {entity}",
    _E.DISPUTE_EVIDENCE_READ: "{actor} read a file of a dispute of {entity}",
    _E.SERVICE_RELEASE_START: "Another version of Mudra began to run: {version}",
    _E.LEVELS_TARGET_SET: "{actor} set a target of service levels: {measure}",
    _E.LEVELS_TARGET_END: "{actor} ended a target of service levels: {measure}",
    _E.LEVELS_REPORT_MAKE: "A report of service levels was made and signed",
    _E.LEVELS_RULE_SET: "{actor} set the rule of service levels",
    _E.LEVELS_BUDGET_ALARM: "The error budget of {entity} was reported as {outlook}",
    _E.MAIL_LETTER_RETRY: "{actor} had an email sent again",
    _E.MAIL_LETTER_SEND: "{actor} sent a test email",
    _E.AUDIT_CHAIN_VERIFY: "{actor} verified the audit",
    _E.AUDIT_EPOCH_OPEN: "The audit began a new epoch",
    _E.AUDIT_RESTORE_CONFIRM: "{actor} confirmed a restore that took events back",
    _E.AUDIT_RECORD_EXPORT: "{actor} exported events of the audit",
    _E.AUDIT_RANGE_ARCHIVE: "A range of the audit was written to a signed file",
    _E.AUDIT_RANGE_DROP: "{actor} dropped an archived range of the audit",
    _E.AUDIT_TOKENS_PACK: "Issued tokens were packed into a block of the audit",
    _E.AUDIT_TOKENS_DROP: "Old blocks of issued tokens were dropped",
    _E.DATABASE_BACKUP_RESTORE: "The service was restored to an earlier state",
    _E.DATABASE_PLACE_MOVE: "{actor} stated that the database was moved whole",
    _E.SANDBOX_CLOCK_ADVANCE: "{actor} moved the clock of the sandbox",
    _E.SANDBOX_HISTORY_FILL: "{actor} filled the sandbox with traffic of the past",
    _E.SANDBOX_FAULT_ON: "{actor} switched a fault on for {entity}",
    _E.SANDBOX_FAULT_OFF: "{actor} switched a fault of {entity} off",
}
_OTHERWISE: Final = {Outcome.REFUSED.value: "Refused", Outcome.FAILED.value: "Failed"}


class _Facts(dict[str, str]):
    """The facts of one event; what an older event does not say is left out of its sentence."""

    def __missing__(self, name: str) -> str:
        return "?"


def event_sentence(row: AuditRow, actor: str, person: str, entity: str) -> str:
    """Returns who did what; an event of a later version by its code."""
    if row.event not in tuple(EventName):
        return row.event
    facts = _Facts({name: _plain(value) for name, value in row.detail.items()})
    facts |= {"actor": actor, "person": person or actor, "entity": entity or "no member"}
    done = _DONE[EventName(row.event)].format_map(facts)
    done = done.removesuffix(": ?").replace(" version ? of", "").replace(" “?”", "")
    is_said = "refused" in done or row.outcome not in _OTHERWISE
    if not is_said:
        return f"{_OTHERWISE[row.outcome]}: {done}"
    is_address = "@" in done.partition(" ")[0]
    return done if is_address else f"{done[:1].upper()}{done[1:]}"


def detail_json(detail: Mapping[str, object]) -> str:
    """Returns the detail of an event as JSON, without empty fields; empty for none."""
    filled = {name: value for name, value in detail.items() if value not in ("", None, [], {})}
    return json.dumps(filled, ensure_ascii=False, default=str) if filled else ""


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
