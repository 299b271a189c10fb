"""docs/reference/webhooks.md: every message, made by the code that sends it, with its schema."""

import base64
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mudra.comparison.capacity import CapacityMessage
from mudra.comparison.capacity_store import CapacityNotice
from mudra.disputes.dispute_message import DisputeData, DisputeMessage
from mudra.levels.budgets.burn_message import BudgetMessage
from mudra.levels.budgets.burn_store import StoredBurn
from mudra.levels.report_news import ReportData, ReportMessage
from mudra.metrics.announcements.announcement import Announcement as Said
from mudra.metrics.announcements.announcement import Kind, Translation, Update
from mudra.metrics.attribution.causes.closing import CLOSE_AFTER
from mudra.metrics.incidents.incident import (
    Cause,
    Ending,
    FipApi,
    Incident,
    Symptom,
    TimelineChange,
    TimelineEntry,
)
from mudra.metrics.incidents.incident import (
    Path as PathSubject,
)
from mudra.metrics.incidents.incident_change import (
    Change,
    Closed,
    Moved,
    Opened,
    Reopened,
    withdrawn,
)
from mudra.metrics.incidents.silence_service import MaintenanceData, MaintenanceMessage
from mudra.metrics.notifications.alarm import alarm_of
from mudra.metrics.notifications.alarm_mail import PersonalAlarm
from mudra.metrics.notifications.alarm_mailer import (
    PERSONAL,
    AlarmsData,
    AlarmsMessage,
    personal_body,
)
from mudra.metrics.notifications.incident_notifications import Announcement, Event
from mudra.metrics.notifications.severity import Severity
from mudra.metrics.notifications.webhook import (
    CHALLENGE,
    MAX_EVENTS,
    MAX_FIPS,
    MAX_OF_A_MEMBER,
    MAX_OF_A_PERSON,
    MAX_OF_THE_NETWORK,
    MAX_TESTS,
    TEST,
    IncidentData,
    Message,
    SampleData,
    SampleMessage,
    Webhook,
    body_of_test,
    chat_messages_of,
    message_of,
)
from mudra.metrics.notifications.webhook_formats import Format
from mudra.metrics.subscriptions.public_news import News, NewsState
from mudra.metrics.subscriptions.subscription import MAX_CONFIRMATIONS
from mudra.metrics.subscriptions.webhook_subscription import (
    ENDS_AFTER,
    MAX_ANSWER,
    MAX_CHALLENGES,
    MAX_CHALLENGES_OF_EMAIL,
    MAX_CHALLENGES_OF_HOST,
    MAX_OF_EMAIL,
    MAX_OF_HOST,
    MAX_PROVEN,
    MAX_WAITING_MESSAGES,
    AnnouncementData,
    AnnouncementMessage,
    ChallengeAnswer,
    ChallengeMessage,
    StatusData,
    StatusEvent,
    StatusMessage,
    announcement_body,
    challenge_body,
    status_body,
)
from mudra.shared.secret_text import SecretText
from mudra.webhook.sign import signed_headers
from tools.pages.member_messages import (
    CAPACITY_EVENTS,
    LEVEL_EVENTS,
    MAINTENANCE_EVENTS,
    budget_sample,
    capacity_sample,
    dispute_events,
    dispute_sample,
    maintenance_sample,
    report_sample,
)
from tools.pages.webhook_fields import field_table
from tools.pages.webhook_values import value_rows

NOW: Final = datetime(2026, 3, 2, 9, 41, 5, tzinfo=UTC)
KEY: Final = "whsec_" + base64.b64encode(b"a key for this page only").decode()
CONSOLE: Final = "https://tokens.network.example/console"
_ID: Final = "0195562f-6b1e-7c44-9f0e-2f5f6a7b8c9d"
_MESSAGE: Final = "0195562f-7a02-7d19-8c41-5b0e9d6f3a21"
_INTRO: Final = Path(__file__).with_name("webhooks_intro.md")
_RECEIVERS: Final = Path(__file__).with_name("webhook_receivers.md")
_CONCERNED: Final = "the members concerned, the FIUs that name the FIP, the network"
_MEMBER: Final = "the member, the network"
_OF_FIP: Final = "the member, the FIUs that name the FIP, the network"
_PUBLIC_OF: Final = "[subscribers of the public status](#public-status)"
_OF_STATUS: Final = {
    StatusEvent.DISRUPTED: "An institution is disrupted.",
    StatusEvent.OPERATIONAL: "It works again.",
    StatusEvent.ANNOUNCEMENT: "The operator announces something, or adds an update.",
}
_STATUS: Final = "https://tokens.network.example/status/fip/KAVERI-FIP"
_PUBLIC: Final = """\
Anyone subscribes on the status page, with an https address (port 443) and an email address
([decision 0117](../decisions/0117-the-public-subscribes-by-email.md)):

1. The link in an email confirms the email address, as for emails. The page then shows the key
   that signs messages, only once. Store it at the receiver.
2. The button "Send a challenge" posts one message, which the receiver has to answer within 10
   seconds. Check its signature first: then it is this subscription that asks. After that the
   page says "You are subscribed".
3. Messages follow when an institution is disrupted, when it works again, and when the operator
   announces something, once each. Answer 2xx within
   10 seconds; else a message comes again some seven times in 24 hours, under the same
   `webhook-id`.

The address of an incoming webhook of Slack (`https://hooks.slack.com/services/…`) or of a workflow
of Microsoft Teams (hosts below `logic.azure.com`, `api.powerplatform.com` and
`webhook.office.com`) gets messages for people in place of these. A chat answers no challenge: the
button posts a link into the channel, and one of its readers confirms by it. The same link ends the
messages.

To end it, open the link of the email, or answer 410. Redirects are not followed, of answers
only the status is read, of that to a challenge at most {answer} bytes.

Limits: {emails} emails with a link to one email address in 24 hours; {of_email} webhooks of one
email address, {of_host} of one host (of Slack of one workspace,
of Teams of one workflow), {proven} in all; in 24 hours {asked} challenges of one
email address, {asked_host} to one host, {asked_all} in all; {waiting} messages that wait for
one webhook, further ones are dropped. When a message is given up, the email address hears of
it; when nothing was taken for {days} days, the subscription ends with an email, and all that is
stored of it is deleted.

### subscription.challenge
"""
_DISPUTES: Final = """\
Each step of a dispute or comment has a message ([how-to](../how-to/dispute-a-figure.md)). All have
the same fields; `act` is the step, and `by` who took it: `member`, `operator` or `service` (a
deadline that is over). No statement is in it."""
_BUDGET: Final = """\
Once when a member's [error budget](../explanation/service-levels.md#error-budget) will be gone
before the month ends (`outlook` is `burning`), and once when it is gone (`gone`). `month` is when
the month begins in the time zone of reports: `2026-02-28T18:30:00Z` is the start of
March in India."""
_REPORT: Final = """\
For each version of a [report of service levels](../how-to/service-levels.md). `entityId` is empty
for the network's, which goes to the network's webhooks alone. `missed` has the measures over all
calls of which the target was missed. Read the numbers with `reportId`."""
_MAINTENANCE: Final = """\
Of a [planned maintenance](../how-to/monitor-the-network.md#announce-maintenance) that a member or
an operator announces; all have the same fields. That it begins or ends has no message: take its
times. It is without its reason, as on the public status."""
_CAPACITY: Final = """\
Once when a [notice about capacity](../explanation/forecasts.md#the-notice-about-capacity) appears,
and once when it is over, with the same fields. Looked for on Mondays, of the network (`entityId` is
empty), each AA and each FIP. While no forecast can be made, because reports are missing, a notice
stays as it is."""
_MEANING: Final = {
    Event.OPENED: "A cause was found.",
    Event.MOVED: "The cause turned out to be another one; the incident and its ID stay.",
    Event.CLOSED: f"It is over; `state` says how: most often {CLOSE_AFTER} good windows in a row.",
    Event.REOPENED: "It had ended, and goes on.",
    Event.WITHDRAWN: "Late or replaced reports show that there was none.",
}


SCHEMAS: Final[dict[str, type[Struct]]] = {
    r"incident\..+": Message,
    r"webhook\.test": SampleMessage,
    r"dispute\..+": DisputeMessage,
    r"levels\.budget": BudgetMessage,
    r"levels\.report": ReportMessage,
    r"maintenance\..+": MaintenanceMessage,
    r"capacity\..+": CapacityMessage,
    "alarms": AlarmsMessage,
    r"status\.(disrupted|operational)": StatusMessage,
    r"status\.announcement": AnnouncementMessage,
    r"subscription\.challenge": ChallengeMessage,
}
"""Each kind of message by the pattern of its events."""


def webhooks_page() -> str:
    """Return the page. Raises KeyError for a kind of message without a sample."""
    bodies = {event: _body(change) for event, change in _changes().items()}
    first = bodies[Event.OPENED]
    headers = signed_headers([SecretText(KEY)], _MESSAGE, NOW, first)
    lines = "\n".join(f"{name}: {value}" for name, value in headers.items())
    parts = [
        _INTRO.read_text(encoding="utf-8").format(
            receivers=_RECEIVERS.read_text(encoding="utf-8").rstrip(),
            key=KEY,
            headers=lines,
            events="\n".join(_events()),
            values="\n".join(value_rows()),
            kept=MAX_EVENTS,
            tests=MAX_TESTS,
            fips=MAX_FIPS,
            of_member=MAX_OF_A_MEMBER,
            of_network=MAX_OF_THE_NETWORK,
            of_person=MAX_OF_A_PERSON,
        )
    ]
    for event in Event:
        parts += [f"## {event.value}", "", _MEANING[event], "", *_json(bodies[event])]
        parts += field_table(IncidentData) if event is Event.OPENED else []
    hook = Webhook(_ID, "", "https://alarms.network.example/mudra", "operator:1", NOW)
    parts += ["## webhook.test", "", "A test that someone asked for.", ""]
    parts += [*_json(body_of_test(hook, NOW, CONSOLE)), *field_table(SampleData)]
    for title, text, body, data in (
        ("dispute.raised", _DISPUTES, dispute_sample(), DisputeData),
        ("levels.budget", _BUDGET, budget_sample(), StoredBurn),
        ("levels.report", _REPORT, report_sample(), ReportData),
        ("maintenance.announced", _MAINTENANCE, maintenance_sample(), MaintenanceData),
        ("capacity.notice", _CAPACITY, capacity_sample(), CapacityNotice),
    ):
        parts += [f"## {title}", "", text, "", *_json(body), *field_table(data)]
    parts += ["## alarms", "", "To a person's own webhook: the alarms that the person chose.", ""]
    parts += [*_json(_personal()), *field_table(AlarmsData)]
    parts += ["## In the formats of chats", "", "The first message, to a webhook with `--format`."]
    announcement = _announcement(_changes()[Event.OPENED])
    for name, body in chat_messages_of(announcement, _ID, CONSOLE).items():
        parts += ["", f"`{name.value}`:", "", *_json(body)]
    parts += _public()
    return "\n".join(parts)


def webhooks_schema() -> str:
    """Return the JSON Schema of every message, each by the event in `type`."""
    place = "#/$defs/{name}"
    _, parts = msgspec.json.schema_components(SCHEMAS.values(), ref_template=place)
    of_events = [
        {
            "if": {"properties": {"type": {"pattern": f"^{events}$"}}},
            "then": {"$ref": place.format(name=message.__name__)},
        }
        for events, message in SCHEMAS.items()
    ]
    known = {"type": "string", "pattern": f"^({'|'.join(SCHEMAS)})$"}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Messages to webhooks",
        "type": "object",
        "required": ["type", "timestamp", "data"],
        "properties": {"type": known},
        "allOf": of_events,
        "$defs": parts,
    }
    return msgspec.json.format(msgspec.json.encode(schema), indent=2).decode() + "\n"


def _events() -> Iterator[str]:
    whom = (
        (_MEANING, _CONCERNED),
        (dispute_events(), _MEMBER),
        (LEVEL_EVENTS, _MEMBER),
        (MAINTENANCE_EVENTS, _OF_FIP),
        (CAPACITY_EVENTS, _MEMBER),
        ({PERSONAL: "Alarms that a person chose."}, "the person"),
        ({TEST: "Someone asked for a test."}, "their owner"),
        (_OF_STATUS, _PUBLIC_OF),
        ({CHALLENGE: "A new address has to answer it."}, _PUBLIC_OF),
    )
    for events, owners in whom:
        yield from (f"| `{event}` | {text} | {owners} |" for event, text in events.items())


def _public() -> Iterator[str]:
    limits = {
        "emails": MAX_CONFIRMATIONS, "of_email": MAX_OF_EMAIL, "of_host": MAX_OF_HOST,
        "proven": MAX_PROVEN, "waiting": MAX_WAITING_MESSAGES, "days": ENDS_AFTER.days,
        "asked": MAX_CHALLENGES_OF_EMAIL, "asked_host": MAX_CHALLENGES_OF_HOST,
        "asked_all": MAX_CHALLENGES, "answer": MAX_ANSWER,
    }  # fmt: skip
    yield from ("", "## Public status", "", _PUBLIC.format(**limits))
    challenge = challenge_body(lambda n: b"only for this page.".ljust(n, b"."), NOW)
    yield from _json(challenge)
    yield from ("Answer with status 200 and nothing but the value, as JSON:", "")
    known = msgspec.json.decode(challenge, type=ChallengeMessage).data.challenge
    yield from _json(msgspec.json.encode(ChallengeAnswer(known)))
    yield from ("### status.disrupted", "")
    began = NOW.replace(minute=20, second=0)
    news = News(_ID, "KAVERI-FIP", "fif", NewsState.OPEN, began, None, NOW)
    incident = _incident(began)
    yield from _json(status_body(news, incident, "Kaveri Bank", _STATUS)[1])
    yield from field_table(StatusData)
    yield from ("### status.announcement", "")
    said = ("Maintenance on Sunday", "No data can be fetched from 02:00 to 04:00 IST.")
    hindi = Translation("hi", "रविवार को रखरखाव", "02:00 से 04:00 IST तक डेटा नहीं लिया जा सकेगा।")
    begins, ends = NOW + timedelta(hours=20), NOW + timedelta(hours=22)
    one = Said(
        *(_ID, Kind.MAINTENANCE, *said, (hindi,), ("KAVERI-FIP",)),
        *(NOW, begins, ends, "operator:1", NOW),
        updates=(Update(NOW, "The work ends at 05:00 IST."),),
    )
    yield from _json(announcement_body(one, _STATUS, NOW)[1])
    yield from field_table(AnnouncementData)
    yield from ("### status.operational", "")
    over = replace(news, state=NewsState.OVER, ended=began + timedelta(minutes=20))
    yield from _json(status_body(over, incident, "Kaveri Bank", _STATUS)[1])


def _json(body: bytes) -> Iterator[str]:
    yield from ("```json", msgspec.json.format(body, indent=2).decode(), "```", "")


def _body(change: Change) -> bytes:
    return message_of(_announcement(change), _ID, NOW)


def _announcement(change: Change) -> Announcement:
    alarm = alarm_of(change)
    assert alarm is not None
    return Announcement(change, alarm)


def _changes() -> dict[Event, Change]:
    began = NOW.replace(minute=20, second=0)
    window = timedelta(minutes=10)
    incident = _incident(began)
    over = replace(incident, ended=began + 2 * window, ending=Ending.RECOVERED)
    before = replace(incident, subject=PathSubject("SAARTHI-AA", "KAVERI-FIP"))
    return {
        Event.OPENED: Opened(incident),
        Event.MOVED: Moved(before, incident),
        Event.CLOSED: Closed(incident, over),
        Event.REOPENED: Reopened(over, incident),
        Event.WITHDRAWN: withdrawn(incident, began + 3 * window),
    }


def _incident(began: datetime) -> Incident:
    subject, symptoms = FipApi("KAVERI-FIP", "fif"), (Symptom.FAILURES,)
    entry = TimelineEntry(began, TimelineChange.OPENED, subject, symptoms)
    cause = Cause(symptoms, 200, 160, 2.0, 250.0, (), ("SAARTHI-AA",))
    last_bad = began + timedelta(minutes=10)
    return Incident(
        *(subject, began, NOW, last_bad, None, Ending.OPEN, 2, 80, 400, cause, (entry,))
    )


def _personal() -> bytes:
    alarm = alarm_of(_changes()[Event.OPENED])
    assert alarm is not None
    one = PersonalAlarm(_ID, "KAVERI-FIP", Severity.CRITICAL, alarm.title, alarm.text)
    page = f"{CONSOLE}/health/KAVERI-FIP"
    return personal_body([(one, page)], Format.STANDARD, CONSOLE, NOW)
