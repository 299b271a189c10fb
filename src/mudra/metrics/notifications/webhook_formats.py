"""A message in the format that its receiver reads: our own, or that of a chat.

Chats show what they get as text alone: no name in it can be markup or a mention.
"""

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec import Struct

from mudra.metrics.notifications.severity import Severity

_MAX_SLACK_HEADER: Final = 150
_MAX_TEXT: Final = 2_900
_SLACK_SIGNS: Final = {
    Severity.MINOR: "\N{LARGE YELLOW CIRCLE}",
    Severity.MAJOR: "\N{LARGE ORANGE CIRCLE}",
    Severity.CRITICAL: "\N{LARGE RED CIRCLE}",
}
_TEAMS_COLORS: Final = {
    Severity.MINOR: "accent",
    Severity.MAJOR: "warning",
    Severity.CRITICAL: "attention",
}
_OVER_SIGN: Final = "\N{LARGE GREEN CIRCLE}"
_OVER_COLOR: Final = "good"


class Format(enum.StrEnum):
    """The format that a webhook's receiver reads."""

    STANDARD = "standard"
    """Standard Webhooks 1, with all facts of the incident."""
    SLACK = "slack"
    """An incoming webhook of Slack, or of a chat that takes the same."""
    TEAMS = "teams"
    """A workflow of Microsoft Teams that posts the adaptive card that it receives."""


NO_CHATS: Final[Mapping[Format, bytes]] = MappingProxyType({})


class ChatMessage(Struct, frozen=True):
    """The text of an alarm in a chat; `link` is the page about it."""

    title: str
    text: str
    severity: Severity | None
    """None for a test message."""
    over: bool
    link: str
    public_button: str = ""
    """The text of the button to the link, of a message to the public, which has no severity."""

    @property
    def severity_lines(self) -> tuple[str, ...]:
        """The severity in words, where there is one."""
        is_shown = self.severity and not self.public_button
        return (f"Severity: {self.severity}",) if is_shown else ()

    @property
    def button(self) -> str:
        """The text of the button that leads to the link."""
        return self.public_button or "Open"


def chat_bodies(message: ChatMessage) -> Mapping[Format, bytes]:
    """Returns the bodies of a message for each format of chats."""
    return {Format.SLACK: slack_body(message), Format.TEAMS: teams_body(message)}


def in_format(format_: Format, message: ChatMessage) -> bytes | None:
    """Returns the body for a chat; None for the format that is none of a chat."""
    return chat_bodies(message).get(format_)


def slack_body(message: ChatMessage) -> bytes:
    """Returns the body for Slack (Block Kit): all texts plain, so that nothing is markup."""
    sign = _SLACK_SIGNS[message.severity] if message.severity and not message.over else _OVER_SIGN
    title = f"{sign} {message.title}"
    return msgspec.json.encode(
        {
            # The notification's text is mrkdwn: its three signs are escaped.
            "text": _escaped(title),
            "blocks": [
                {"type": "header", "text": _plain(title, _MAX_SLACK_HEADER)},
                {"type": "section", "text": _plain(message.text, _MAX_TEXT)},
                *(
                    {"type": "context", "elements": [_plain(line, _MAX_TEXT)]}
                    for line in message.severity_lines
                ),
                {
                    "type": "actions",
                    "elements": [
                        {"type": "button", "text": _plain(message.button, 75), "url": message.link}
                    ],
                },
            ],
        }
    )


def teams_body(message: ChatMessage) -> bytes:
    """Returns the body for Teams: an adaptive card in runs of text, which know no markup."""
    color = (
        _TEAMS_COLORS[message.severity] if message.severity and not message.over else _OVER_COLOR
    )
    title = {"weight": "bolder", "size": "medium", "color": color}
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [
            _runs(message.title, **title),
            *(_runs(line) for line in message.text[:_MAX_TEXT].splitlines()),
            *(_runs(line, isSubtle=True) for line in message.severity_lines),
        ],
        "actions": [{"type": "Action.OpenUrl", "title": message.button, "url": message.link}],
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
    return msgspec.json.encode({"type": "message", "attachments": [attachment]})


def _plain(text: str, limit: int) -> dict[str, object]:
    return {"type": "plain_text", "text": text[:limit], "emoji": False}


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _runs(text: str, **style: str | bool) -> dict[str, object]:
    return {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text, **style}]}
