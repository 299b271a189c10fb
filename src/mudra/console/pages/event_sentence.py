"""An event of the audit as a sentence: who did what, to whom."""

import json
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Final

from mudra.audit.event import EventName, Outcome
from mudra.audit.search import AuditRow
from mudra.console.framework.render import day_text
from mudra.localization.display_zone import display_zone
from mudra.localization.language import current, gettext, translatable

PERSON: Final = "user"
"""In the detail of an event: the ID of the person whom it concerns."""
_ANONYMOUS: Final = "nobody"
_OF_INCIDENT: Final = "metrics:incident:"
_E = EventName
_DONE: Final[Mapping[EventName, str]] = {
    _E.USER_ACCOUNT_ONBOARD: translatable("%(actor)s made an account for %(person)s"),
    _E.USER_ACCOUNT_CHANGE: translatable("%(actor)s changed the account of %(person)s: %(change)s"),
    _E.USER_LINK_SEND: translatable("%(actor)s had a link sent to %(person)s"),
    _E.USER_LINK_USE: translatable("%(person)s used a link from an email"),
    _E.USER_LINK_REFUSE: translatable("A link from an email was refused"),
    _E.USER_PASSWORD_SET: translatable("%(person)s set a password"),
    _E.USER_PASSWORD_FORGOT: translatable("%(person)s asked for a link to a new password"),
    _E.USER_PASSWORD_REHASH: translatable("The password of %(person)s was hashed again"),
    _E.USER_PASSWORD_DISABLE: translatable(
        "The password of %(person)s was disabled after 100 failures"
    ),
    _E.USER_SIGN_IN_SUCCEED: translatable("%(person)s signed in"),
    _E.USER_SIGN_IN_REFUSE: translatable("A sign-in was refused"),
    _E.USER_FACTOR_ADD: translatable("%(person)s added a second factor"),
    _E.USER_FACTOR_REMOVE: translatable("%(actor)s removed a second factor of %(person)s"),
    _E.USER_FACTOR_USE: translatable("%(person)s used a second factor"),
    _E.USER_FACTOR_REFUSE: translatable("A second factor of %(person)s was refused"),
    _E.USER_RECOVERY_RENEW: translatable("%(person)s made new recovery codes"),
    _E.USER_SESSION_BEGIN: translatable("%(person)s signed in to the console"),
    _E.USER_SESSION_END: translatable("A session of %(person)s ended"),
    _E.USER_TOKEN_ISSUE: translatable("%(person)s got a User Access Token"),
    _E.USER_ALARMS_CHANGE: translatable("%(person)s changed the own alarms"),
    _E.USER_TOKEN_REVOKE: translatable("%(actor)s revoked a User Access Token of %(person)s"),
    _E.ENTITY_SECRET_CREATE: translatable("%(entity)s got its first secret"),
    _E.ENTITY_SECRET_READ: translatable("%(actor)s read the secret of %(entity)s"),
    _E.ENTITY_SECRET_RESET: translatable("%(actor)s reset the secret of %(entity)s"),
    _E.ENTITY_SECRET_REFUSE: translatable("%(actor)s was refused the secret of %(entity)s"),
    _E.ENTITY_SECRET_RETIRE: translatable("%(actor)s ended the old secret of %(entity)s"),
    _E.ENTITY_SECRET_REMIND: translatable(
        "The admins of %(entity)s were reminded that its secret expires"
    ),
    _E.ENTITY_TOKEN_ISSUE: translatable("%(entity)s got Entity Access Tokens"),
    _E.ENTITY_TOKEN_REFUSE: translatable("%(entity)s was refused Entity Access Tokens"),
    _E.ENTITY_TOKEN_REVOKE: translatable("%(actor)s revoked an Entity Access Token of %(entity)s"),
    _E.ENTITY_TOKEN_BIND: translatable("%(entity)s got a token that is bound to its key"),
    _E.ENTITY_STATUS_CHANGE: translatable(
        "%(actor)s changed the status of %(entity)s from %(from)s to %(to)s"
    ),
    _E.ENTITY_MEMBER_ONBOARD: translatable("%(actor)s onboarded %(entity)s"),
    _E.ENTITY_ADDRESSES_CHANGE: translatable(
        "%(actor)s changed from which addresses %(entity)s gets tokens"
    ),
    _E.ENTITY_CONTACT_CHANGE: translatable("%(actor)s changed the backup contact of %(entity)s"),
    _E.KEYS_SIGNING_CREATE: translatable("%(actor)s made a signing key"),
    _E.KEYS_SIGNING_ACTIVATE: translatable("A signing key began to sign"),
    _E.KEYS_SIGNING_RETIRE: translatable("A signing key stopped signing"),
    _E.KEYS_SIGNING_DESTROY: translatable("The private part of a signing key was destroyed"),
    _E.KEYS_SIGNING_IMPORT: translatable("%(actor)s imported the public key of another issuer"),
    _E.KEYS_SIGNING_DROP: translatable(
        "%(actor)s dropped a signing key, with the tokens that it signed"
    ),
    _E.KEYS_MASTER_ROTATE: translatable(
        "%(actor)s encrypted rows again under the active master key"
    ),
    _E.REGISTRY_ENTRY_SUBMIT: translatable(
        "%(actor)s submitted version %(version)s of the entry of %(entity)s"
    ),
    _E.REGISTRY_ENTRY_APPROVE: translatable(
        "%(actor)s approved version %(version)s of the entry of %(entity)s"
    ),
    _E.REGISTRY_ENTRY_REJECT: translatable(
        "%(actor)s rejected version %(version)s of the entry of %(entity)s"
    ),
    _E.REGISTRY_ENTRY_SUSPEND: translatable("%(actor)s suspended the membership of %(entity)s"),
    _E.REGISTRY_ENTRY_RESTORE: translatable("%(actor)s restored the membership of %(entity)s"),
    _E.REGISTRY_ENTRY_RETIRE: translatable("%(actor)s retired %(entity)s"),
    _E.REGISTRY_ENTRY_ROLLBACK: translatable(
        "%(actor)s brought back an earlier version of the entry of %(entity)s"
    ),
    _E.REGISTRY_ENTRY_PROBE: translatable("The base URL of %(entity)s was called to verify it"),
    _E.REGISTRY_ENTRY_REFUSE: translatable(
        "%(actor)s was refused a change of the entry of %(entity)s"
    ),
    _E.REGISTRY_KEY_FACTOR: translatable(
        "The key %(kid)s of %(entity)s can be factored by anyone: %(weakness)s"
    ),
    _E.REGISTRY_VOCABULARY_CHANGE: translatable(
        "%(actor)s added %(word)s to the words that entries may use"
    ),
    _E.OPERATOR_ACCOUNT_CREATE: translatable("%(actor)s made %(person)s an operator"),
    _E.OPERATOR_ACCOUNT_CHANGE: translatable(
        "%(actor)s changed the scopes of %(person)s to %(scopes)s"
    ),
    _E.OPERATOR_SIGN_IN_SUCCEED: translatable("%(actor)s signed in by single sign-on"),
    _E.OPERATOR_SIGN_IN_REFUSE: translatable("%(actor)s asked for what needs another scope"),
    _E.METRICS_REPORT_ACCEPT: translatable(
        "A report of %(entity)s was stored, receipt %(receipt)s…"
    ),
    _E.METRICS_REPORT_REFUSE: translatable("A report of %(entity)s was refused"),
    _E.METRICS_REPORT_REMOVE: translatable("%(actor)s removed a damaged report of %(entity)s"),
    _E.METRICS_HELD_REPORT_ADMIT: translatable("%(actor)s accepted a held report of %(entity)s"),
    _E.METRICS_HELD_REPORT_REFUSE: translatable("%(actor)s refused a held report of %(entity)s"),
    _E.METRICS_INCIDENT_ACKNOWLEDGE: translatable("%(actor)s took the incident %(incident)s"),
    _E.METRICS_INCIDENT_HAND_OVER: translatable(
        "%(actor)s handed the incident %(incident)s over to %(owner)s"
    ),
    _E.METRICS_INCIDENT_COMMENT: translatable("%(actor)s commented on the incident %(incident)s"),
    _E.METRICS_INCIDENT_CLOSE: translatable("%(actor)s closed the incident %(incident)s by hand"),
    _E.METRICS_INCIDENT_REOPEN: translatable("%(actor)s reopened the incident %(incident)s"),
    _E.METRICS_INCIDENT_REVIEW: translatable(
        "%(actor)s wrote the post-mortem of the incident %(incident)s"
    ),
    _E.METRICS_SILENCE_BEGIN: translatable("%(actor)s silenced the alarms about %(entity)s"),
    _E.METRICS_SILENCE_CHANGE: translatable(
        "%(actor)s changed a planned maintenance of %(entity)s"
    ),
    _E.METRICS_SILENCE_END: translatable(
        "%(actor)s ended a silence or a planned maintenance of %(entity)s"
    ),
    _E.METRICS_ANNOUNCEMENT_PUBLISH: translatable(
        "%(actor)s published the announcement “%(title)s”"
    ),
    _E.METRICS_ANNOUNCEMENT_CHANGE: translatable("%(actor)s changed the announcement “%(title)s”"),
    _E.METRICS_ANNOUNCEMENT_END: translatable("%(actor)s ended the announcement “%(title)s”"),
    _E.METRICS_ANNOUNCEMENT_UPDATE: translatable(
        "%(actor)s added an update to the announcement “%(title)s”"
    ),
    _E.METRICS_FIPS_FOLLOW: translatable("%(actor)s changed which FIPs %(entity)s follows"),
    _E.METRICS_WEBHOOK_ADD: translatable("%(actor)s added a webhook of %(member)s"),
    _E.METRICS_WEBHOOK_REMOVE: translatable("%(actor)s removed a webhook of %(member)s"),
    _E.METRICS_WEBHOOK_ROTATE: translatable(
        "%(actor)s gave a webhook of %(member)s a new signing secret"
    ),
    _E.METRICS_WEBHOOK_RESEND: translatable(
        "%(actor)s had an event sent to a webhook of %(member)s again"
    ),
    _E.METRICS_WEBHOOK_TEST: translatable(
        "%(actor)s sent a test message to a webhook of %(member)s"
    ),
    _E.METRICS_CAPACITY_NOTICE: translatable("a notice about capacity was sent"),
    _E.METRICS_CAPACITY_OVER: translatable("a notice about capacity ended"),
    _E.DISPUTE_CASE_RAISE: translatable(
        "%(actor)s raised a dispute or published a comment for %(entity)s"
    ),
    _E.DISPUTE_CASE_INFORM: translatable(
        "%(actor)s added to the statement of %(entity)s in a dispute"
    ),
    _E.DISPUTE_CASE_WITHDRAW: translatable(
        "%(actor)s withdrew a dispute or a comment of %(entity)s"
    ),
    _E.DISPUTE_CASE_REVIEW: translatable("%(actor)s took a dispute of %(entity)s"),
    _E.DISPUTE_CASE_ASK: translatable(
        "%(actor)s asked %(entity)s for more information about a dispute"
    ),
    _E.DISPUTE_CASE_ANSWER: translatable(
        "%(actor)s wrote to %(entity)s about a dispute or a comment"
    ),
    _E.DISPUTE_CASE_DECIDE: translatable("%(actor)s decided a dispute of %(entity)s: %(state)s"),
    _E.DISPUTE_CASE_REOPEN: translatable("%(actor)s reopened a dispute of %(entity)s"),
    _E.DISPUTE_CASE_LAPSE: translatable(
        "A dispute of %(entity)s lapsed without an answer to a question"
    ),
    _E.DISPUTE_CASE_DELAY: translatable(
        "The operator did not act in time on a dispute of %(entity)s"
    ),
    _E.DISPUTE_EVIDENCE_ADD: translatable("%(actor)s attached a file to a dispute of %(entity)s"),
    _E.DISPUTE_EVIDENCE_READ: translatable("%(actor)s read a file of a dispute of %(entity)s"),
    _E.SERVICE_RELEASE_START: translatable("Another version of Mudra began to run: %(version)s"),
    _E.LEVELS_TARGET_SET: translatable(
        "%(actor)s set a target of service levels for each %(role)s: %(measure)s %(value)s"
    ),
    _E.LEVELS_TARGET_END: translatable("%(actor)s ended a target of service levels: %(measure)s"),
    _E.LEVELS_REPORT_MAKE: translatable(
        "%(actor)s made the service level report of %(entity)s, %(period)s"
    ),
    _E.LEVELS_RULE_SET: translatable(
        "%(actor)s set the rule of service levels from %(day)s: maintenance with %(noticeHours)s h "
        "of notice, at most %(hoursAMonth)s h in 30 days"
    ),
    _E.LEVELS_BUDGET_ALARM: translatable(
        "The error budget of %(entity)s was reported as %(outlook)s"
    ),
    _E.MAIL_LETTER_RETRY: translatable("%(actor)s had an email sent again"),
    _E.MAIL_LETTER_SEND: translatable("%(actor)s sent a test email"),
    _E.AUDIT_CHAIN_VERIFY: translatable("%(actor)s verified the audit"),
    _E.AUDIT_EPOCH_OPEN: translatable("The audit began a new epoch"),
    _E.AUDIT_RESTORE_CONFIRM: translatable("%(actor)s confirmed a restore that took events back"),
    _E.AUDIT_RECORD_EXPORT: translatable("%(actor)s exported events of the audit"),
    _E.AUDIT_RANGE_ARCHIVE: translatable("A range of the audit was written to a signed file"),
    _E.AUDIT_RANGE_DROP: translatable("%(actor)s dropped an archived range of the audit"),
    _E.AUDIT_TOKENS_PACK: translatable("Issued tokens were packed into a block of the audit"),
    _E.AUDIT_TOKENS_DROP: translatable("Old blocks of issued tokens were dropped"),
    _E.DATABASE_BACKUP_RESTORE: translatable("The service was restored to an earlier state"),
    _E.DATABASE_PLACE_MOVE: translatable("%(actor)s stated that the database was moved whole"),
    _E.SANDBOX_CLOCK_ADVANCE: translatable("%(actor)s moved the clock of the sandbox"),
    _E.SANDBOX_HISTORY_FILL: translatable("%(actor)s filled the sandbox with traffic of the past"),
    _E.SANDBOX_FAULT_ON: translatable("%(actor)s switched a fault on for %(entity)s"),
    _E.SANDBOX_FAULT_OFF: translatable("%(actor)s switched a fault of %(entity)s off"),
}
_SHORTER: Final[Mapping[EventName, str]] = {
    _E.METRICS_REPORT_ACCEPT: translatable("A report of %(entity)s was stored"),
    _E.USER_ACCOUNT_CHANGE: translatable("%(actor)s changed the account of %(person)s"),
    _E.ENTITY_STATUS_CHANGE: translatable("%(actor)s changed the status of %(entity)s"),
    _E.REGISTRY_ENTRY_SUBMIT: translatable(
        "%(actor)s submitted a change of the entry of %(entity)s"
    ),
    _E.REGISTRY_ENTRY_APPROVE: translatable("%(actor)s approved the entry of %(entity)s"),
    _E.REGISTRY_ENTRY_REJECT: translatable("%(actor)s rejected the entry of %(entity)s"),
    _E.REGISTRY_KEY_FACTOR: translatable("A key of %(entity)s can be factored by anyone"),
    _E.REGISTRY_VOCABULARY_CHANGE: translatable("%(actor)s changed the words that entries may use"),
    _E.OPERATOR_ACCOUNT_CHANGE: translatable("%(actor)s changed the scopes of %(person)s"),
    _E.METRICS_ANNOUNCEMENT_PUBLISH: translatable("%(actor)s published an announcement"),
    _E.METRICS_ANNOUNCEMENT_CHANGE: translatable("%(actor)s changed an announcement"),
    _E.DISPUTE_CASE_DECIDE: translatable("%(actor)s decided a dispute of %(entity)s"),
    _E.SERVICE_RELEASE_START: translatable("Another version of Mudra began to run"),
    _E.METRICS_ANNOUNCEMENT_END: translatable("%(actor)s ended an announcement"),
    _E.METRICS_ANNOUNCEMENT_UPDATE: translatable("%(actor)s added an update to an announcement"),
    _E.METRICS_INCIDENT_ACKNOWLEDGE: translatable("%(actor)s took an incident"),
    _E.METRICS_INCIDENT_HAND_OVER: translatable("%(actor)s handed an incident over"),
    _E.METRICS_INCIDENT_COMMENT: translatable("%(actor)s commented on an incident"),
    _E.METRICS_INCIDENT_CLOSE: translatable("%(actor)s closed an incident by hand"),
    _E.METRICS_INCIDENT_REOPEN: translatable("%(actor)s reopened an incident"),
    _E.METRICS_INCIDENT_REVIEW: translatable("%(actor)s wrote the post-mortem of an incident"),
    _E.METRICS_WEBHOOK_ADD: translatable("%(actor)s added a webhook"),
    _E.METRICS_WEBHOOK_REMOVE: translatable("%(actor)s removed a webhook"),
    _E.METRICS_WEBHOOK_ROTATE: translatable("%(actor)s gave a webhook a new signing secret"),
    _E.METRICS_WEBHOOK_RESEND: translatable("%(actor)s had an event sent to a webhook again"),
    _E.METRICS_WEBHOOK_TEST: translatable("%(actor)s sent a test message to a webhook"),
    _E.LEVELS_REPORT_MAKE: translatable("%(actor)s made a service level report of %(entity)s"),
    _E.LEVELS_RULE_SET: translatable("%(actor)s set the rule of service levels"),
    _E.LEVELS_TARGET_SET: translatable("%(actor)s set a target of service levels"),
    _E.LEVELS_TARGET_END: translatable("%(actor)s ended a target of service levels"),
    _E.LEVELS_BUDGET_ALARM: translatable("The error budget of %(entity)s was reported"),
}
"""What is said of an event whose detail lacks what the longer sentence names: an older one."""
_CHANGES: Final[Mapping[str, str]] = {
    "address": translatable("The email address of %(person)s was changed"),
    "address-requested": translatable("%(person)s asked for another email address"),
    "admin-added": translatable("%(person)s became an admin of %(entity)s"),
    "admin-invited": translatable("%(actor)s invited an admin of %(entity)s"),
    "admin-removed": translatable("%(person)s is no longer an admin of %(entity)s"),
    "disabled": translatable("%(actor)s disabled the account of %(person)s"),
    "display zone": translatable("%(person)s chose the time zone of their pages"),
    "enabled": translatable("%(actor)s enabled the account of %(person)s"),
    "hand-over-invited": translatable("%(actor)s invited someone to take over %(entity)s"),
    "invitation-declined": translatable("An invitation to %(entity)s was declined"),
    "invitation-withdrawn": translatable("%(actor)s withdrew an invitation to %(entity)s"),
    "language": translatable("%(person)s chose the language of their pages"),
    "reader-added": translatable("%(person)s may read %(entity)s"),
    "reader-invited": translatable("%(actor)s invited a reader of %(entity)s"),
    "reader-removed": translatable("%(person)s may no longer read %(entity)s"),
    "second-factor-reset": translatable("%(actor)s reset the second factor of %(person)s"),
}
"""What a change of an account says, by its code in the detail."""
_BY_FACT: Final[Mapping[tuple[EventName, str], Mapping[str, str]]] = {
    (_E.DISPUTE_CASE_RAISE, "kind"): {
        "dispute": translatable("%(actor)s raised a dispute for %(entity)s"),
        "comment": translatable("%(actor)s published a comment for %(entity)s"),
    },
    (_E.DISPUTE_CASE_WITHDRAW, "kind"): {
        "dispute": translatable("%(actor)s withdrew a dispute of %(entity)s"),
        "comment": translatable("%(actor)s withdrew a comment of %(entity)s"),
    },
    (_E.ENTITY_TOKEN_ISSUE, "count"): {"1": translatable("%(entity)s got an Entity Access Token")},
    (_E.LEVELS_BUDGET_ALARM, "outlook"): {
        "gone": translatable("An alarm was sent: an error budget of %(entity)s is used up"),
        "burning": translatable(
            "An alarm was sent: an error budget of %(entity)s will not last the month"
        ),
    },
    (_E.METRICS_SILENCE_BEGIN, "maintenance"): {
        "true": translatable("%(actor)s announced a planned maintenance of %(entity)s"),
    },
    (_E.USER_ACCOUNT_CHANGE, "change"): _CHANGES,
}
"""What is said of an event by one fact of its detail."""
_OTHERWISE: Final = {
    Outcome.REFUSED.value: translatable("Refused: %(done)s"),
    Outcome.FAILED.value: translatable("Failed: %(done)s"),
}


_GIVEN: Final = {
    True: translatable("%(actor)s gave the incident %(incident)s to %(owner)s"),
    False: translatable("%(actor)s left the incident %(incident)s without an owner"),
}
"""What is said of an owner who is not the one who acted: another one, or none."""


def event_sentence(row: AuditRow, actor: str, person: str, entity: str, title: str = "") -> str:
    """Returns who did what; an event of a later version by its code.

    The `entity` of an act on an incident is what the incident is about; `title` is that of an
    announcement whose event does not have it.
    """
    if row.event not in tuple(EventName):
        return row.event
    facts = {name: _plain(value) for name, value in row.detail.items()}
    if entity and actor == f"entity:{row.entity_id}":
        actor = gettext("a program of %(entity)s", entity=entity)
    actor = gettext("the service") if actor.startswith("system") else actor
    facts |= {"actor": actor, "person": person or actor, "entity": entity or gettext("no member")}
    event = EventName(row.event)
    facts |= _objects(row, entity, title)
    message = _DONE[event]
    if event is _E.METRICS_INCIDENT_ACKNOWLEDGE and facts.get("owner", actor) != actor:
        message = _GIVEN[bool(facts["owner"])]
    for (of, fact), messages in _BY_FACT.items():
        if event is of:
            message = messages.get(facts.get(fact, ""), message)
    try:
        done = gettext(message, **facts)
    except KeyError:
        message = _SHORTER[event]
        done = gettext(message, **facts)
    if row.outcome in _OTHERWISE:
        why = f" ({row.reason})" if row.reason else ""
        is_said = "refused" in message
        done = f"{done if is_said else gettext(_OTHERWISE[row.outcome], done=done)}{why}"
    is_address = "@" in done.partition(" ")[0]
    return done if is_address else f"{done[:1].upper()}{done[1:]}"


def _objects(row: AuditRow, entity: str, title: str) -> dict[str, str]:
    """Returns what the act was done to, as far as it is known."""
    found = {"title": title} if title and "title" not in row.detail else {}
    if entity:
        found["incident" if is_of_incident(row) else "member"] = entity
    if "receiptId" in row.detail:
        found["receipt"] = str(row.detail["receiptId"])[:8]
    if row.event == _E.LEVELS_RULE_SET and "since" in row.detail:
        found["day"] = day_text(date.fromisoformat(str(row.detail["since"])))
    if row.event == _E.LEVELS_REPORT_MAKE and {"start", "end"} <= row.detail.keys():
        zone = display_zone().info
        first, end = (
            datetime.fromisoformat(str(row.detail[name])).astimezone(zone)
            for name in ("start", "end")
        )
        last = end - timedelta(seconds=1)
        days = [*dict.fromkeys(day_text(one.date()) for one in (first, last))]
        is_month = first.day == end.day == 1 and first.month == last.month
        if is_month:
            found["period"] = current().month(first.date())
        else:
            found["period"] = (
                days[0]
                if len(days) == 1
                else gettext("%(first)s to %(last)s", first=days[0], last=days[1])
            )
    return found


def is_of_incident(row: AuditRow) -> bool:
    """Reports whether an event is an act on an incident, whose ID is in the place of a member's."""
    return row.event.startswith(_OF_INCIDENT)


def unnamed(actor: str) -> str:
    """Returns an actor of whom no account is known; an operator by the address alone."""
    return gettext("no one signed in") if actor == _ANONYMOUS else actor.removeprefix("operator:")


def person_of(row: AuditRow) -> str:
    """Returns the person whom an event concerns, as actors are named; empty for no one."""
    return f"user:{row.detail[PERSON]}" if PERSON in row.detail else ""


def detail_json(detail: Mapping[str, object]) -> str:
    """Returns the detail of an event as JSON, without empty fields; empty for none."""
    filled = {name: value for name, value in detail.items() if value not in ("", None, [], {})}
    return json.dumps(filled, ensure_ascii=False, default=str) if filled else ""


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
