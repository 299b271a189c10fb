"""Events over HTTP: as OTLP logs (JSON), or as a signed webhook. A status of 2xx acknowledges."""

import ssl
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import httpx2
import msgspec
import structlog

from mudra.audit.event import Outcome
from mudra.audit.export.exported_event import ExportDestination, ExportedEvent
from mudra.shared.build_version import version
from mudra.shared.clock import Clock
from mudra.shared.secret_text import SecretText
from mudra.webhook.failure import why_failed
from mudra.webhook.sign import signed_headers

_WHOLE_S: Final = 30.0
_MAX_ANSWER: Final = 65536
_SEVERITY: Final = {
    Outcome.SUCCESS: (9, "INFO"),
    Outcome.REFUSED: (13, "WARN"),
    Outcome.FAILED: (17, "ERROR"),
}
"""Numbers of OpenTelemetry's log data model."""
_JSON: Final = msgspec.json.Encoder()
_log = structlog.get_logger()


class _OverHttp:
    acknowledges: Final = True

    def __init__(self, to: ExportDestination, context: ssl.SSLContext) -> None:
        self._to = to
        self._context = context

    async def _post(self, body: bytes, headers: Mapping[str, str]) -> tuple[str, bytes]:
        """Post a body; returns why it was not taken or nothing, and the answer as far as read."""
        try:
            async with (
                httpx2.AsyncClient(
                    timeout=_WHOLE_S,
                    follow_redirects=False,
                    trust_env=False,
                    verify=self._context,
                ) as client,
                client.stream(
                    "POST",
                    self._to.url,
                    content=body,
                    headers={"Content-Type": "application/json", **headers},
                ) as response,
            ):
                answer = b""
                async for piece in response.aiter_raw():
                    answer += piece
                    if len(answer) > _MAX_ANSWER:
                        break
                if not response.is_success:
                    return f"{self._to}: it answered {response.status_code}", b""
                return "", answer
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            return f"{self._to}: {why_failed(error)}", b""


class WebhookReceiver(_OverHttp):
    """A program of the operator's, which checks the signature (Standard Webhooks)."""

    def __init__(
        self, to: ExportDestination, context: ssl.SSLContext, secret: SecretText, clock: Clock
    ) -> None:
        super().__init__(to, context)
        self._secret = secret
        self._clock = clock

    async def take(self, events: Sequence[ExportedEvent]) -> str:
        """Post events in one message, whose ID names these events; returns why not, or nothing."""
        body = _JSON.encode({"events": events})
        message_id = f"audit_{events[0].hash[:32]}_{len(events)}"
        headers = signed_headers([self._secret], message_id, self._clock(), body)
        problem, _ = await self._post(body, headers)
        return problem


class OtlpReceiver(_OverHttp):
    """A collector of OpenTelemetry."""

    def __init__(
        self, to: ExportDestination, context: ssl.SSLContext, headers: Mapping[str, str]
    ) -> None:
        super().__init__(to, context)
        self._headers = headers

    async def take(self, events: Sequence[ExportedEvent]) -> str:
        """Send events as log records; returns why they were not taken, or nothing."""
        problem, answer = await self._post(_JSON.encode(logs(events)), self._headers)
        if not problem and (rejected := _rejected(answer)):
            # OTLP forbids to send them again: the collector would reject them for ever.
            span = (events[0].seq, events[-1].seq)
            _log.error("the collector rejected events of the audit", records=rejected, seq=span)
        return problem


def logs(events: Sequence[ExportedEvent]) -> dict[str, Any]:
    """Return events as an ExportLogsServiceRequest (OTLP 1, JSON)."""
    resource = {"service.name": "mudra", "service.version": version()}
    scope = {"name": "mudra.audit", "version": str(events[0].version)}
    return {
        "resourceLogs": [
            {
                "resource": {"attributes": _attributes(resource)},
                "scopeLogs": [{"scope": scope, "logRecords": [_record(one) for one in events]}],
            }
        ]
    }


def _record(event: ExportedEvent) -> dict[str, Any]:
    number, text = _SEVERITY[event.outcome]
    at = str(_nanoseconds(event.at))
    named: dict[str, str | int] = {
        "client.address": event.address,
        "mudra.audit.actor": event.actor,
        "mudra.audit.entity_id": event.entity_id,
        "mudra.audit.hash": event.hash,
        "mudra.audit.outcome": event.outcome.value,
        "mudra.audit.seq": event.seq,
        "mudra.txn_id": event.txn_id,
    }
    return {
        "timeUnixNano": at,
        "observedTimeUnixNano": at,
        "severityNumber": number,
        "severityText": text,
        "eventName": event.event,
        "body": {"stringValue": _JSON.encode(event).decode()},
        "attributes": _attributes({name: one for name, one in named.items() if one != ""}),
    }


def _attributes(values: Mapping[str, str | int]) -> list[dict[str, Any]]:
    return [
        {
            "key": name,
            "value": {"intValue": str(one)} if isinstance(one, int) else {"stringValue": one},
        }
        for name, one in values.items()
    ]


def _nanoseconds(at: datetime) -> int:
    return int(at.timestamp()) * 1_000_000_000 + at.microsecond * 1000


class _PartialSuccess(msgspec.Struct, rename="camel"):
    rejected_log_records: int | str = 0
    error_message: str = ""


class _Answer(msgspec.Struct, rename="camel"):
    partial_success: _PartialSuccess | None = None


def _rejected(answer: bytes) -> int:
    """Return how many records were rejected; an answer that is no JSON says nothing of that."""
    try:
        found = msgspec.json.decode(answer, type=_Answer).partial_success
        return int(found.rejected_log_records) if found is not None else 0
    except ValueError:
        return 0
