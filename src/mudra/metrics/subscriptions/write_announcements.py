"""Write what operators announce to subscribers: once each, in steps that can be taken up again."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from urllib.parse import quote
from zoneinfo import ZoneInfo

from msgspec import Struct

from mudra.identity.ports import Notice, NoticeKind
from mudra.localization.language import written_in
from mudra.localization.languages import Languages
from mudra.metrics.announcements.announcement import Announcement
from mudra.metrics.notifications.alarm import time_text
from mudra.metrics.subscriptions.ports import SubscriptionUnitOfWork
from mudra.metrics.subscriptions.subscription import Subscription
from mudra.metrics.subscriptions.webhook_subscription import announcement_body
from mudra.shared.secret_text import SecretText

_BATCH: Final = 200
"""Emails of one transaction."""
_ZONE: Final = ZoneInfo("Asia/Kolkata")


class AnnouncementMessages(Struct, frozen=True):
    """Writes the messages; `root` is the public address of the status page."""

    languages: Languages
    root: str

    async def write_next(self, work: SubscriptionUnitOfWork) -> bool:
        """Write to the next subscribers of an announcement; returns whether there was one."""
        now = await work.subscriptions.now()
        sending = await work.announcements.next_to_send(now)
        if sending is None:
            return False
        one = sending.announcement
        readers = await work.subscriptions.confirmed(
            one.fip_ids, one.publish_at, sending.after, _BATCH
        )
        names = await work.health.names() if readers else {}
        for reader in readers:
            if not reader.url:
                await work.outbox.post(self._notice(reader, one, names))
        hooks = [reader.subscription_id for reader in readers if reader.url]
        if hooks:
            event, body = announcement_body(one, self._page(one), now)
            await work.subscriptions.webhooks.post(hooks, event.value, body)
        last = readers[-1].subscription_id if readers else sending.after
        await work.announcements.sent(sending, last, done=len(readers) < _BATCH)
        return True

    def _notice(self, reader: Subscription, one: Announcement, names: Mapping[str, str]) -> Notice:
        language = self.languages.of(reader.language)
        words = one.in_language(language.tag)
        link = SecretText(f"{self.root}/subscription/{reader.token.reveal()}")
        with written_in(language):
            facts: dict[str, str | SecretText] = {
                "kind": one.kind.value,
                "title": words.title,
                "text": words.text,
                "institutions": ", ".join(names.get(fip_id, fip_id) for fip_id in one.fip_ids),
                "begins": _time(one.begins),
                "ends": _time(one.ends),
                "link": self._page(one),
                "end_link": link,
            }
        end = SecretText(f"{link.reveal()}/end")
        return Notice(reader.email, NoticeKind.STATUS_ANNOUNCEMENT, facts, reader.language, end)

    def _page(self, one: Announcement) -> str:
        """Returns the page of the only institution that it concerns, else that of the network."""
        if len(one.fip_ids) == 1:
            return f"{self.root}/fip/{quote(one.fip_ids[0], safe='')}"
        return self.root


def _time(at: datetime | None) -> str:
    return time_text(at, _ZONE) if at is not None else ""
