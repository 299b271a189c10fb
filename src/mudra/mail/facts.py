"""The facts of each kind of email, which its template may use.

An operator's own templates may use the same, and `network`, `contact` and
`console` (its address) everywhere. Times are ISO 8601 in UTC; the filter `when` formats them for
people.
"""

from collections.abc import Mapping
from typing import Final

from mudra.shared.mail.mail_text import unsafe_in_mail
from mudra.shared.mail.notice import Notice, NoticeKind
from mudra.shared.secret_text import SecretText

_OF_SECRET: Final = ("user_name", "entity_id", "entity_name")
FACTS: Final[Mapping[NoticeKind, tuple[str, ...]]] = {
    NoticeKind.INVITATION: ("user_name", "entity_name", "link", "valid_hours"),
    NoticeKind.ACCOUNT_INVITATION: ("user_name", "link", "valid_hours"),
    # takes_over is "yes" or empty: the one who invites loses the role by the acceptance.
    # reads_only is "yes" for a reader, who changes nothing, or empty.
    NoticeKind.ADMIN_INVITATION: (
        *("user_name", "entity_name", "invited_by", "link", "valid_hours"),
        *("takes_over", "reads_only"),
    ),
    NoticeKind.ADMIN_INVITED: (*_OF_SECRET, "invited", "invited_by", "takes_over", "reads_only"),
    # status is active, suspended or retired; reason may be empty.
    NoticeKind.MEMBER_STATUS: (*_OF_SECRET, "status", "reason", "changed_at"),
    NoticeKind.INVITATION_DECLINED: (*_OF_SECRET, "invited", "takes_over", "reads_only"),
    NoticeKind.ADMIN_HANDED_OVER: (*_OF_SECRET, "leaving", "successor"),
    # change is added, removed, replaced or moved (to another address); former is who was replaced
    # or the address before, or empty.
    NoticeKind.ADMINS_CHANGED: (*_OF_SECRET, "change", "person", "former", "changed_at"),
    # old_contact, new_contact and changed_by may be empty; the latter for the operator.
    NoticeKind.CONTACT_CHANGED: (
        *(*_OF_SECRET, "old_contact", "new_contact"),
        *("changed_by", "changed_at"),
    ),
    # manages_secrets is "yes" or empty.
    NoticeKind.PASSWORD_RESET: ("user_name", "link", "valid_hours", "manages_secrets"),
    NoticeKind.PASSWORD_CHANGED: ("user_name",),
    # old_secret_ends_at is empty when the old secret ended at once.
    NoticeKind.SECRET_RESET: (
        *_OF_SECRET,
        *("reset_by", "reset_at", "expires_at", "old_secret_ends_at"),
    ),
    NoticeKind.SECRET_EXPIRY: (*_OF_SECRET, "expires_at", "days_left", "written_at"),
    NoticeKind.SECRET_EXPIRED: (*_OF_SECRET, "expires_at"),
    NoticeKind.OLD_SECRET_IN_USE: (
        *_OF_SECRET,
        *("ends_at", "last_used_at", "use_count", "address_count"),
    ),
    NoticeKind.SIGN_IN_WAITS: ("user_name", "failures", "last_failure_at"),
    # over is empty while the incident is open, entity_id for alarms of the whole network.
    NoticeKind.HEALTH_ALARM: ("title", "story", "entity_id", "over", "severity", "link"),
    # incidents and pages have " | " between them, one page for each incident; more is empty
    # when all are listed, worst when none is open; severity is that of the worst.
    NoticeKind.HEALTH_DIGEST: (
        *("open", "over", "worst", "severity", "incidents", "pages", "more", "link"),
    ),
    # reason and changes may be empty; waits is "yes" or empty: the operator must approve it.
    NoticeKind.REGISTRY_CHANGED: (
        *_OF_SECRET,
        # operator_name is empty unless an operator did it.
        *("what", "waits", "done_by", "operator_name", "done_at", "reason", "changes"),
        # withdrawn is the number of a scheduled version, or empty, and so is its time.
        *("withdrawn", "withdrawn_due_at"),
    ),
    # named is "yes" or empty: whether a setting names the address.
    NoticeKind.HEALTH_ESCALATED: (
        *("number", "worst", "severity", "incidents", "pages", "minutes", "named", "link"),
    ),
    NoticeKind.REPORT_HELD: (*_OF_SECRET, "window", "claimed", "plausible", "what"),
    # secret_lost is "yes" or empty.
    NoticeKind.SERVICE_RESTORED: (*_OF_SECRET, "restored_to", "restored_at", "secret_lost"),
    NoticeKind.ADDRESS_CHANGED: ("user_name", "old_address", "new_address"),
    NoticeKind.ADDRESS_CONFIRM: ("user_name", "new_address", "link", "valid_hours"),
    # enforced is "yes" or empty.
    NoticeKind.ADDRESSES_BOUND: (
        *_OF_SECRET,
        *("enforced", "changed_by", "changed_at", "listed"),
    ),
    NoticeKind.SECOND_FACTOR: ("user_name", "what"),
    # institution is empty for the whole network, webhook is "yes" or empty.
    NoticeKind.SUBSCRIPTION_CONFIRM: ("institution", "webhook", "link", "valid_hours"),
    # over is "yes" or empty; the link is that of the status then.
    NoticeKind.SUBSCRIPTION_FAILING: ("institution", "over", "days", "link"),
    # effect is disrupted, possibly-disrupted or degraded; apis is empty for all of them; over is
    # recovered, changed, no-data, merged or withdrawn; over and ended are empty while it goes on.
    NoticeKind.STATUS_INCIDENT: (
        *("institution", "effect", "symptom", "apis", "over", "began", "ended"),
        *("link", "end_link"),
    ),
    # kind is information, incident or maintenance; institutions is empty for the whole network;
    # begins and ends may be empty; update is what was added last, or empty; over is "yes" where
    # that ended it.
    NoticeKind.STATUS_ANNOUNCEMENT: (
        *("kind", "title", "text", "update", "over", "institutions", "begins", "ends"),
        *("link", "end_link"),
    ),
    # entity_name is empty for operators. kind is comment or dispute, about is incident, day or
    # line, apis their English names, or empty; act and state are those of the API; said and due_at
    # may be empty; waits_for is member,
    # operator or, where no one has the next step, service. page is below that of the console.
    NoticeKind.DISPUTE_STEP: (
        *(*_OF_SECRET, "kind", "about", "apis", "since", "until", "act", "by", "state"),
        *("said", "due_at", "waits_for", "page"),
    ),
    NoticeKind.LEVELS_BUDGET: ("title", "story", "entity_id", "over", "severity", "link"),
    # entity_name is empty for the network; from_day and to_day are days of the network's zone,
    # missed is empty where no target was missed.
    NoticeKind.LEVELS_REPORT: (*_OF_SECRET, "from_day", "to_day", "version", "missed", "page"),
}

_PEOPLE: Final = "to the member's admins and contact"
OCCASIONS: Final[Mapping[NoticeKind, str]] = {
    NoticeKind.INVITATION: "A member was onboarded: to its designated admin.",
    NoticeKind.ACCOUNT_INVITATION: "An operator's account was made: to the operator.",
    NoticeKind.PASSWORD_RESET: "A person asked for a new password: to this person.",
    NoticeKind.PASSWORD_CHANGED: "A password was set: to the person.",
    NoticeKind.SECRET_RESET: f"A secret was reset: {_PEOPLE}.",
    NoticeKind.SECRET_EXPIRY: f"30, 14, 7, 3 and 1 days before a secret expires: {_PEOPLE}.",
    NoticeKind.SECRET_EXPIRED: f"Once after a secret has expired: {_PEOPLE}.",
    NoticeKind.OLD_SECRET_IN_USE: f"The old secret is in use shortly before its end: {_PEOPLE}.",
    NoticeKind.SIGN_IN_WAITS: "Many sign-ins to an account failed in a row: to its person.",
    NoticeKind.HEALTH_ALARM: "An incident began, moved or ended: to those whose alarms include it.",
    NoticeKind.SUBSCRIPTION_CONFIRM: "Someone subscribed to the public status: to this address.",
    NoticeKind.SUBSCRIPTION_FAILING: (
        "A subscriber's webhook took nothing for a day, or for three: to its email address."
    ),
    NoticeKind.STATUS_INCIDENT: "A public incident began or ended: to confirmed subscribers.",
    NoticeKind.STATUS_ANNOUNCEMENT: "An operator announced something: to confirmed subscribers.",
    NoticeKind.HEALTH_ESCALATED: (
        "No one acknowledged an incident in time: to operators whose alarms include it, or to the "
        "addresses of `MUDRA_HEALTH_ESCALATION_TO`."
    ),
    NoticeKind.HEALTH_DIGEST: (
        "Many alarms at once, or those of quiet hours: to those whose alarms include them."
    ),
    NoticeKind.ADMIN_INVITATION: "An admin invites another person: to the person invited.",
    NoticeKind.ADMIN_INVITED: f"A person was invited to administer or read an entity: {_PEOPLE}.",
    NoticeKind.MEMBER_STATUS: f"The operator suspended, restored or retired a member: {_PEOPLE}.",
    NoticeKind.INVITATION_DECLINED: "An invitation was declined: to the admin who sent it.",
    NoticeKind.ADMIN_HANDED_OVER: (
        "A hand-over was accepted: to the member's admins and contact, the former admin too."
    ),
    NoticeKind.ADMINS_CHANGED: (
        "The operator changed who administers a member: to the member's admins, those removed too, "
        "and its contact; not to the new admin."
    ),
    NoticeKind.CONTACT_CHANGED: "The contact got another address: to the admins and both contacts.",
    NoticeKind.REPORT_HELD: (
        "A report of an AA was held as implausible: to the AA's admins and contact, once however "
        "many reports wait."
    ),
    NoticeKind.ADDRESS_CHANGED: "An account got another address: to the old one and the new one.",
    NoticeKind.ADDRESS_CONFIRM: "An account is to get another address: to the new one.",
    NoticeKind.REGISTRY_CHANGED: f"A registry entry was submitted, decided or ended: {_PEOPLE}.",
    NoticeKind.SERVICE_RESTORED: (
        "The service was restored to an earlier state: to the admins and contact of each member."
    ),
    NoticeKind.SECOND_FACTOR: "A second factor or a passkey of an account changed: to its person.",
    NoticeKind.DISPUTE_STEP: (
        f"A comment or dispute took a step, or is overdue: {_PEOPLE}; and to operators with the "
        "scope `health`, unless an operator took the step."
    ),
    NoticeKind.ADDRESSES_BOUND: f"Addresses of an entity are enforced, or no longer: {_PEOPLE}.",
    NoticeKind.LEVELS_BUDGET: (
        "A month's error budget will be gone before its end, or is gone: to those whose alarms "
        "include it (*minor*, once it is gone *major*)."
    ),
    NoticeKind.LEVELS_REPORT: (
        "The service made a report of a month: to the member's admins and readers (that of the "
        "network to operators with the scope `health`) who want such emails."
    ),
}
"""When each is sent, for the reference."""


class EmailFactsError(ValueError):
    """An email cannot be composed: names the email and the fact, never its value."""


def hidden_facts(notice: Notice, hidden: str) -> dict[str, str]:
    """Returns what replaces the secret facts of a notice where others read it."""
    return {name: hidden for name, value in notice.facts.items() if isinstance(value, SecretText)}


def checked_facts(notice: Notice) -> dict[str, str]:
    """Return the facts of a notice as text; raises EmailFactsError if one is missing or unsafe."""
    missing = [name for name in FACTS[notice.kind] if name not in notice.facts]
    if missing:
        raise EmailFactsError(f"the email {notice.kind} needs the facts {', '.join(missing)}")
    texts = {
        name: value.reveal() if isinstance(value, SecretText) else value
        for name, value in notice.facts.items()
    }
    for name, value in texts.items():
        if unsafe_in_mail(value):
            # Such a value could add headers or recipients.
            raise EmailFactsError(
                f"the fact {name} of the email {notice.kind} "
                "must hold no control characters and no '=?'"
            )
    return texts
