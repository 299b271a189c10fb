"""Messages to the signed-in person: by which channel they went, and whether they arrived."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Struct

from mudra.console.framework import page
from mudra.console.framework.navigation import ACCOUNT
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Outcome, RenderedPage
from mudra.console.framework.table import Column, Table
from mudra.console.pages.email_text import (
    paragraphs,
    severity_of,
    severity_tone,
    without_greeting,
    without_severity,
)
from mudra.http.auth.gates import SIGNED_IN
from mudra.localization.duration import span_text
from mudra.localization.language import gettext, translatable
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.notifications.webhook import Event, NoSuchWebhook, Owner, Webhook
from mudra.metrics.notifications.webhook_formats import Format
from mudra.metrics.notifications.webhook_service import WebhookService
from mudra.overview.mail_queue_store import MailQueue, NoSuchMail, QueuedMail
from mudra.shared.mail.email_message import StoredEmail
from mudra.storage.mail.outbox import Outbox

NOTIFICATIONS: Final = f"{ACCOUNT}/notifications"
_MAX_MAILS: Final = 500
_MAX_ALARMS: Final = 60
"""Emails of which the incident is looked up: two pages."""
_INCIDENT: Final = re.compile(r"/incidents/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_EMAIL: Final = translatable("Email")
_CHANNELS: Final = {
    Format.STANDARD: translatable("Webhook"),
    Format.SLACK: "Slack",
    Format.TEAMS: "Microsoft Teams",
}
_OF_MAIL: Final = {
    "sent": (translatable("sent"), "good"),
    "waiting": (translatable("waiting"), "warn"),
    "given-up": (translatable("not accepted"), "bad"),
}
_KEPT: Final = (translatable("kept here"), "quiet")
"""No mail server was configured when it was written."""
_OF_EVENT: Final = {
    "delivered": (translatable("delivered"), "good"),
    "waiting": (translatable("waiting"), "warn"),
    "failed": (translatable("failed"), "bad"),
}


class Notification(Struct, frozen=True):
    """One message to the person; `problem` is why it has not arrived, `link` where its text is."""

    at: datetime
    channel: str
    subject: str
    what: str
    """The subject without its severity and the network's name."""
    state: str
    tone: str
    problem: str = ""
    link: str = ""
    now: str = ""
    """How the incident is now that an alarm is about."""
    now_tone: str = ""


def _table(usual: str) -> Table[Notification]:
    """Returns the table; the usual result and channel have no ink, so that others are seen."""
    columns: Sequence[Column[Notification]] = (
        Column(
            "what", translatable("Message"), lambda o: o.what,
            link=lambda o: o.link,
        ),
        Column(
            "severity", translatable("Severity"), lambda o: severity_of(o.subject).lower() or None,
            "tag", tone=lambda o: severity_tone(o.subject), phone="state",
        ),
        Column(
            "now", translatable("Now"), lambda o: o.now or None, "tag", tone=lambda o: o.now_tone,
            phone="state",
        ),
        Column("at", translatable("Written"), lambda o: o.at, "time", phone="figure"),
        Column("channel", translatable("Channel"), lambda o: o.channel, "label", usual=_EMAIL),
        Column(
            "state", translatable("Result"), lambda o: o.state, "tag", tone=lambda o: o.tone,
            usual=usual, phone="state",
        ),
        Column("problem", translatable("Problem"), lambda o: o.problem or None, "below"),
    )  # fmt: skip
    return Table("notifications", translatable("Notifications"), columns, first_sort="-at")


_SENT: Final = _table("sent")
_KEPT_HERE: Final = _table("kept here")


@page.get("/account/notifications", gate=SIGNED_IN)
async def notifications(page_context: PageContext) -> Outcome:
    """List the emails to the person, and the messages to the person's own webhook."""
    rows = await _notifications(page_context)
    kept_here = page_context.dependencies.settings.smtp_url is None
    table = _KEPT_HERE if kept_here else _SENT
    return table.export(rows, page_context.query) or RenderedPage(
        "notifications.html",
        {"view": table.view(rows, page_context.query), "kept_here": kept_here},
    )


@page.get("/account/notifications/{mail_id:uuid}", gate=SIGNED_IN)
async def notification(page_context: PageContext, mail_id: FromPath[UUID]) -> Outcome:
    """Show the text of an email to the person, without the links that only the mailbox has."""
    found = await page_context.tx.service(Outbox).mail(str(mail_id))
    if found is None or found.email.to != page_context.user.email:
        return NoSuchMail()
    subject = found.email.subject
    return RenderedPage(
        "notification.html",
        {
            "mail": found,
            "title": _title(page_context, subject),
            "severity": severity_of(subject).lower(),
            "tone": severity_tone(subject),
            "state_now": (await _states(page_context, [found])).get(found.mail_id, ("", "")),
            "paragraphs": without_greeting(paragraphs(found.email.shown)),
        },
    )


async def _notifications(page_context: PageContext) -> Sequence[Notification]:
    tx, user = page_context.tx, page_context.user
    latest = await tx.service(Outbox).mails(user.email, _MAX_ALARMS)
    states = await _states(page_context, latest)
    rows = [
        _of_mail(one, _title(page_context, one.subject), states.get(one.mail_id, ("", "")))
        for one in await MailQueue(tx).to([user.email], _MAX_MAILS)
    ]
    service, owner = tx.service(WebhookService), Owner(user_id=user.user_id)
    for webhook in await service.list(owner):
        events = await service.events(webhook.webhook_id, owner)
        if not isinstance(events, NoSuchWebhook):
            rows += [_of_event(webhook, one) for one in events]
    return rows


async def _states(
    page_context: PageContext, mails: Sequence[StoredEmail]
) -> Mapping[str, tuple[str, str]]:
    """Returns how the incidents are now that these emails lead to, with tones, by email."""
    about = {
        one.mail_id: found[1]
        for one in mails
        if severity_of(one.email.subject) and (found := _INCIDENT.search(one.email.shown))
    }
    stored = await page_context.tx.service(IncidentService).of_ids({*about.values()})
    known = {one.incident_id: one for one in stored}
    return {
        mail_id: _now(known[incident_id], with_owner=bool(page_context.scopes))
        for mail_id, incident_id in about.items()
        if incident_id in known
    }


def _now(stored: StoredIncident, *, with_owner: bool) -> tuple[str, str]:
    incident = stored.incident
    if not stored.is_open:
        ended = incident.ended
        spent = span_text(ended - incident.began) if ended else ""
        return (gettext("over after %(time)s", time=spent) if ended else gettext("over")), "quiet"
    if not with_owner:
        return gettext("open"), "bad"
    return (gettext("taken"), "warn") if stored.owner else (gettext("no owner"), "bad")


def _title(page_context: PageContext, subject: str) -> str:
    """Returns a subject without its severity and the name of the network, which all may have."""
    network = page_context.dependencies.settings.network_name
    text = without_severity(subject).removeprefix(f"{network}: ")
    return f"{text[:1].upper()}{text[1:]}"


def _of_mail(one: QueuedMail, title: str, now: tuple[str, str]) -> Notification:
    state, tone = _KEPT if one.is_kept_here else _OF_MAIL[one.state]
    return Notification(
        one.created_at, _EMAIL, one.subject, title, state, tone,
        "" if one.sent_at else one.last_error, f"{NOTIFICATIONS}/{one.mail_id}", *now,
    )  # fmt: skip


def _of_event(webhook: Webhook, one: Event) -> Notification:
    state, tone = _OF_EVENT[one.state]
    link = f"{ACCOUNT}/webhooks#{webhook.webhook_id}"
    return Notification(
        one.made_at, _CHANNELS[webhook.format], "", one.event, state, tone, one.problem, link
    )


handlers: Final[list[ControllerRouterHandler]] = [notifications, notification]
