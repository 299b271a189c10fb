"""A subscription by webhook: its limits, its messages, and the proof that its address wants them.

Pure. A form without an account must not make this service call others: the email address is
confirmed first, then the address of the webhook answers a challenge, once for each time that the
subscriber asks, and within the limits here.
"""

import base64
import enum
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec
from msgspec import Struct

from mudra.localization.language import translatable
from mudra.metrics.announcements.announcement import Announcement, Translation, Update
from mudra.metrics.incidents.incident import Effect, Incident, Symptom
from mudra.metrics.notifications.webhook import CHALLENGE
from mudra.metrics.subscriptions.public_news import News, NewsState
from mudra.shared.refusal import Refusal, RefusalKind

MAX_URL: Final = 500
MAX_OF_EMAIL: Final = 5
"""Webhooks of one email address that were confirmed by it."""
MAX_OF_HOST: Final = 20
"""Proven webhooks of one host."""
MAX_PROVEN: Final = 1000
"""Proven webhooks of all."""
MAX_WAITING_MESSAGES: Final = 20
"""Messages that wait for one webhook; further ones are dropped: the status page has them."""
MAX_ANSWER: Final = 1024
"""Bytes of the answer to a challenge."""
COUNTED: Final = timedelta(hours=24)
MAX_CHALLENGES_OF_EMAIL: Final = 5
MAX_CHALLENGES_OF_HOST: Final = 10
MAX_CHALLENGES: Final = 200
"""Challenges in 24 hours: of one email address, to one host, and in all."""
ENDS_AFTER: Final = timedelta(days=3)
"""A webhook that took nothing for so long, and of which a message was given up then, ends."""
_CHALLENGE_BYTES: Final = 32

_TOMORROW: Final = translatable("too many webhooks or challenges; try again tomorrow")


class TooManySubscriptions(Refusal, frozen=True):
    """The email address, the host or this service has the maximum number of webhooks."""

    kind = RefusalKind.LIMITED
    sentence = _TOMORROW
    retry_after_s = 86400


class TooManyChallenges(Refusal, frozen=True):
    """The challenges of 24 hours are used up, of the email address, the host or this service."""

    kind = RefusalKind.LIMITED
    sentence = _TOMORROW
    retry_after_s = 86400


class ChallengeData(msgspec.Struct):
    """The challenge that has to be answered."""

    challenge: str


class ChallengeMessage(msgspec.Struct):
    """The body of a challenge."""

    type: str
    timestamp: datetime
    data: ChallengeData


class ChallengeAnswer(msgspec.Struct, forbid_unknown_fields=True):
    """The whole body that answers a challenge: a server that repeats what it got has more."""

    challenge: str


class StatusEvent(enum.StrEnum):
    """The contents of a message."""

    DISRUPTED = "status.disrupted"
    OPERATIONAL = "status.operational"
    ANNOUNCEMENT = "status.announcement"


class StatusData(msgspec.Struct, rename="camel", kw_only=True):
    """One incident of an institution.

    `apis` are codes of calls, empty for all of them; `ended` is null while it goes on.
    `effect` is that on customers: possibly disrupted where one AA alone sees it, so that it may be
    that AA or its connection.
    """

    incident_id: str
    fip_id: str
    name: str
    state: str
    apis: tuple[str, ...]
    symptoms: tuple[Symptom, ...]
    effect: Effect
    began: datetime
    ended: datetime | None
    link: str


class StatusMessage(msgspec.Struct):
    """The body of a message about the public status."""

    type: str
    timestamp: datetime
    data: StatusData


class AnnouncementData(msgspec.Struct, rename="camel", kw_only=True):
    """The announcement of an operator; without `fipIds` about the whole network.

    `translations` are title and text in further languages.
    """

    announcement_id: str
    kind: str
    title: str
    text: str
    translations: tuple[Translation, ...]
    fip_ids: tuple[str, ...]
    begins: datetime | None
    ends: datetime | None
    over: bool
    """Whether its last update ended it."""
    updates: tuple[Update, ...]
    """What was added since, the oldest first: the last one is new."""
    link: str


class AnnouncementMessage(msgspec.Struct):
    """The body of a message about an announcement."""

    type: str
    timestamp: datetime
    data: AnnouncementData


def challenge_body(random_bytes: Callable[[int], bytes], now: datetime) -> bytes:
    """Returns the body of a challenge: 256 random bits that only its receiver can know."""
    raw = base64.urlsafe_b64encode(random_bytes(_CHALLENGE_BYTES)).rstrip(b"=").decode()
    return msgspec.json.encode(ChallengeMessage(CHALLENGE, now, ChallengeData(raw)))


def is_answer(body: bytes, answer: bytes) -> bool:
    """Returns whether an answer is the challenge alone: its sender wants messages."""
    wanted = msgspec.json.decode(body, type=ChallengeMessage).data.challenge
    try:
        return msgspec.json.decode(answer, type=ChallengeAnswer).challenge == wanted
    except msgspec.MsgspecError:
        return False


def status_body(news: News, incident: Incident, name: str, link: str) -> tuple[StatusEvent, bytes]:
    """Returns the event and body of a message about an incident."""
    over = news.state is NewsState.OVER
    event = StatusEvent.OPERATIONAL if over else StatusEvent.DISRUPTED
    codes: Sequence[str] = news.codes.split(",") if news.codes else ()
    data = StatusData(
        incident_id=news.incident_id,
        fip_id=news.fip_id,
        name=name,
        state=event.value.partition(".")[2],
        apis=tuple(codes),
        symptoms=incident.cause.symptoms,
        effect=incident.effect,
        began=news.began,
        ended=news.ended,
        link=link,
    )
    return event, msgspec.json.encode(StatusMessage(event.value, news.at, data))


def announcement_body(one: Announcement, link: str, now: datetime) -> tuple[StatusEvent, bytes]:
    """Returns the event and body of a message about an announcement."""
    event = StatusEvent.ANNOUNCEMENT
    data = AnnouncementData(
        announcement_id=one.announcement_id,
        kind=one.kind.value,
        title=one.title,
        text=one.text,
        translations=one.translations,
        fip_ids=one.fip_ids,
        begins=one.begins,
        ends=one.ends,
        over=one.ended_at is not None,
        updates=one.updates,
        link=link,
    )
    return event, msgspec.json.encode(AnnouncementMessage(event.value, now, data))


class Failing(Struct, frozen=True):
    """A webhook that takes nothing: whether it is to end, or its owner to be warned."""

    subscription_id: str
    ends: bool
