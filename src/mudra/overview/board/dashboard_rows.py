"""One thing that needs an operator's attention: what is wrong, since when, and the next step."""

import enum
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from mudra.disputes.dispute import Dispute, Side, State
from mudra.identity.memberships.member_search import ExpiringSecret, MemberRow
from mudra.levels.budgets.burn_rule import Outlook
from mudra.levels.budgets.burn_store import StoredBurn
from mudra.levels.printing.labels import measure_text
from mudra.localization.language import current, gettext, ngettext, translatable
from mudra.metrics.incidents.incident import AaReporting, StoredIncident
from mudra.metrics.incidents.subject import NO_NAMES, Names, name_of
from mudra.metrics.notifications.alarm import title_of
from mudra.metrics.notifications.webhook import Webhook
from mudra.metrics.payload.held_reports import HeldReport
from mudra.metrics.subscriptions.subscription import MAX_CONFIRMATIONS_AN_HOUR, MAX_WAITING, Crowd
from mudra.overview.mail_queue_store import QueuedMail
from mudra.registry.key_search.weak_key import WeakKey, Weakness
from mudra.registry.lifecycle.difference import in_one_line
from mudra.registry.lifecycle.pending_entries import PendingEntry

WITHIN: Final = timedelta(days=7)
URGENT: Final = timedelta(days=2)


class Kind(enum.StrEnum):
    """The subject of a row."""

    SILENT_AA = "silent-aa"
    INCIDENT = "incident"
    SECRET = "secret"  # noqa: S105  # a value of the interface
    APPROVAL = "approval"
    HELD_REPORT = "held-report"
    MAIL = "mail"
    SUBSCRIPTIONS = "subscriptions"
    NO_ADMIN = "no-admin"
    BUDGET = "budget"
    DISPUTE = "dispute"
    WEAK_KEY = "weak-key"
    WEBHOOK = "webhook"


class Urgency(enum.StrEnum):
    """The urgency of a row."""

    BROKEN = "broken"
    """It already does harm."""
    SOON = "soon"
    """It will do harm within two days."""
    WAITS = "waits"
    """Someone is waiting for it, or it will do harm within the week."""


class DashboardRow(Struct, frozen=True):
    """One thing to do. `subject` is the ID of what it is about: an entity, incident or mail.

    `what` has members by their names where they are known, `entity_id` the ID of the one concerned.
    """

    kind: Kind
    urgency: Urgency
    subject: str
    entity_id: str
    at: datetime
    what: str
    next_step: str


_VIEW: Final = translatable("View the incident")
_ACKNOWLEDGE: Final = translatable("Acknowledge the incident")


def incident_row(stored: StoredIncident, names: Names = NO_NAMES) -> DashboardRow:
    """Returns the row of an open incident."""
    incident = stored.incident
    owner = gettext("owner: %(owner)s", owner=stored.owner)
    taken = f" ({owner})" if stored.acknowledged_by else ""
    act = gettext(_VIEW if stored.acknowledged_by else _ACKNOWLEDGE)
    name = name_of(incident.subject)
    if isinstance(incident.subject, AaReporting):
        return DashboardRow(
            Kind.SILENT_AA,
            Urgency.BROKEN,
            stored.incident_id,
            name.entity_id,
            incident.began,
            gettext("%(aa)s is not sending metrics", aa=_called(name.entity_id, names)) + taken,
            gettext("Ask whether its agent is running"),
        )
    return DashboardRow(
        Kind.INCIDENT,
        Urgency.BROKEN,
        stored.incident_id,
        name.entity_id,
        incident.began,
        f"{title_of(incident, names)}{taken}",
        act,
    )


def _called(entity_id: str, names: Names) -> str:
    """Returns the name of a member, or its ID."""
    return names.get(entity_id) or entity_id


_SECRETS: Final = {
    (False, True): translatable("secret of %(entity)s expires soon"),
    (False, False): translatable("secret of %(entity)s expires soon; not used in the last 7 days"),
    (True, True): translatable("secret of %(entity)s has expired: no new tokens"),
    (True, False): translatable(
        "secret of %(entity)s has expired: no new tokens; not used in the last 7 days"
    ),
}
"""What is said of a secret, by whether it has expired and whether it is used."""


def secret_row(one: ExpiringSecret, now: datetime) -> DashboardRow:
    """Returns the row of a secret that has expired or will."""
    expired = one.expires_at <= now
    used = one.last_used_at is not None and one.last_used_at > now - WITHIN
    what = gettext(_SECRETS[expired, used], entity=one.name)
    if expired:
        urgency = Urgency.BROKEN if used else Urgency.SOON
    else:
        urgency = Urgency.SOON if one.expires_at <= now + URGENT else Urgency.WAITS
    act = (
        gettext("Ask its admin to reset it")
        if one.able
        else gettext("Give it an admin who can act")
    )
    return DashboardRow(
        Kind.SECRET, urgency, one.entity_id, one.entity_id, one.expires_at, what, act
    )


def approval_row(one: PendingEntry, names: Names = NO_NAMES) -> DashboardRow:
    """Returns the row of an entry that waits for a decision."""
    due = one.pending.goes_live_at
    values = {"entity": _called(one.entity_id, names), "number": one.pending.number}
    if due is not None:
        what = (
            gettext("%(entity)s's first registration is approved for a later time", **values)
            if one.live is None
            else gettext("%(entity)s's version %(number)s is approved for a later time", **values)
        )
        act = gettext("Review it again")
    else:
        risks = in_one_line(one.risks)
        what = (
            gettext("%(entity)s's first registration is awaiting approval", **values)
            if one.live is None
            else gettext("%(entity)s's version %(number)s is awaiting approval", **values)
        )
        what += f": {risks}" if risks else ""
        act = gettext("Compare, then approve or reject")
    at = due or one.pending.submitted_at
    return DashboardRow(Kind.APPROVAL, Urgency.WAITS, one.entity_id, one.entity_id, at, what, act)


_WEAKNESSES: Final = {
    Weakness.SMALL_FACTOR: translatable(
        "%(entity)s's key %(kid)s has a small prime factor: anyone can sign with it"
    ),
    Weakness.SHARED_PRIME: translatable(
        "%(entity)s's key %(kid)s shares a prime with another key: anyone can sign with it"
    ),
}


def weak_key_row(one: WeakKey, names: Names = NO_NAMES) -> DashboardRow:
    """Returns the row of a key in use that anyone can factor."""
    return DashboardRow(
        Kind.WEAK_KEY,
        Urgency.BROKEN,
        one.entity_id,
        one.entity_id,
        one.found_at,
        gettext(_WEAKNESSES[one.weakness], entity=_called(one.entity_id, names), kid=one.kid),
        gettext("Have it register a new key; suspend its entry until then"),
    )


def held_rows(reports: Sequence[HeldReport], names: Names = NO_NAMES) -> list[DashboardRow]:
    """Returns a row for each AA: its reports are doubted for one reason."""
    by_aa: dict[str, list[HeldReport]] = {}
    for one in reports:
        by_aa.setdefault(one.aa_id, []).append(one)
    return [
        DashboardRow(
            Kind.HELD_REPORT,
            Urgency.WAITS,
            aa_id,
            aa_id,
            min(one.received_at for one in held),
            ngettext(
                "%(num)s implausible report of %(aa)s, not counted",
                "%(num)s implausible reports of %(aa)s, not counted",
                len(held),
                aa=_called(aa_id, names),
            ),
            gettext("Admit or refuse"),
        )
        for aa_id, held in by_aa.items()
    ]


def budget_row(one: StoredBurn, names: Names = NO_NAMES) -> DashboardRow:
    """Returns the row of an error budget that will not last."""
    burn = one.burn
    gone = burn.outlook is Outlook.GONE
    text = (
        translatable("error budget of %(entity)s (%(measure)s) is used up")
        if gone
        else translatable("error budget of %(entity)s (%(measure)s) will not last the month")
    )
    failures = gettext(
        "%(spent)s failures, %(allowed)s allowed in the month",
        spent=current().number(burn.spent),
        allowed=current().number(burn.allowed),
    )
    return DashboardRow(
        Kind.BUDGET,
        Urgency.SOON if gone else Urgency.WAITS,
        one.entity_id,
        one.entity_id,
        one.at if burn.gone_at is None else burn.gone_at,
        gettext(text, entity=_called(one.entity_id, names), measure=measure_text(burn.measure))
        + f": {failures}",
        gettext("Ask the member what it does about it"),
    )


def is_late(one: Dispute, now: datetime) -> bool:
    """Returns whether the operator has to act on a dispute within the week."""
    return one.waits_for is Side.OPERATOR and (
        one.is_overdue(now) or (one.due_at is not None and one.due_at <= now + WITHIN)
    )


def dispute_row(one: Dispute, now: datetime, names: Names = NO_NAMES) -> DashboardRow:
    """Returns the row of a dispute that waits for the operator."""
    assert one.due_at is not None
    act = gettext("Take it") if one.state is State.RAISED else gettext("Decide it")
    return DashboardRow(
        Kind.DISPUTE,
        Urgency.SOON if one.due_at <= now + URGENT else Urgency.WAITS,
        one.dispute_id,
        one.entity_id,
        one.due_at,
        gettext("%(entity)s's dispute has to be acted on", entity=_called(one.entity_id, names)),
        act,
    )


def mail_row(one: QueuedMail) -> DashboardRow:
    """Returns the row of an email that was not delivered."""
    values = {"subject": one.subject, "recipient": one.recipient}
    what = (
        gettext("“%(subject)s” to %(recipient)s was rejected", **values)
        if one.given_up
        else gettext(
            "“%(subject)s” to %(recipient)s failed %(times)s times", times=one.attempts, **values
        )
    )
    return DashboardRow(
        Kind.MAIL,
        Urgency.BROKEN if one.given_up else Urgency.SOON,
        one.mail_id,
        "",
        one.created_at,
        what,
        gettext("Fix the address or mail server, then try again"),
    )


def webhook_row(one: Webhook, names: Names = NO_NAMES) -> DashboardRow:
    """Returns the row of a webhook whose last message was not taken: alarms do not arrive."""
    host = urlsplit(one.url).netloc
    if one.entity_id:
        entity = _called(one.entity_id, names)
        what = gettext("%(entity)s's webhook at %(host)s fails", entity=entity, host=host)
        act = gettext("Ask the member to fix or remove it")
    else:
        what = gettext("the network's webhook at %(host)s fails", host=host)
        act = gettext("Fix the address, then send a test")
    return DashboardRow(
        Kind.WEBHOOK,
        Urgency.WAITS if one.entity_id else Urgency.BROKEN,
        one.webhook_id,
        one.entity_id,
        one.delivered_at or one.made_at,
        what,
        act,
    )


def crowd_rows(found: Crowd | None) -> list[DashboardRow]:
    """Returns the row of requests that wait for a confirmation; none where few do."""
    if found is None:
        return []
    number = current().number
    what = gettext(
        "requests for emails of the public status that wait for a confirmation email: "
        "%(waiting)s (%(sent)s an hour are sent)",
        waiting=number(found.waiting),
        sent=number(MAX_CONFIRMATIONS_AN_HOUR),
    )
    if found.is_full:
        what += "; " + gettext(
            "%(most)s are unconfirmed, and one more takes the place of the oldest",
            most=number(MAX_WAITING),
        )
    return [
        DashboardRow(
            Kind.SUBSCRIPTIONS,
            Urgency.BROKEN if found.is_full else Urgency.WAITS,
            "",
            "",
            found.since,
            what,
            gettext("Look in the proxy's log who sends them; block a flood there"),
        )
    ]


_NOT_SET: Final = translatable("no admin can act for %(entity)s: its admin has not set a password")
_NO_ADMIN: Final = translatable("no admin can act for %(entity)s: it has no admin")


def without_admin_row(one: MemberRow) -> DashboardRow:
    """Returns the row of a member without an admin."""
    what, act = (
        (_NOT_SET, translatable("Send the invitation again"))
        if one.admins
        else (_NO_ADMIN, translatable("Add an admin"))
    )
    return DashboardRow(
        Kind.NO_ADMIN,
        Urgency.WAITS,
        one.entity_id,
        one.entity_id,
        one.created_at,
        gettext(what, entity=one.name),
        gettext(act),
    )
