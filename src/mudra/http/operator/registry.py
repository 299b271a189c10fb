"""/operator/v1/registry: what awaits approval, an entry's history, decisions on both."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final, TypeAlias

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Meta, Struct, field

from mudra.http.auth.gates import OperatorCall, operator
from mudra.http.operator.shapes import DecisionRequest
from mudra.http.registry.query import read_moment
from mudra.http.request.fields import NoParameters
from mudra.http.response import conflicts
from mudra.http.response.http_refusals import InvalidField
from mudra.http.response.response_body import DateTime, ResponseBody
from mudra.http.route import get, post
from mudra.identity.accounts.people_store import People
from mudra.identity.operators.operator import Scope
from mudra.registry.lifecycle import actor
from mudra.registry.lifecycle.acts.register import Command, decide
from mudra.registry.lifecycle.decision import Decision, RegistryAction
from mudra.registry.lifecycle.difference import FieldChange
from mudra.registry.lifecycle.history import KeyPeriod, Step, key_periods
from mudra.registry.lifecycle.history import history as steps_of
from mudra.registry.lifecycle.pending_entries import MAX_PENDING, PendingEntry
from mudra.registry.lifecycle.pending_entry_store import PendingEntries
from mudra.registry.lifecycle.record import Record
from mudra.registry.lifecycle.refusal import unknown_entity
from mudra.registry.payload.entry import Entry
from mudra.registry.payload.extend_vocabulary import read_vocabulary
from mudra.registry.payload.vocabulary import VocabularyKind
from mudra.registry.payload.vocabulary_store import VocabularyStore
from mudra.registry.ports import Registry
from mudra.registry.probe.probe import Probe, not_probed
from mudra.registry.probe.probe_service import ProbeService
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms

_FieldValue: TypeAlias = Annotated[object, Meta(description="any JSON value; null for none")]


class FieldChangeResponse(Struct, frozen=True, rename="camel"):
    """A field that differs. A list differs as a whole."""

    path: str
    before: _FieldValue
    after: _FieldValue
    needs_approval: bool
    risk: str


class VersionResponse(Struct, frozen=True, rename="camel"):
    """A version of an entry, with what it changed."""

    version: int
    hash: str
    status: str
    submitted_by: str
    submitted_at: DateTime
    decided_by: str
    decided_at: DateTime | None
    reason: str
    goes_live_at: DateTime | None
    live_from: DateTime | None
    live_until: DateTime | None
    equal_to: int
    thumbprint: str
    changes: Sequence[FieldChangeResponse]


class KeyPeriodResponse(Struct, frozen=True):
    """A key and the time in which it was live; `until` is null while it is."""

    kid: str
    thumbprint: str
    since: DateTime
    until: DateTime | None


class RecordResponse(ResponseBody, kw_only=True):
    """The newest versions of an entry, its keys, and what the live version holds."""

    entity_id: str = field(name="entityId")
    type: str
    entity_status: str = field(name="standing")
    versions: Sequence[VersionResponse]
    keys: Sequence[KeyPeriodResponse]
    entry: Entry


class VocabularyResponse(ResponseBody, kw_only=True):
    """The words that entries may use: those of this release, and those that were added."""

    fitype: Sequence[str]
    identifier_type: Sequence[str] = field(name="identifierType")


class PendingEntryResponse(Struct, frozen=True, rename="camel"):
    """A pending version, and what it would change of the live one."""

    entity_id: str
    type: str
    name: str
    entity_status: str = field(name="standing")
    version: int
    hash: str
    status: str
    submitted_by: str
    submitted_at: DateTime
    goes_live_at: DateTime | None
    first: bool
    risks: Sequence[str]
    changes: Sequence[FieldChangeResponse]


class PendingEntriesResponse(ResponseBody, kw_only=True):
    """Versions awaiting approval, the longest waiting first."""

    waiting: Sequence[PendingEntryResponse]


class DecisionResponse(ResponseBody, kw_only=True):
    """The decision, and the entry's state afterwards."""

    entity_id: str = field(name="entityId")
    act: str
    status: str
    entity_status: str = field(name="standing")
    version: int


def record_response(record: Record) -> RecordResponse:
    """Return the response that shows the history of an entry."""
    return RecordResponse(
        entity_id=record.entity_id,
        type=record.entity_type.value,
        entity_status=record.status.value,
        versions=[_version(step) for step in steps_of(record)],
        keys=[_key(period) for period in key_periods(record)],
        entry=(record.live or record.versions[-1]).entry,
    )


def pending_response(entries: Sequence[PendingEntry]) -> PendingEntriesResponse:
    """Return the response that lists what awaits approval."""
    return PendingEntriesResponse(waiting=[_pending(one) for one in entries])


def decision_response(decision: Decision) -> DecisionResponse:
    """Return the response of a decision."""
    return DecisionResponse(
        entity_id=decision.after.entity_id,
        act=decision.action.value,
        status=decision.status,
        entity_status=decision.after.status.value,
        version=decision.version,
    )


def _pending(entry: PendingEntry) -> PendingEntryResponse:
    pending = entry.pending
    return PendingEntryResponse(
        entity_id=entry.entity_id,
        type=entry.entity_type.value,
        name=pending.entry.entityinfo.name,
        entity_status=entry.status.value,
        version=pending.number,
        hash=pending.hash,
        status=pending.status.value,
        submitted_by=pending.submitted_by,
        submitted_at=iso_ms(pending.submitted_at),
        goes_live_at=_time(pending.goes_live_at),
        first=entry.live is None,
        risks=[risk.value for risk in entry.risks],
        changes=[_change(change) for change in entry.changes],
    )


def _version(step: Step) -> VersionResponse:
    version = step.version
    return VersionResponse(
        version=version.number,
        hash=version.hash,
        status=version.status.value,
        submitted_by=version.submitted_by,
        submitted_at=iso_ms(version.submitted_at),
        decided_by=version.decided_by,
        decided_at=_time(version.decided_at),
        reason=version.reason,
        goes_live_at=_time(version.goes_live_at),
        live_from=_time(version.live_from),
        live_until=_time(version.live_until),
        equal_to=version.equal_to,
        thumbprint=version.key.thumbprint,
        changes=[_change(change) for change in step.changes],
    )


def _change(change: FieldChange) -> FieldChangeResponse:
    return FieldChangeResponse(
        change.path, change.before, change.after, change.needs_approval, change.risk.value
    )


def _key(period: KeyPeriod) -> KeyPeriodResponse:
    return KeyPeriodResponse(
        period.kid, period.thumbprint, iso_ms(period.since), _time(period.until)
    )


def _time(at: datetime | None) -> str | None:
    return None if at is None else iso_ms(at)


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


@get("/registry/waiting", "List what waits for approval", gate=operator(Scope.REGISTRY))
async def waiting(call: OperatorCall[NoParameters]) -> PendingEntriesResponse | Refusal:
    """List pending versions, the longest waiting first, 1,000 at most, each with its changes."""
    return pending_response(await PendingEntries(call.tx).waiting(MAX_PENDING))


@get("/registry/vocabulary", "List the words of entries", gate=operator(Scope.REGISTRY))
async def vocabulary(call: OperatorCall[NoParameters]) -> VocabularyResponse | Refusal:
    """List the FI types and identifier types that entries may use."""
    words = await read_vocabulary(VocabularyStore(call.tx))
    return VocabularyResponse(
        fitype=words.words(VocabularyKind.FI_TYPE).listed,
        identifier_type=words.words(VocabularyKind.IDENTIFIER_TYPE).listed,
    )


@get(
    "/registry/entries/{entity_id:str}",
    "Show the history of an entry",
    gate=operator(Scope.REGISTRY),
)
async def history(
    call: OperatorCall[NoParameters], entity_id: FromPath[str]
) -> RecordResponse | Refusal:
    """Show the newest 200 versions of an entry with who, when and what each changed, and its keys.

    `entry` is what the live version holds, else the newest one. The live and the pending version
    are always among them. Where the first version shown is
    not 1, there are older ones; the first key may have been live before.
    """
    record = await call.tx.service(Registry).history(entity_id)
    return unknown_entity(entity_id) if record is None else record_response(record)


@post(
    "/registry/entries/{entity_id:str}/decide",
    "Decide on an entry",
    conflicts=conflicts.DECIDE,
    gate=operator(Scope.REGISTRY),
)
async def decide_on(
    call: OperatorCall[DecisionRequest], entity_id: FromPath[str]
) -> DecisionResponse | Refusal:
    """Approve (now or from `goesLiveAt`), reject, suspend, restore, retire or roll back.

    To approve names the `version` that was reviewed; with its `hash`, the content as well.
    """
    goes_live_at = read_moment(call.body.goes_live_at or None, "goesLiveAt")
    if isinstance(goes_live_at, InvalidField):
        return goes_live_at
    caller, user_id = call.caller, call.operator.user_id
    user = await People(call.tx).by_id(user_id) if user_id else None
    administers = user.administers if user else ()
    acting = actor.operator(
        *(caller.actor, caller.address, caller.txn_id), user_id=user_id, administers=administers
    )
    action = RegistryAction(call.body.act)
    body = call.body
    command = Command(
        *(action, entity_id, acting, body.reason, body.version, goes_live_at), hash=body.hash
    )
    outcome = await decide(call.tx.service(Registry), command)
    return decision_response(outcome) if isinstance(outcome, Decision) else outcome


@post(
    "/registry/entries/{entity_id:str}/probe",
    "Probe the base URL of an entry",
    conflicts=conflicts.PROBE,
    gate=operator(Scope.REGISTRY),
)
async def probe(
    call: OperatorCall[NoParameters], entity_id: FromPath[str]
) -> ProbeResponse | Refusal:
    """Have the base URL of the pending version called, else of the live one; GET has the result.

    Whether it answers, by which certificate, and whether it holds the registered key. An approval
    does not depend on it.
    """
    found = await call.tx.service(ProbeService).request(entity_id, call.caller)
    return probe_response(found) if isinstance(found, Probe) else found


@get(
    "/registry/entries/{entity_id:str}/probe",
    "Show the latest probe of an entry",
    conflicts=conflicts.PROBED,
    gate=operator(Scope.REGISTRY),
)
async def show_probe(
    call: OperatorCall[NoParameters], entity_id: FromPath[str]
) -> ProbeResponse | Refusal:
    """Show what the latest probe found; without `doneAt` it is not done yet."""
    found = await call.tx.service(ProbeService).probes.latest(entity_id)
    return not_probed(entity_id) if found is None else probe_response(found)


handlers: Final[list[ControllerRouterHandler]] = [
    *(waiting, vocabulary, history, decide_on, probe, show_probe)
]
