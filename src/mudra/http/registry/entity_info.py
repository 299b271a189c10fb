"""The registry over HTTP: /cr/v2/entityInfo, /cr/v2/lint, /cr/v2/changes (spec 2.7, 4.6).

The routes, the writes, and the check of a payload; directory_reads.py has the reads.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from litestar import Response, delete, get, post, put
from msgspec import structs

from mudra.http.auth.registry_caller import as_registry_actor
from mudra.http.dependencies import InjectedDependencies
from mudra.http.registry import directory_reads, operations
from mudra.http.registry.operations import IdInPath, LintResponse, TypeInPath, WriteResponse
from mudra.http.registry.query import read_query
from mudra.http.request.request_body import REGISTRATION_LIMITS, read_document
from mudra.http.request.request_context import AnyRequest, RequestContext, new_context
from mudra.http.response.http_refusals import NoSuchAddress
from mudra.http.response.json_response import HandlerResult, response_of
from mudra.http.server.router import Router
from mudra.registry.lifecycle.actor import Actor
from mudra.registry.lifecycle.decision import Decision
from mudra.registry.lifecycle.registration import Receipt, Registered
from mudra.shared.entity_type import EntityType
from mudra.shared.finding import Severity
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import UnitOfWork

_TYPES: Final = frozenset(kind.value for kind in EntityType)


def registry_routers(prefixes: Sequence[str]) -> list[Router]:
    """Mount the registry under every prefix that the settings name."""
    handlers = [submit, update, retire, lint, read_all, read_one, read_changes]
    # The same calls at further addresses are described once.
    return [
        Router(prefix, route_handlers=handlers, include_in_schema=number == 0)
        for number, prefix in enumerate(prefixes)
    ]


@post("/entityInfo/{entity_type:str}", status_code=200, operation_class=operations.submit)
async def submit(
    request: AnyRequest, service: InjectedDependencies, entity_type: TypeInPath
) -> Response[bytes]:
    """Submit an entry for the first time; it is pending until an operator approves it."""
    context = new_context(request, service)

    async def handler(work: UnitOfWork, actor: Actor, payload: object) -> HandlerResult:
        return _written(await work.registration.submit(payload, entity_type, actor))

    return _response(context, await as_registry_actor(context, await _payload(context), handler))


@put(
    "/entityInfo/{entity_type:str}/{entity_id:str}",
    status_code=200,
    operation_class=operations.update,
)
async def update(
    request: AnyRequest, service: InjectedDependencies, entity_type: TypeInPath, entity_id: IdInPath
) -> Response[bytes]:
    """Update an entry: live at once, or after approval when it touches what needs one."""
    context = new_context(request, service)

    async def handler(work: UnitOfWork, actor: Actor, payload: object) -> HandlerResult:
        return _written(await work.registration.update(payload, entity_type, entity_id, actor))

    return _response(context, await as_registry_actor(context, await _payload(context), handler))


@delete(
    "/entityInfo/{entity_type:str}/{entity_id:str}",
    status_code=200,
    operation_class=operations.retire,
)
async def retire(
    request: AnyRequest, service: InjectedDependencies, entity_type: TypeInPath, entity_id: IdInPath
) -> Response[bytes]:
    """Retire an entry for good, with `?reason=`: its tokens end in the same transaction."""
    context = new_context(request, service)
    query = read_query(request) if entity_type in _TYPES else NoSuchAddress()

    async def handler(work: UnitOfWork, actor: Actor, query: Mapping[str, str]) -> HandlerResult:
        outcome = await work.registration.retire(
            EntityType(entity_type), entity_id, query.get("reason", ""), actor
        )
        if not isinstance(outcome, Decision):
            return outcome
        return _written(Receipt(context.txn_id, outcome.status, outcome.version))

    return _response(context, await as_registry_actor(context, query, handler))


@post("/lint/{entity_type:str}", status_code=200, operation_class=operations.lint)
async def lint(
    request: AnyRequest, service: InjectedDependencies, entity_type: TypeInPath
) -> Response[bytes]:
    """Return what a submission of this payload would find, and store nothing (0032)."""
    context = new_context(request, service)
    payload = await _payload(context) if entity_type in _TYPES else NoSuchAddress()

    async def handler(work: UnitOfWork, actor: Actor, payload: object) -> HandlerResult:
        findings = await work.registration.lint(payload, EntityType(entity_type), actor)
        if isinstance(findings, Refusal):
            return findings
        passes = all(one.severity is Severity.NOTE for one in findings)
        return LintResponse(passes=passes, findings=findings)

    return _response(context, await as_registry_actor(context, payload, handler))


@get("/entityInfo/{entity_type:str}", status_code=200, operation_class=operations.read_all)
async def read_all(
    request: AnyRequest, service: InjectedDependencies, entity_type: TypeInPath
) -> Response[bytes]:
    """List the live entries of a type that the caller may see."""
    return (await directory_reads.read_entries(request, service, entity_type)).response()


@get(
    "/entityInfo/{entity_type:str}/{entity_id:str}",
    status_code=200,
    operation_class=operations.read_one,
)
async def read_one(
    request: AnyRequest, service: InjectedDependencies, entity_type: TypeInPath, entity_id: IdInPath
) -> Response[bytes]:
    """Show one live entry."""
    return (await directory_reads.read_entries(request, service, entity_type, entity_id)).response()


@get("/changes", status_code=200, operation_class=operations.read_changes)
async def read_changes(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Return the changes after `?since=N` that the caller may see."""
    return (await directory_reads.read_changes(request, service)).response()


async def _payload(context: RequestContext) -> object | Refusal:
    request = context.request
    return await read_document(request.receive, request.scope["headers"], REGISTRATION_LIMITS)


def _written(outcome: Registered) -> HandlerResult:
    if not isinstance(outcome, Receipt):
        return outcome
    return WriteResponse(
        txnid=outcome.txnid,
        status=outcome.status,
        version=outcome.version,
        findings=outcome.notes,
    )


def _response(context: RequestContext, result: HandlerResult) -> Response[bytes]:
    """Return the response; that of a write carries the `txnid` of its payload in its envelope."""
    envelope = context.envelope
    if isinstance(result, WriteResponse):
        envelope = structs.replace(envelope, txn_id=result.txnid)
    return response_of(envelope, result).response()
