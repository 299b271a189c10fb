"""Approvals: pending entries, their changes and risks, and decisions on entries."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec.structs import replace

from mudra.console.framework import page
from mudra.console.framework.console_errors import PageRefusal, page_problem, refusal_text
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.page_zone import zone_of_form
from mudra.console.framework.session.identity_proof import RECENT
from mudra.console.framework.table import Column, Table
from mudra.console.pages.operator.comparison import all_fields, compared, new_key
from mudra.console.pages.operator.labels import approval_link, member_link, names_of, tone
from mudra.http.auth.gates import operator
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.memberships.onboard import ENTITY_ID
from mudra.identity.operators.operator import Scope
from mudra.localization.duration import span_text
from mudra.localization.language import gettext, translatable
from mudra.metrics.health.health_service import HealthService
from mudra.registry.lifecycle import actor
from mudra.registry.lifecycle.acts.register import Command, decide
from mudra.registry.lifecycle.decision import MAX_REASON, Decision, RegistryAction
from mudra.registry.lifecycle.difference import difference, in_one_line
from mudra.registry.lifecycle.history import KeyPeriod, history, key_periods
from mudra.registry.lifecycle.pending_entries import MAX_PENDING, PendingEntry
from mudra.registry.lifecycle.pending_entry_store import PendingEntries
from mudra.registry.lifecycle.record import Record
from mudra.registry.lifecycle.refusal import unknown_entity
from mudra.registry.ports import Registry
from mudra.registry.probe.probe import Probe
from mudra.registry.probe.probe_service import ProbeService
from mudra.shared.refusal import Refusal
from mudra.tokens.secrets.address_binding import AddressBinding
from mudra.tokens.secrets.address_binding_store import AddressBindings

DONE: Final = {
    "approve": translatable("Approved."),
    "reject": translatable("Rejected. The member sees the reason."),
    "suspend": translatable("Suspended: removed from the directory, and no new tokens."),
    "restore": translatable("Restored."),
    "retire": translatable("Retired."),
    "rollBack": translatable("Rolled back: a new version with the earlier fields is live."),
}
_WAITS: Final = "rollBackWaits"
_PROBE_RUNS: Final = timedelta(minutes=1)
"""A probe that has no result for longer has none to wait for: no job runs."""
_MINUTE: Final = timedelta(minutes=1)
_SAY_WHY: Final = translatable("or give a reason to approve it now")
_SENTENCES: Final = (
    DONE
    | {"probe": translatable("The base URL is being called.")}
    | {_WAITS: translatable("The earlier fields await another operator's approval.")}
)
TABLE: Final = Table[PendingEntry](
    "waiting",
    translatable("Pending approvals"),
    (
        Column(
            "name",
            translatable("Name"),
            lambda w: w.pending.entry.entityinfo.name,
            link=lambda w: approval_link(w.entity_id),
        ),
        Column("entity", translatable("Entity"), lambda w: w.entity_id, "code", phone="figure"),
        Column("type", translatable("Type"), lambda w: w.entity_type.value, "type", phone="state"),
        Column(
            "what",
            translatable("What"),
            lambda w: gettext("first registration") if w.live is None else None,
            phone="figure",
        ),
        Column(
            "state",
            translatable("State"),
            lambda w: w.pending.status.value,
            "tag",
            tone=lambda w: tone(w.pending.status.value),
            phone="state",
            usual="submitted",
        ),
        Column(
            "risk", translatable("Risk"), lambda w: in_one_line(w.risks) or None, phone="figure"
        ),
        Column("submitted", translatable("Submitted"), lambda w: w.pending.submitted_at, "file"),
        Column("version", translatable("Version"), lambda w: w.pending.number, "file"),
        Column("live", translatable("Goes live"), lambda w: w.pending.goes_live_at, "time"),
    ),
    first_sort="since",
)


_KEYS: Final = Table[KeyPeriod](
    "keys",
    translatable("Keys of this entity"),
    (
        Column("kid", translatable("Key ID"), lambda key: key.kid, "code"),
        Column("since", translatable("From"), lambda key: key.since, "time"),
        Column("until", translatable("Until (open: in use)"), lambda key: key.until, "time"),
        Column("thumbprint", translatable("Thumbprint"), lambda key: key.thumbprint, "code"),
    ),
    first_sort="-since",
)


@page.get("/operator/approvals", gate=operator(Scope.REGISTRY))
async def approvals(page_context: PageContext) -> Outcome:
    """List pending versions, the longest waiting first."""
    return await _list(page_context)


@page.get("/operator/entry", gate=operator(Scope.REGISTRY))
async def find_entry(page_context: PageContext) -> Outcome:
    """Go to the entry of an ID."""
    typed = page_context.query.get("id", "").strip()
    known = ENTITY_ID.fullmatch(typed)
    if known and await page_context.tx.service(Registry).record(typed) is not None:
        return GoTo(approval_link(typed))
    return await _list(page_context, typed)


async def _list(page_context: PageContext, unknown: str | None = None) -> Outcome:
    """Shows what waits; `unknown` is an ID that was typed and that the registry does not have."""
    found = await PendingEntries(page_context.tx).waiting(MAX_PENDING + 1)
    names = await page_context.tx.service(HealthService).names()
    people = await names_of([one.pending.submitted_by for one in found], page_context.tx)
    ids = [one.entity_id for one in found]
    probes = await page_context.tx.service(ProbeService).probes.latest_of(ids)
    return _listed(found, page_context.query, names, people, probes, page_context.now, unknown)


def _submitted_by(people: Mapping[str, str]) -> Column[PendingEntry]:
    """Returns the column of who submitted an entry, by their addresses."""

    def shown(one: PendingEntry) -> str:
        by = one.pending.submitted_by
        return people.get(by, by.removeprefix("operator:"))

    return Column("by", translatable("Submitted by"), shown, "address")


def _waiting(now: datetime) -> Column[PendingEntry]:
    """Returns the column of how long an entry waits, in whole minutes."""

    def shown(one: PendingEntry) -> str:
        waits = max(now - one.pending.submitted_at, _MINUTE)
        return span_text(waits - waits % _MINUTE)

    return Column(
        "since",
        translatable("Waits"),
        shown,
        phone="figure",
        order=lambda one: one.pending.submitted_at,
    )


def _probed(probes: Mapping[str, Probe]) -> Column[PendingEntry]:
    """Returns the column of what the latest probe of the pending version found."""

    def found(one: PendingEntry) -> tuple[str, str]:
        probe = probes.get(one.entity_id)
        if probe is None or probe.version != one.pending.number:
            return translatable("not probed"), "quiet"
        return _verdict(probe)

    return Column(
        "probe",
        translatable("Base URL"),
        lambda one: found(one)[0],
        "tag",
        tone=lambda one: found(one)[1],
        phone="state",
    )


def _verdict(probe: Probe) -> tuple[str, str]:
    """Returns what a probe found, in words with a tone."""
    result = probe.result
    if result is None:
        return translatable("is being called"), "quiet"
    if result.certificate and result.certificate.problem:
        return translatable("certificate not trusted"), "bad"
    if result.problem:
        return translatable("no answer"), "bad"
    if result.is_key_proven:
        return translatable("key proven"), "good"
    return translatable("answers"), "warn"


def _listed(
    found: Sequence[PendingEntry],
    query: Mapping[str, str],
    names: Mapping[str, str],
    people: Mapping[str, str],
    probes: Mapping[str, Probe],
    now: datetime,
    unknown: str | None = None,
) -> Outcome:
    rows = found[:MAX_PENDING]
    more = [_probed(probes), _waiting(now), _submitted_by(people)]
    table = replace(TABLE, columns=[*TABLE.columns, *more])
    facts = {
        "view": table.view(rows, query),
        "listed": len(rows) if len(found) > len(rows) else 0,
        "typed": unknown or "",
        "member_names": names,
        "problem": gettext(
            "The registry has no entry of %(id)s: check the spelling, or search by name.",
            id=unknown,
        )
        if unknown
        else "",
    }
    return table.export(rows, query) or RenderedPage(
        "operator_approvals.html", facts, 200 if unknown is None else 404
    )


@page.get("/operator/approvals/{entity_id:str}", gate=operator(Scope.REGISTRY))
async def show_approval(page_context: PageContext, entity_id: FromPath[str]) -> Outcome:
    """Show one entry: what would change, what that risks, its history and keys."""
    return await _page(page_context, entity_id)


@page.post("/operator/approvals/{entity_id:str}", gate=operator(Scope.REGISTRY), proof=RECENT)
async def decide_on_entry(
    page_context: PageContext, fields: Fields, entity_id: FromPath[str]
) -> Outcome:
    """Carry out the operator's decision on an entry."""
    command = _command(page_context, entity_id, fields)
    if isinstance(command, InvalidField):
        return await _page(page_context, entity_id, command)
    probe = await page_context.tx.service(ProbeService).probes.latest(entity_id)
    doubt = probe_doubt(probe, command.version, page_context.now)
    if command.action is RegistryAction.APPROVE and doubt and not command.reason.strip():
        return await _page(page_context, entity_id, PageRefusal(f"{doubt}, {gettext(_SAY_WHY)}"))
    outcome = await decide(page_context.tx.service(Registry), command)
    if isinstance(outcome, Decision):
        waits = command.action is RegistryAction.ROLL_BACK and outcome.after.pending is not None
        shown = _WAITS if waits else command.action.value
        return GoTo(f"{approval_link(entity_id)}?told={shown}")
    return await _page(page_context, entity_id, outcome)


def probe_doubt(probe: Probe | None, version: int, now: datetime) -> str:
    """Returns what the probe of a version leaves open; empty for nothing, or without a probe."""
    if probe is None or probe.version != version:
        return ""
    if probe.result is None:
        is_running = now - probe.requested_at < _PROBE_RUNS
        return (
            gettext("The probe of its address is running: wait some seconds") if is_running else ""
        )
    certificate = probe.result.certificate
    problem = probe.result.problem or (certificate.problem if certificate else "")
    return (
        gettext("The probe of its address failed (%(problem)s)", problem=problem) if problem else ""
    )


def _command(page_context: PageContext, entity_id: str, fields: Fields) -> Command | InvalidField:
    action, version = fields.get("act", ""), fields.get("version", "0")
    if action not in DONE:
        return InvalidField(f"act must be one of {', '.join(DONE)}")
    if not (version.isascii() and version.isdigit() and len(version) < 10):  # noqa: PLR2004  # characters
        return InvalidField("version must be a whole number")
    goes_live_at = _goes_live_at(fields)
    if isinstance(goes_live_at, InvalidField):
        return goes_live_at
    caller = page_context.caller
    return Command(
        RegistryAction(action),
        entity_id,
        actor.operator(
            *(caller.actor, caller.address, caller.txn_id),
            user_id=page_context.user.user_id,
            administers=page_context.user.administers,
        ),
        fields.get("reason", ""),
        int(version),
        goes_live_at,
        hash=fields.get("hash", ""),
    )


def _goes_live_at(fields: Fields) -> datetime | InvalidField | None:
    """Read the date and time of an approval in the zone of its form; empty for at once."""
    text, zone = fields.get("goesLiveAt", "").strip(), zone_of_form(fields)
    if not text or isinstance(zone, InvalidField):
        return zone if isinstance(zone, InvalidField) else None
    return zone.instant(text) or InvalidField(
        translatable("Go live must be a date and time such as 2026-01-31T09:30")
    )


async def _page(
    page_context: PageContext, entity_id: str, refusal: Refusal | None = None
) -> Outcome:
    record = await page_context.tx.service(Registry).history(entity_id)
    if record is None:
        return unknown_entity(entity_id)
    keys = key_periods(record)
    export = _KEYS.export(keys, page_context.query)
    if export is not None:
        return export
    bound = await AddressBindings(page_context.tx).of(entity_id)
    problem = None if refusal is None else page_problem(refusal)
    probe = await page_context.tx.service(ProbeService).probes.latest(entity_id)
    return RenderedPage(
        "operator_approval.html",
        _compared(record)
        | {
            "record": record,
            "steps": list(reversed(history(record))),
            "keys": _KEYS.view(keys, page_context.query),
            "member_link": member_link(entity_id) if Scope.MEMBERS in page_context.scopes else "",
            "names": await names_of(
                [who for one in record.versions for who in (one.submitted_by, one.decided_by)],
                page_context.tx,
            ),
            "bound": bound is not None and bound.binding is AddressBinding.ENFORCE,
            "probe": probe,
            "verdict": _verdict(probe) if probe else None,
            "doubt": probe_doubt(probe, record.pending.number, page_context.now)
            if record.pending
            else "",
            "longest": MAX_REASON,
            "tone": tone,
            "notice": gettext(_SENTENCES.get(page_context.query.get("told", ""), ""))
            if problem is None
            else "",
            "problem": refusal_text(refusal) if refusal else "",
        },
        status=problem.status if problem else 200,
    )


def _compared(record: Record) -> dict[str, object]:
    pending, live = record.pending, record.live
    if pending is None:
        return {"changes": [], "new_key": None, "fields": []}
    changes = () if live is None else difference(live.entry, pending.entry)
    return {
        "changes": compared(changes),
        "new_key": new_key(live, pending),
        "fields": all_fields(pending) if live is None else [],
    }


handlers: Final[list[ControllerRouterHandler]] = [
    approvals,
    find_entry,
    show_approval,
    decide_on_entry,
]
