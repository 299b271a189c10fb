"""Responses about probes of base URLs."""

from typing import Annotated

from msgspec import Meta, Struct, field

from mudra.http.response.response_body import DateTime, ResponseBody
from mudra.registry.probe.probe import Probe
from mudra.shared.time_text import iso_ms


class ProbeCertificate(Struct, kw_only=True, rename="camel"):
    """The certificate by which the server answered; `problem` says why it is not trusted."""

    subject: str
    issuer: str
    names: list[str]
    valid_until: DateTime
    sha256: str
    problem: str


class ProbeResponse(ResponseBody, kw_only=True):
    """The latest probe of an entry's base URL; without `doneAt` it waits or runs."""

    entity_id: str = field(name="entityId")
    version: int
    requested_by: str = field(name="requestedBy")
    requested_at: DateTime = field(name="requestedAt")
    done_at: DateTime | None = field(name="doneAt")
    status: Annotated[int, Meta(description="of the answer; 0 without one")]
    problem: Annotated[str, Meta(description="why there was no answer")]
    key_proven: bool = field(name="keyProven")
    key_problem: str = field(name="keyProblem")
    certificate: ProbeCertificate | None


def probe_response(probe: Probe) -> ProbeResponse:
    """Return a probe as programs read it."""
    result = probe.result
    found = result.certificate if result else None
    return ProbeResponse(
        entity_id=probe.entity_id,
        version=probe.version,
        requested_by=probe.requested_by,
        requested_at=iso_ms(probe.requested_at),
        done_at=iso_ms(probe.done_at) if probe.done_at else None,
        status=result.status if result else 0,
        problem=result.problem if result else "",
        key_proven=result.is_key_proven if result else False,
        key_problem=result.key_problem if result else "",
        certificate=None
        if found is None
        else ProbeCertificate(
            subject=found.subject,
            issuer=found.issuer,
            names=list(found.names),
            valid_until=iso_ms(found.valid_until),
            sha256=found.sha256,
            problem=found.problem,
        ),
    )
