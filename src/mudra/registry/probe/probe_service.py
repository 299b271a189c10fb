"""Ask for a probe, and record what it found; an approval does not depend on it."""

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.registry.lifecycle.refusal import unknown_entity
from mudra.registry.ports import Registry
from mudra.registry.probe.probe import Probe, ProbeResult, WaitingProbe, nothing_to_probe
from mudra.registry.probe.probe_store import Probes
from mudra.shared.refusal import PlainRefusal


class ProbeService(Struct, frozen=True):
    """The acts of operators on probes, in the caller's transaction."""

    probes: Probes
    registry: Registry
    audit_log: AuditLog

    async def request(self, entity_id: str, caller: Caller) -> Probe | PlainRefusal:
        """Ask for a probe of the pending version, else of the live one; one at a time."""
        record = await self.registry.record(entity_id)
        if record is None:
            return unknown_entity(entity_id)
        version = record.pending or record.live
        if version is None:
            return nothing_to_probe(entity_id)
        await self.probes.hold(entity_id)
        latest = await self.probes.latest(entity_id)
        if latest is not None and latest.done_at is None:
            return latest
        return await self.probes.add(entity_id, version.number, caller)

    async def complete(self, waiting: WaitingProbe, result: ProbeResult) -> None:
        """Record what a probe found, once."""
        if not await self.probes.complete(waiting.probe_id, result):
            return
        certificate = result.certificate
        detail: dict[str, str | int] = {
            "version": waiting.version,
            "status": result.status,
            "key": "proven" if result.is_key_proven else result.key_problem,
        }
        if certificate is not None:
            detail["certificate"] = certificate.sha256
            detail["trusted"] = certificate.problem or "yes"
        await self.audit_log.append(
            AuditEntry(
                EventName.REGISTRY_ENTRY_PROBE,
                waiting.caller,
                waiting.entity_id,
                reason=result.problem,
                detail=detail,
                outcome=Outcome.FAILED if result.problem else Outcome.SUCCESS,
            )
        )
