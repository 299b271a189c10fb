"""Write what operators announce to subscribers: once each, in steps that can be taken up again."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final
from urllib.parse import quote
from zoneinfo import ZoneInfo

from msgspec import Struct

from mudra.localization.language import written_in
from mudra.localization.languages import Languages
from mudra.metrics.announcements.announcement import Announcement
from mudra.metrics.announcements.announcement_service import AnnouncementService
from mudra.metrics.announcements.announcement_store import Sending
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.notifications.alarm import time_text
from mudra.metrics.notifications.webhook_formats import chat_bodies
from mudra.metrics.subscriptions.chat_subscription import announcement_message
from mudra.metrics.subscriptions.subscription import Subscription
from mudra.metrics.subscriptions.subscription_store import Subscriptions
from mudra.metrics.subscriptions.webhook_subscription import announcement_body
from mudra.shared.mail.notice import Notice, NoticeKind
from mudra.shared.secret_text import SecretText
from mudra.shared.unavailable import ServiceUnavailable
from mudra.storage.database.transaction import OpenTransaction, Transaction
from mudra.storage.mail.outbox import Outbox

_BATCH: Final = 200
"""Emails of one transaction."""
_ZONE: Final = ZoneInfo("Asia/Kolkata")


class AnnouncementMessages(Struct, frozen=True):
    """Writes the messages; `root` is the public address of the status page."""

    languages: Languages
    root: str

    async def write(self, open_transaction: OpenTransaction) -> None:
        """Write to all who are to be written to.

        An announcement that cannot be written keeps none of the others from its readers. It
        waits until it is called again; what it failed with is raised once the others are written.
        """
        failed: dict[str, Exception] = {}
        while await self._write_next(open_transaction, failed):
            pass
        if failed:
            raise next(iter(failed.values()))

    async def _write_next(
        self, open_transaction: OpenTransaction, failed: dict[str, Exception]
    ) -> bool:
        """Write to the next subscribers of an announcement; returns whether there was one."""
        sending: Sending | None = None
        try:
            async with open_transaction() as tx:
                now = await tx.service(Subscriptions).now()
                sending = await tx.service(AnnouncementService).next_to_send(now, failed.keys())
                if sending is not None:
                    await self._write(tx, sending, now)
        except Exception as failure:  # raised again once the others are written
            if sending is None or isinstance(failure, ServiceUnavailable):
                raise
            failed[sending.announcement.announcement_id] = failure
        return sending is not None

    async def _write(self, tx: Transaction, sending: Sending, now: datetime) -> None:
        one = sending.announcement
        readers = await tx.service(Subscriptions).confirmed(
            one.fip_ids, one.said_at, sending.after, _BATCH
        )
        names = await tx.service(HealthService).names() if readers else {}
        for reader in readers:
            if not reader.url:
                await tx.service(Outbox).post(self._notice(reader, one, names))
        event, body = announcement_body(one, self._page(one), now)
        for language, hooks in hooks_of(readers).items():
            tag = self.languages.of(language).tag
            with written_in(self.languages.of(language)):
                chats = chat_bodies(announcement_message(one, tag, self._page(one)))
            await tx.service(Subscriptions).webhooks.post(hooks, event.value, body, chats)
        last = readers[-1].subscription_id if readers else sending.after
        await tx.service(AnnouncementService).sent(sending, last, done=len(readers) < _BATCH)

    def _notice(self, reader: Subscription, one: Announcement, names: Mapping[str, str]) -> Notice:
        language = self.languages.of(reader.language)
        words = one.in_language(language.tag)
        link = SecretText(f"{self.root}/subscription/{reader.token.reveal()}")
        with written_in(language):
            facts: dict[str, str | SecretText] = {
                "kind": one.kind.value,
                "title": words.title,
                "text": words.text,
                "update": one.updates[-1].in_language(language.tag).text if one.updates else "",
                "over": "yes" if one.ended_at is not None else "",
                "institutions": ", ".join(names.get(fip_id, fip_id) for fip_id in one.fip_ids),
                "begins": _time(one.begins),
                "ends": _time(one.ends),
                "link": self._page(one),
                "end_link": link,
            }
        end = SecretText(f"{link.reveal()}/end")
        return Notice(reader.email, NoticeKind.STATUS_ANNOUNCEMENT, facts, reader.language, end)

    def _page(self, one: Announcement) -> str:
        """Returns the page of the only institution that it concerns, else the network's."""
        if len(one.fip_ids) == 1:
            return f"{self.root}/fip/{quote(one.fip_ids[0], safe='')}"
        return self.root


def hooks_of(readers: Iterable[Subscription]) -> Mapping[str, list[str]]:
    """Returns the subscriptions by webhook, by the language of their readers."""
    found: dict[str, list[str]] = {}
    for one in readers:
        if one.url:
            found.setdefault(one.language, []).append(one.subscription_id)
    return found


def _time(at: datetime | None) -> str:
    return time_text(at, _ZONE) if at is not None else ""
