"""Write the emails of subscriptions: requests for a confirmation, news of incidents, failures.

The messages of webhooks are queued here as well. No email has the address of a webhook: who types
it need not be the reader, and could write to a stranger in that way.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import quote
from zoneinfo import ZoneInfo

from msgspec import Struct

from mudra.localization.language import written_in
from mudra.localization.languages import Languages
from mudra.metrics.health.api_names import api_names
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.incident import Ending, Incident, StoredIncident
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.notifications.alarm import symptoms_text, time_text
from mudra.metrics.notifications.webhook_formats import chat_bodies
from mudra.metrics.subscriptions.chat_subscription import news_message
from mudra.metrics.subscriptions.public_news import News, ending_of, news_of
from mudra.metrics.subscriptions.subscribe import COUNTED
from mudra.metrics.subscriptions.subscription import (
    CONFIRM_WITHIN,
    MAX_CONFIRMATIONS,
    MAX_CONFIRMATIONS_AN_HOUR,
    Subscription,
)
from mudra.metrics.subscriptions.subscription_store import Subscriptions
from mudra.metrics.subscriptions.webhook_subscription import ENDS_AFTER, status_body
from mudra.metrics.subscriptions.write_announcements import AnnouncementMessages, hooks_of
from mudra.shared.mail.notice import Notice, NoticeKind
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import OpenTransaction
from mudra.storage.mail.outbox import Outbox

_BATCH: Final = 200
"""Emails of one transaction."""
_HOUR: Final = timedelta(hours=1)
_RECENT: Final = timedelta(days=8)
"""A window may come 7 days late, and end an incident that began before."""
_ZONE: Final = ZoneInfo("Asia/Kolkata")


class StatusEmails(Struct, frozen=True):
    """Writes the emails; `root` is the public address of the status page."""

    open_transaction: OpenTransaction
    languages: Languages
    root: str

    async def write(self) -> None:
        """Answer requests, then announce what has changed, until nothing waits.

        Changes are noted first, also while no one has confirmed: to anyone who confirms by an
        email of this run they are no news.
        """
        async with self.open_transaction() as tx:
            if not await tx.service(Subscriptions).is_anything_due():
                return
        await self._note_changes()
        while await self._ask_to_confirm():
            pass
        while await self._report_failures():
            pass
        while await self._announce_next():
            pass
        await AnnouncementMessages(self.languages, self.root).write(self.open_transaction)

    async def _ask_to_confirm(self) -> bool:
        async with self.open_transaction() as tx:
            now = await tx.service(Subscriptions).now()
            mailed = await tx.service(Subscriptions).confirmations_since(now - _HOUR)
            left = max(0, MAX_CONFIRMATIONS_AN_HOUR - mailed)
            asked = await tx.service(Subscriptions).take_asked(min(left, _BATCH))
            names = await tx.service(HealthService).names() if asked else {}
            since = now - COUNTED
            for one in asked:
                sent = await tx.service(Subscriptions).confirmations_since(since, email=one.email)
                if sent >= MAX_CONFIRMATIONS:
                    continue
                facts: dict[str, str | SecretText] = {
                    "institution": names.get(one.fip_id, one.fip_id),
                    "webhook": "yes" if one.url else "",
                    "link": self._link(one),
                    "valid_hours": str(CONFIRM_WITHIN // timedelta(hours=1)),
                }
                notice = Notice(one.email, NoticeKind.SUBSCRIPTION_CONFIRM, facts, one.language)
                await tx.service(Outbox).post(notice)
                await tx.service(Subscriptions).confirmation_sent(one.subscription_id)
        return bool(asked)

    async def _report_failures(self) -> bool:
        """Warns of webhooks that take nothing, and ends those that took nothing for days."""
        async with self.open_transaction() as tx:
            failing = await tx.service(Subscriptions).webhooks.take_failing(_BATCH)
            names = await tx.service(HealthService).names() if failing else {}
            for webhook in failing:
                one = await tx.service(Subscriptions).of(webhook.subscription_id)
                facts: dict[str, str | SecretText] = {
                    "institution": names.get(one.fip_id, one.fip_id),
                    "over": "yes" if webhook.ends else "",
                    "days": str(ENDS_AFTER // timedelta(days=1)),
                    "link": SecretText(self.root) if webhook.ends else self._link(one),
                }
                kind = NoticeKind.SUBSCRIPTION_FAILING
                await tx.service(Outbox).post(Notice(one.email, kind, facts, one.language))
                if webhook.ends:
                    await tx.service(Subscriptions).end(one.subscription_id)
                else:
                    await tx.service(Subscriptions).webhooks.warned(one.subscription_id)
        return bool(failing)

    async def _note_changes(self) -> None:
        async with self.open_transaction() as tx:
            now = await tx.service(Subscriptions).now()
            incidents = await tx.service(IncidentService).since(now - _RECENT)
            public = await tx.service(HealthService).onboarded_fips()
            announced = await tx.service(Subscriptions).news.states()
            await tx.service(Subscriptions).news.put(news_of(incidents, announced, public, now))

    async def _announce_next(self) -> bool:
        async with self.open_transaction() as tx:
            news = await tx.service(Subscriptions).news.take()
            if news is None:
                return False
            readers = await tx.service(Subscriptions).confirmed(
                [news.fip_id], news.at, news.after, _BATCH
            )
            names = await tx.service(HealthService).names()
            found = await tx.service(IncidentService).find(news.incident_id)
            assert isinstance(found, StoredIncident), "news are of stored incidents"
            for one in readers:
                if not one.url:
                    notice = self._notice(one, news, found.incident, names)
                    await tx.service(Outbox).post(notice)
            name, page = names.get(news.fip_id, news.fip_id), self._page(news)
            event, body = status_body(news, found.incident, name, page)
            for language, hooks in hooks_of(readers).items():
                with written_in(self.languages.of(language)):
                    chats = chat_bodies(news_message(news, found.incident, name, page))
                webhooks = tx.service(Subscriptions).webhooks
                await webhooks.post(hooks, event.value, body, chats)
            last = readers[-1].subscription_id if readers else news.after
            done = len(readers) < _BATCH
            await tx.service(Subscriptions).news.advance(news.incident_id, last, done=done)
        return True

    def _notice(
        self, one: Subscription, news: News, incident: Incident, names: Mapping[str, str]
    ) -> Notice:
        ending = ending_of(news, incident)
        with written_in(self.languages.of(one.language)):
            facts: dict[str, str | SecretText] = {
                "institution": names.get(news.fip_id, news.fip_id),
                "apis": api_names(news.codes) if news.codes else "",
                "effect": incident.effect.value,
                "symptom": symptoms_text(incident.cause.symptoms),
                "over": "" if ending is Ending.OPEN else ending.value,
                "began": time_text(news.began, _ZONE),
                "ended": _time(news.ended),
                "link": self._page(news),
                "end_link": self._link(one),
            }
        end = SecretText(f"{self._link(one).reveal()}/end")
        return Notice(one.email, NoticeKind.STATUS_INCIDENT, facts, one.language, end)

    def _page(self, news: News) -> str:
        return f"{self.root}/fip/{quote(news.fip_id, safe='')}"

    def _link(self, one: Subscription) -> SecretText:
        return SecretText(f"{self.root}/subscription/{one.token.reveal()}")


def _time(at: datetime | None) -> str:
    return time_text(at, _ZONE) if at is not None else ""
