"""Responses about incidents, silences and webhooks."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from mudra.http.response.operator_name import shown_to_members
from mudra.http.response.response_body import DateTime, ResponseBody
from mudra.levels.notice import Notice
from mudra.metrics.incidents.acts.act import Act
from mudra.metrics.incidents.explanation import cause_text
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.incidents.silence import Silence
from mudra.metrics.incidents.subject import name_of
from mudra.metrics.notifications.alarm import ambiguity, timeline_lines
from mudra.metrics.notifications.severity import severity_of
from mudra.metrics.notifications.webhook import AddedWebhook, Attempt, Event, Owner, Webhook
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms


class TimelineDetails(Struct, rename="camel", kw_only=True):
    """One line of an incident's history."""

    at: str
    text: str


class IncidentDetails(Struct, rename="camel", kw_only=True):
    """One incident; `type` has codes of APIs with commas, or is empty.

    `peerId` is the FIP of a path, whose AA is `entityId`. `calls`, `failures` and `expected` are
    those of the last bad window that could show, that show, and that usually show the symptoms.
    """

    incident_id: str
    kind: str
    entity_id: str
    peer_id: str
    type: str
    symptoms: list[str]
    severity: str
    """That of its alarms."""
    began: str
    detected: str
    last_bad: str
    ended: str | None
    state: str
    """By the evidence; `open` is what people have to act on, as they decided."""
    open: bool
    bad_windows: int
    succeeded: int
    eligible: int = field(name="judged")
    acknowledged_by: str | None
    calls: int
    failures: int
    expected: float
    cause: str
    """Its name, with those that the evidence does not separate from it."""
    ambiguity: str
    """What the evidence does not separate; empty when the cause is certain."""
    timeline: list[TimelineDetails] = field(name="story")


class IncidentsResponse(ResponseBody, kw_only=True):
    """Incidents, newest first."""

    incidents: list[IncidentDetails]


class ActDetails(Struct, rename="camel", kw_only=True):
    """The act of a person about an incident; `owner` is empty where the act names none."""

    at: str
    by: str
    act: str
    text: str
    owner: str


class IncidentResponse(ResponseBody, kw_only=True):
    """One incident, and what people did about it, the oldest first."""

    incident: IncidentDetails
    acts: list[ActDetails]


class AcknowledgedResponse(ResponseBody, kw_only=True):
    """The owner of an incident."""

    incident_id: str = field(name="incidentId")
    acknowledged_by: str = field(name="acknowledgedBy")


class SilenceDetails(Struct, rename="camel", kw_only=True):
    """One silence; an empty entity or type means all. With a peer, the path between the two."""

    silence_id: str
    entity_id: str
    peer_id: str
    type: str
    begins: str
    ends: str
    reason: str
    made_by: str
    maintenance: bool
    notice: Notice | None
    """What the network's rule makes of a planned maintenance."""


class SilencesResponse(ResponseBody, kw_only=True):
    """Silences, the earliest end first."""

    silences: list[SilenceDetails]


class SilenceResponse(ResponseBody, kw_only=True):
    """One silence as it is now."""

    silence: SilenceDetails


class WebhookDetails(Struct, rename="camel", kw_only=True):
    """One webhook; an empty entity means the whole network."""

    webhook_id: str
    entity_id: str
    url: str
    made_by: str
    made_at: str
    waiting: int
    delivered_at: str | None
    problem: str
    fips: list[str]
    format: str
    previous_key_until: str | None
    """Until when the key before the last rotation signs as well."""


class WebhooksResponse(ResponseBody, kw_only=True):
    """Webhooks, the oldest first."""

    webhooks: list[WebhookDetails]


class AttemptDetails(Struct, rename="camel", kw_only=True):
    """One attempt to deliver a message."""

    at: str
    message_id: str
    event: str
    attempt: int
    delivered: bool
    problem: str


class AttemptsResponse(ResponseBody, kw_only=True):
    """The latest attempts, the newest first."""

    attempts: list[AttemptDetails]


class WebhookEventDetails(Struct, rename="camel", kw_only=True):
    """One message: `state` is waiting, delivered or failed, `problem` of its last attempt."""

    message_id: str
    event: str
    made_at: DateTime
    state: Annotated[str, Meta(extra_json_schema={"enum": ["waiting", "delivered", "failed"]})]
    attempts: int
    over_at: DateTime | None
    problem: str
    body: str
    """The text that is posted, which is signed."""


class WebhookEventsResponse(ResponseBody, kw_only=True):
    """The latest messages, the newest first."""

    events: list[WebhookEventDetails]


def events_response(found: Sequence[Event] | Refusal) -> WebhookEventsResponse | Refusal:
    """Return events as the wire has them."""
    if isinstance(found, Refusal):
        return found
    return WebhookEventsResponse(
        events=[
            WebhookEventDetails(
                message_id=one.message_id,
                event=one.event,
                made_at=iso_ms(one.made_at),
                state=one.state,
                attempts=one.attempts,
                over_at=iso_ms(one.over_at) if one.over_at else None,
                problem=one.problem,
                body=one.body.decode(errors="replace"),
            )
            for one in found
        ]
    )


class WebhookResponse(ResponseBody, kw_only=True):
    """The webhook that was removed, or that gets a test message."""

    webhook: WebhookDetails


class WebhookKeyResponse(WebhookResponse, kw_only=True):
    """A webhook with a new key: `secret` signs its messages and is shown this once."""

    secret: str


def act_details(act: Act) -> ActDetails:
    """Return an act as the wire has it."""
    return ActDetails(
        at=iso_ms(act.at), by=act.by, act=act.kind.value, text=act.text, owner=act.owner_name
    )


def incident_details(stored: StoredIncident) -> IncidentDetails:
    """Return an incident as the wire has it."""
    incident, name = stored.incident, name_of(stored.incident.subject)
    return IncidentDetails(
        incident_id=stored.incident_id,
        kind=name.kind.value,
        entity_id=name.entity_id,
        peer_id=name.peer_id,
        type=name.type,
        symptoms=[one.value for one in incident.cause.symptoms],
        severity=severity_of(incident).value,
        began=iso_ms(incident.began),
        detected=iso_ms(incident.detected),
        last_bad=iso_ms(incident.last_bad),
        ended=iso_ms(incident.ended) if incident.ended else None,
        state=incident.ending.value,
        open=stored.is_open,
        bad_windows=incident.bad_windows,
        succeeded=incident.succeeded,
        eligible=incident.eligible,
        acknowledged_by=stored.acknowledged_by,
        calls=incident.cause.calls,
        failures=incident.cause.failures,
        expected=incident.cause.expected,
        cause=cause_text(incident),
        ambiguity=ambiguity(incident),
        timeline=[
            TimelineDetails(at=iso_ms(at), text=text) for at, text in timeline_lines(incident)
        ],
    )


def own_incident_details(stored: StoredIncident) -> IncidentDetails:
    """Return an incident as a member sees it: the operator who took it has no name there."""
    owner = stored.acknowledged_by
    return replace(incident_details(stored), acknowledged_by=owner and shown_to_members(owner))


def silence_details(silence: Silence, notices: Mapping[str, Notice]) -> SilenceDetails:
    """Return a silence as the wire has it."""
    return SilenceDetails(
        silence_id=silence.silence_id,
        entity_id=silence.entity_id,
        peer_id=silence.peer_id,
        type=silence.type,
        begins=iso_ms(silence.begins),
        ends=iso_ms(silence.ends),
        reason=silence.reason,
        made_by=silence.made_by,
        maintenance=silence.maintenance,
        notice=notices.get(silence.silence_id),
    )


def own_silence_details(silence: Silence, notices: Mapping[str, Notice]) -> SilenceDetails:
    """Return a maintenance as its member sees it."""
    return replace(silence_details(silence, notices), made_by=shown_to_members(silence.made_by))


def webhook_details(webhook: Webhook, owner: Owner | None) -> WebhookDetails:
    """Return a webhook as the wire has it, without the key that signs its messages."""
    to_member = owner is not None and owner.entity_id
    return WebhookDetails(
        webhook_id=webhook.webhook_id,
        entity_id=webhook.entity_id,
        url=webhook.shown_url,
        made_by=shown_to_members(webhook.made_by) if to_member else webhook.made_by,
        made_at=iso_ms(webhook.made_at),
        waiting=webhook.waiting,
        delivered_at=iso_ms(webhook.delivered_at) if webhook.delivered_at else None,
        problem=webhook.problem,
        fips=list(webhook.fips),
        format=webhook.format.value,
        previous_key_until=iso_ms(webhook.previous_until) if webhook.previous_until else None,
    )


def webhooks_response(found: Sequence[Webhook], owner: Owner | None) -> WebhooksResponse:
    """Return webhooks as the wire has them."""
    return WebhooksResponse(webhooks=[webhook_details(one, owner) for one in found])


def webhook_response(
    outcome: Webhook | Refusal, owner: Owner | None = None
) -> WebhookResponse | Refusal:
    """Return a webhook as the wire has it, or why there is none."""
    if isinstance(outcome, Refusal):
        return outcome
    return WebhookResponse(webhook=webhook_details(outcome, owner))


def added_response(
    outcome: AddedWebhook | Refusal, owner: Owner | None = None
) -> WebhookKeyResponse | Refusal:
    """Return a webhook with its new key, or why there is none."""
    if isinstance(outcome, Refusal):
        return outcome
    return WebhookKeyResponse(
        webhook=webhook_details(outcome.webhook, owner), secret=outcome.secret.reveal()
    )


def attempts_response(attempts: Sequence[Attempt] | Refusal) -> AttemptsResponse | Refusal:
    """Return the deliveries and failures as the wire has them."""
    if isinstance(attempts, Refusal):
        return attempts
    return AttemptsResponse(
        attempts=[
            AttemptDetails(
                at=iso_ms(one.at),
                message_id=one.message_id,
                event=one.event,
                attempt=one.number,
                delivered=not one.problem,
                problem=one.problem,
            )
            for one in attempts
        ]
    )
