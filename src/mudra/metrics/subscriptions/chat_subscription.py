"""A subscription by a channel of Slack or Teams: its addresses, its messages, and its link. Pure.

A chat answers no challenge. What proves that a channel wants messages is a link that is posted
into it, once for each time that the subscriber asks: only its readers have the link. The same one
ends the subscription.
"""

import base64
import hashlib
import hmac
import re
from typing import Final
from urllib.parse import urlsplit

from mudra.localization.language import gettext, translatable
from mudra.metrics.announcements.announcement import Announcement
from mudra.metrics.health.api_names import api_names
from mudra.metrics.incidents.incident import Effect, Ending, Incident
from mudra.metrics.notifications.severity import Severity
from mudra.metrics.notifications.webhook_formats import ChatMessage, Format
from mudra.metrics.subscriptions.public_news import News, ending_of
from mudra.shared.secret_text import SecretText

_SLACK: Final = "hooks.slack.com"
_SLACK_PATH: Final = re.compile(r"/services/(T[A-Z0-9]{1,30})/B[A-Z0-9]{1,30}/[A-Za-z0-9]{1,60}")
_TEAMS: Final = (".logic.azure.com", ".api.powerplatform.com", ".webhook.office.com")
_TEAMS_PATH: Final = re.compile(
    r"/(?:[A-Za-z0-9-]+/){0,4}(?:workflows|webhookb2)/([^/]{8,100})(?:/.*)?"
)
CHATS: Final = {Format.SLACK: "Slack", Format.TEAMS: "Microsoft Teams"}
_PURPOSE: Final = b"channel of a subscription"
_LINK: Final = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.[A-Za-z0-9_-]{43}")


def host_of(url: str) -> str:
    """Returns the host of a URL in lower case."""
    return (urlsplit(url).hostname or "").rstrip(".").lower()


def format_of(url: str) -> Format | None:
    """Returns what an address reads, by its host; None for one of a chat that takes no message."""
    host, path = host_of(url), urlsplit(url).path
    encrypted = urlsplit(url).scheme == "https"
    if host == _SLACK:
        return Format.SLACK if encrypted and _SLACK_PATH.fullmatch(path) else None
    if host.endswith(_TEAMS):
        return Format.TEAMS if encrypted and _TEAMS_PATH.fullmatch(path) else None
    return Format.STANDARD


def counted_by(url: str) -> str:
    """Returns what the limits of an address count it by: its host, or the customer of a chat.

    All customers of a chat have one host: of Slack the workspace counts, of Teams the workflow.
    """
    host, path = host_of(url), urlsplit(url).path
    found = {Format.SLACK: _SLACK_PATH, Format.TEAMS: _TEAMS_PATH}.get(
        format_of(url) or Format.STANDARD
    )
    named = found.fullmatch(path) if found else None
    return f"{host}/{named[1]}" if named else host


def channel_link(subscription_id: str, key: SecretText) -> SecretText:
    """Returns the end of the link that is posted into a channel; `key` is its webhook's own."""
    mac = hmac.digest(key.reveal().encode(), _PURPOSE + subscription_id.encode(), hashlib.sha256)
    text = base64.urlsafe_b64encode(mac).rstrip(b"=").decode()
    return SecretText(f"{subscription_id}.{text}")


def subscription_in(link: SecretText) -> str | None:
    """Returns the ID of the subscription that a link names, not yet proven; None for no link."""
    found = _LINK.fullmatch(link.reveal())
    return found[1] if found else None


def is_link_of(link: SecretText, subscription_id: str, key: SecretText) -> bool:
    """Returns whether a link is the one of this subscription, in constant time."""
    wanted = channel_link(subscription_id, key).reveal()
    return hmac.compare_digest(link.reveal().encode(), wanted.encode())


def confirmation(institution: str, link: SecretText) -> ChatMessage:
    """Returns the message that asks a channel whether it wants others."""
    text = gettext(
        "Someone asked that messages about the status of %(institutions)s are posted to this "
        "channel. Confirm it by the link; without that, nothing more is posted. The same link "
        "ends the messages.",
        institutions=institution or gettext("all institutions"),
    )
    return _message(gettext("Confirm the status messages of this channel"), text, link.reveal())


_BEGINS: Final = {
    Effect.DISRUPTED: translatable("%(institution)s is disrupted"),
    Effect.POSSIBLY_DISRUPTED: translatable("%(institution)s may be disrupted"),
    Effect.DEGRADED: translatable("%(institution)s is degraded"),
}
_ENDS: Final = {
    Ending.CHANGED: translatable("%(institution)s: changed for good, no outage"),
    Ending.NO_DATA: translatable("%(institution)s: no data since"),
    Ending.MERGED: translatable("%(institution)s: part of another incident"),
    Ending.WITHDRAWN: translatable("%(institution)s: there was no incident"),
}
_WORKS: Final = translatable("%(institution)s works again")


def news_message(news: News, incident: Incident, name: str, link: str) -> ChatMessage:
    """Returns the message about an incident that began or ended."""
    apis = api_names(news.codes) if news.codes else gettext("all APIs")
    ending = ending_of(news, incident)
    over = ending is not Ending.OPEN
    text = _ENDS.get(ending, _WORKS) if over else _BEGINS[incident.effect]
    title = gettext(text, institution=name)
    return _message(title, gettext("Concerned: %(apis)s.", apis=apis), link, over=over)


def announcement_message(one: Announcement, language: str, link: str) -> ChatMessage:
    """Returns the message about what the operator announced, in the language of this tag."""
    said = one.in_language(language)
    if not one.updates:
        return _message(said.title, said.text, link)
    title = gettext("Update: %(title)s", title=said.title)
    text = one.updates[-1].in_language(language).text
    return _message(title, text, link, over=one.ended_at is not None)


def _message(title: str, text: str, link: str, *, over: bool = False) -> ChatMessage:
    button = gettext("Open the status")
    return ChatMessage(title, text, Severity.MAJOR, over=over, link=link, public_button=button)
