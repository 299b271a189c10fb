"""Responses about disputes."""

import base64
from collections.abc import Sequence

from msgspec import Struct

from mudra.disputes.correction import Correction
from mudra.disputes.dispute import Case, Dispute, Step
from mudra.disputes.evidence import Evidence
from mudra.http.response.response_body import ResponseBody
from mudra.shared.time_text import iso_ms


class DisputeDetails(Struct, rename="camel", kw_only=True):
    """A comment or dispute; from `start` until before `end`, without `apis` of all."""

    dispute_id: str
    entity_id: str
    kind: str
    about: str
    incident_id: str | None
    apis: Sequence[str]
    start: str
    end: str
    state: str
    raised_at: str
    changed_at: str
    due_at: str | None
    """When the next step must be taken; null once it is closed."""
    waits_for: str | None
    """member or operator; null once it is closed."""


class DisputeStep(Struct, rename="camel", kw_only=True):
    """One step; `state` is the one after it, `by` the side: member, operator or service."""

    at: str
    by: str
    act: str
    state: str
    text: str


class EvidenceDetails(Struct, rename="camel", kw_only=True):
    """A file, without its content; `sha256` in hexadecimal."""

    evidence_id: str
    name: str
    media_type: str
    size: int
    sha256: str
    added_at: str


class CorrectionDetails(Struct, rename="camel", kw_only=True):
    """A correction in force; an `api` of null means all."""

    correction_id: str
    api: str | None
    start: str
    end: str
    effect: str
    reason: str
    decided_at: str


class DisputesResponse(ResponseBody, kw_only=True):
    """Disputes and comments, the newest first: 500 at most."""

    disputes: list[DisputeDetails]


class DisputeResponse(ResponseBody, kw_only=True):
    """A dispute with its steps, its files and its corrections in force."""

    dispute: DisputeDetails
    steps: list[DisputeStep]
    evidence: list[EvidenceDetails]
    corrections: list[CorrectionDetails]


class EvidenceResponse(ResponseBody, kw_only=True):
    """The file that was attached; the same content twice is one file."""

    evidence: EvidenceDetails


class EvidenceContentResponse(ResponseBody, kw_only=True):
    """A file with its content in Base64."""

    evidence: EvidenceDetails
    content: str


def disputes_response(found: Sequence[Dispute]) -> DisputesResponse:
    """Return a list as the wire has it."""
    return DisputesResponse(disputes=[dispute_details(one) for one in found])


def case_response(case: Case) -> DisputeResponse:
    """Return a dispute with all that belongs to it."""
    return DisputeResponse(
        dispute=dispute_details(case.dispute),
        steps=[_step(one) for one in case.steps],
        evidence=[evidence_details(one) for one in case.evidence],
        corrections=[_correction(one) for one in case.corrections],
    )


def content_response(one: Evidence, content: bytes) -> EvidenceContentResponse:
    """Return a file with its content."""
    return EvidenceContentResponse(
        evidence=evidence_details(one), content=base64.b64encode(content).decode("ascii")
    )


def dispute_details(one: Dispute) -> DisputeDetails:
    """Return a dispute without its steps."""
    return DisputeDetails(
        dispute_id=one.dispute_id,
        entity_id=one.entity_id,
        kind=one.kind.value,
        about=one.about.value,
        incident_id=one.incident_id,
        apis=one.apis,
        start=iso_ms(one.start),
        end=iso_ms(one.end),
        state=one.state.value,
        raised_at=iso_ms(one.raised_at),
        changed_at=iso_ms(one.changed_at),
        due_at=iso_ms(one.due_at) if one.due_at else None,
        waits_for=one.waits_for.value if one.waits_for else None,
    )


def evidence_details(one: Evidence) -> EvidenceDetails:
    """Return a file without its content."""
    return EvidenceDetails(
        evidence_id=one.evidence_id,
        name=one.name,
        media_type=one.media_type,
        size=one.size,
        sha256=one.sha256,
        added_at=iso_ms(one.added_at),
    )


def _step(one: Step) -> DisputeStep:
    return DisputeStep(
        at=iso_ms(one.at),
        by=one.by.value,
        act=one.act.value,
        state=one.state.value,
        text=one.text,
    )


def _correction(one: Correction) -> CorrectionDetails:
    return CorrectionDetails(
        correction_id=one.id,
        api=one.api,
        start=iso_ms(one.start),
        end=iso_ms(one.end),
        effect=one.effect,
        reason=one.reason,
        decided_at=iso_ms(one.decided_at),
    )
