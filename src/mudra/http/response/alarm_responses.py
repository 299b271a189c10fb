"""Responses about incidents, silences and webhooks."""

from msgspec import Struct, field

from mudra.http.response.response_body import ResponseBody
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.incidents.silence import Silence
from mudra.metrics.incidents.subject import name_of
from mudra.metrics.notifications.webhook import Webhook
from mudra.shared.time_text import iso_ms


class IncidentDetails(Struct, rename="camel", kw_only=True):
    """One incident; `type` is a code of spec 2.5, or empty."""

    incident_id: str
    kind: str
    entity_id: str
    type: str
    began: str
    last_bad: str
    ended: str | None
    state: str
    bad_windows: int
    succeeded: int
    judged: int
    acknowledged_by: str | None


class IncidentsResponse(ResponseBody, kw_only=True):
    """Incidents, newest first."""

    incidents: list[IncidentDetails]


class IncidentResponse(ResponseBody, kw_only=True):
    """One incident."""

    incident: IncidentDetails


class AcknowledgedResponse(ResponseBody, kw_only=True):
    """The owner of an incident."""

    incident_id: str = field(name="incidentId")
    acknowledged_by: str = field(name="acknowledgedBy")


class SilenceDetails(Struct, rename="camel", kw_only=True):
    """One silence; an empty entity or type means all."""

    silence_id: str
    entity_id: str
    type: str
    begins: str
    ends: str
    reason: str
    made_by: str


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


class WebhooksResponse(ResponseBody, kw_only=True):
    """Webhooks, the oldest first."""

    webhooks: list[WebhookDetails]


class WebhookResponse(ResponseBody, kw_only=True):
    """The webhook that was removed."""

    webhook: WebhookDetails


class NewWebhookResponse(WebhookResponse, kw_only=True):
    """A new webhook; `secret` signs its messages and is shown this once."""

    secret: str


def incident_details(stored: StoredIncident) -> IncidentDetails:
    """Return an incident as the wire has it."""
    incident, name = stored.incident, name_of(stored.incident.subject)
    return IncidentDetails(
        incident_id=stored.incident_id,
        kind=name.kind.value,
        entity_id=name.entity_id,
        type=name.type,
        began=iso_ms(incident.began),
        last_bad=iso_ms(incident.last_bad),
        ended=iso_ms(incident.ended) if incident.ended else None,
        state=incident.ending.value,
        bad_windows=incident.bad_windows,
        succeeded=incident.succeeded,
        judged=incident.judged,
        acknowledged_by=stored.acknowledged_by,
    )


def silence_details(silence: Silence) -> SilenceDetails:
    """Return a silence as the wire has it."""
    return SilenceDetails(
        silence_id=silence.silence_id,
        entity_id=silence.entity_id,
        type=silence.type,
        begins=iso_ms(silence.begins),
        ends=iso_ms(silence.ends),
        reason=silence.reason,
        made_by=silence.made_by,
    )


def webhook_details(webhook: Webhook) -> WebhookDetails:
    """Return a webhook as the wire has it, without the key that signs its messages."""
    return WebhookDetails(
        webhook_id=webhook.webhook_id,
        entity_id=webhook.entity_id,
        url=webhook.url,
        made_by=webhook.made_by,
        made_at=iso_ms(webhook.made_at),
        waiting=webhook.waiting,
        delivered_at=iso_ms(webhook.delivered_at) if webhook.delivered_at else None,
        problem=webhook.problem,
    )
