"""The registry over HTTP: /cr/v2/entityInfo, /cr/v2/lint, /cr/v2/changes (spec 2.7, 4.6).

Here are the writes, what is found in a payload, and the routes; registry_reads.py answers
the reads.
"""

from collections.abc import Sequence

from litestar import Response, delete, get, post, put
from msgspec import structs

from mudra.audit.event import Caller
from mudra.http.auth.bearer import TokenRefusal
from mudra.http.auth.registry_caller import registry_actor
from mudra.http.dependencies import InjectedDependencies
from mudra.http.registry import directory_reads as registry_reads
from mudra.http.registry import operations as registry_described
from mudra.http.registry.directory_response import BadQuery, read_query, refused
from mudra.http.registry.operations import IdInPath, TypeInPath
from mudra.http.request.envelope import new_txn_id
from mudra.http.request.request_body import REGISTRATION_LIMITS, read_document
from mudra.http.request.request_context import AnyRequest, RequestContext, address_of
from mudra.http.response.http_refusals import NoSuchAddress
from mudra.http.response.json_response import JsonResponse, refusal, success
from mudra.http.server.router import Router
from mudra.registry.lifecycle.actor import Actor, may_submit
from mudra.registry.lifecycle.decision import Decision, RegistryAction
from mudra.registry.lifecycle.register import Command, decide, submit_entry, update_entry
from mudra.registry.lifecycle.submission import Repeat
from mudra.registry.payload.refusals import PayloadRefused, TooManyWrites
from mudra.registry.payload.validation import CheckedPayload
from mudra.shared.entity_type import EntityType
from mudra.shared.finding import Finding, Severity
from mudra.shared.refusal import Refusal


def registry_routers(prefixes: Sequence[str]) -> list[Router]:
    """Mount the registry under every prefix that the settings name."""
    handlers = [submit, update, retire, lint, read_all, read_one, read_changes]
    # The same calls at further addresses are described once.
    return [
        Router(prefix, route_handlers=handlers, include_in_schema=number == 0)
        for number, prefix in enumerate(prefixes)
    ]


@post("/entityInfo/{entity_type:str}", status_code=200, operation_class=registry_described.submit)
async def submit(
    request: AnyRequest, service: InjectedDependencies, entity_type: TypeInPath
) -> Response[bytes]:
    """Submit an entry for the first time; it waits for an operator's approval."""
    context = RequestContext(service, request, new_txn_id())
    return (await _written(context, entity_type, None)).response()


@put(
    "/entityInfo/{entity_type:str}/{entity_id:str}",
    status_code=200,
    operation_class=registry_described.update,
)
async def update(
    request: AnyRequest, service: InjectedDependencies, entity_type: TypeInPath, entity_id: IdInPath
) -> Response[bytes]:
    """Update an entry: live at once, or after approval when it touches what needs one."""
    context = RequestContext(service, request, new_txn_id())
    return (await _written(context, entity_type, entity_id)).response()


@delete(
    "/entityInfo/{entity_type:str}/{entity_id:str}",
    status_code=200,
    operation_class=registry_described.retire,
)
async def retire(
    request: AnyRequest, service: InjectedDependencies, entity_type: TypeInPath, entity_id: IdInPath
) -> Response[bytes]:
    """Retire an entry for good, with `?reason=`: its tokens end in the same transaction."""
    context = RequestContext(service, request, new_txn_id())
    actor = await _actor(context)
    if not isinstance(actor, Actor):
        return refusal(context.envelope, actor).response()
    registry = service.registry.registry(_caller(context, actor))
    kind = _kind(entity_type)
    if kind is None:
        return refusal(context.envelope, NoSuchAddress()).response()
    query = read_query(request)
    if isinstance(query, BadQuery):
        return refusal(context.envelope, query.told()).response()
    order = Command(
        RegistryAction.RETIRE, entity_id, actor, query.get("reason", ""), entity_type=kind
    )
    outcome = await decide(registry, order)
    if not isinstance(outcome, Decision):
        return refusal(context.envelope, outcome).response()
    return _done(context, outcome, context.txn_id, []).response()


@post("/lint/{entity_type:str}", status_code=200, operation_class=registry_described.lint)
async def lint(
    request: AnyRequest, service: InjectedDependencies, entity_type: TypeInPath
) -> Response[bytes]:
    """Say what a submission of this payload would be told, and keep nothing of it (0032)."""
    context = RequestContext(service, request, new_txn_id())
    return (await _linted(context, entity_type)).response()


@get("/entityInfo/{entity_type:str}", status_code=200, operation_class=registry_described.read_all)
async def read_all(
    request: AnyRequest, service: InjectedDependencies, entity_type: TypeInPath
) -> Response[bytes]:
    """List the live entries of a type that the caller may see."""
    return (await registry_reads.read_entries(request, service, entity_type)).response()


@get(
    "/entityInfo/{entity_type:str}/{entity_id:str}",
    status_code=200,
    operation_class=registry_described.read_one,
)
async def read_one(
    request: AnyRequest, service: InjectedDependencies, entity_type: TypeInPath, entity_id: IdInPath
) -> Response[bytes]:
    """Show one live entry."""
    return (await registry_reads.read_entries(request, service, entity_type, entity_id)).response()


@get("/changes", status_code=200, operation_class=registry_described.read_changes)
async def read_changes(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Give the changes after `?since=N` that the caller may see."""
    return (await registry_reads.read_changes(request, service)).response()


async def _written(
    context: RequestContext, entity_type: str, entity_id: str | None
) -> JsonResponse:
    """Take a submission or an update."""
    request, service = context.request, context.service
    actor = await _actor(context)
    if not isinstance(actor, Actor):
        return refusal(context.envelope, actor)
    raw = await read_document(request.receive, request.scope["headers"], REGISTRATION_LIMITS)
    if isinstance(raw, Refusal):
        return refusal(context.envelope, raw)
    words = await service.registry.vocabulary()
    checked = service.registry.check(raw, words, entity_type, entity_id)
    if not isinstance(checked, CheckedPayload):
        return refused(context.envelope, PayloadRefused(tuple(checked)))
    registry = service.registry.registry(_caller(context, actor))
    write = submit_entry if entity_id is None else update_entry
    outcome = await write(registry, checked, actor)
    if not isinstance(outcome, Decision | Repeat):
        return refusal(context.envelope, outcome)
    return _done(context, outcome, checked.entry.txnid, list(checked.notes))


async def _linted(context: RequestContext, entity_type: str) -> JsonResponse:
    """Judge as `_written` does, by the same rights; what is wrong is the answer, no refusal."""
    request, service = context.request, context.service
    actor = await registry_actor(request, service)
    if not isinstance(actor, Actor):
        return refusal(context.envelope, actor)
    if _kind(entity_type) is None:
        return refusal(context.envelope, NoSuchAddress())
    raw = await read_document(request.receive, request.scope["headers"], REGISTRATION_LIMITS)
    if isinstance(raw, Refusal):
        return refusal(context.envelope, raw)
    words = await service.registry.vocabulary()
    checked = service.registry.check(raw, words, entity_type, None)
    if not isinstance(checked, CheckedPayload):
        return _found(context, checked)
    barred = may_submit(actor, checked.entry)
    if barred is not None:
        return refusal(context.envelope, barred)
    return _found(context, checked.notes)


def _found(context: RequestContext, findings: Sequence[Finding]) -> JsonResponse:
    passes = all(one.severity is Severity.NOTE for one in findings)
    return success(context.envelope, {"passes": passes, "findings": list(findings)})


async def _actor(context: RequestContext) -> Actor | TokenRefusal | TooManyWrites:
    """Find who writes, and count the write."""
    service = context.service
    actor = await registry_actor(context.request, service)
    if not isinstance(actor, Actor):
        return actor
    wait_s = await service.registry_budget.wait_s(actor.name)
    return TooManyWrites(wait_s) if wait_s else actor


def _done(
    context: RequestContext, outcome: Decision | Repeat, txnid: str, findings: list[object]
) -> JsonResponse:
    envelope = structs.replace(context.envelope, txn_id=txnid)
    members = {
        "txnid": txnid,
        "responseCode": "200",
        "responseText": "OK",
        "status": outcome.status,
        "version": outcome.version,
        "findings": findings,
    }
    return success(envelope, members)


def _caller(context: RequestContext, actor: Actor) -> Caller:
    return Caller(actor.name, address_of(context.request, context.service), context.txn_id)


def _kind(entity_type: str) -> EntityType | None:
    return next((kind for kind in EntityType if kind == entity_type), None)
