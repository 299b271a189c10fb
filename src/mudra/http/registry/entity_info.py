"""The registry over HTTP: /cr/v2/entityInfo, /cr/v2/lint, /cr/v2/changes (spec 2.7, 4.6).

The routes, the writes, and the check of a payload; directory_reads.py has the reads.
"""

from collections.abc import Sequence
from typing import Final

import litestar
from litestar import Response

from mudra.http.auth.registry_gate import (
    PAYLOAD_CHECKER,
    REGISTRY_ACTOR,
    REGISTRY_PERSON,
    RegistryCall,
)
from mudra.http.dependencies import InjectedDependencies
from mudra.http.registry import directory_reads, operations
from mudra.http.registry.operations import (
    ANY_PAYLOAD,
    IdInPath,
    LenientRetireQuery,
    LintResponse,
    RetireQuery,
    TypeInPath,
    WriteResponse,
)
from mudra.http.registry.submission_schema import SUBMISSION
from mudra.http.request.request_context import AnyRequest, Document
from mudra.http.response import conflicts
from mudra.http.response.http_refusals import NO_SUCH_ADDRESS
from mudra.http.route import delete, submit_document
from mudra.http.server.router import Router
from mudra.registry.lifecycle.acts.registration import Receipt, Registered, RegistrationService
from mudra.registry.lifecycle.decision import Decision
from mudra.shared.entity_type import EntityType
from mudra.shared.finding import Severity
from mudra.shared.refusal import Refusal

_ENTRY: Final = "/entityInfo/{entity_type:str}/{entity_id:str}"
_TYPES: Final = frozenset(kind.value for kind in EntityType)


def registry_routers(prefixes: Sequence[str]) -> list[Router]:
    """Mount the registry under every prefix that the settings name."""
    handlers = [submit, update, update_by_body, retire, lint, read_all, read_one, read_changes]
    # The same calls at further addresses are described once.
    return [
        Router(prefix, route_handlers=handlers, include_in_schema=number == 0, tags=["Registry"])
        for number, prefix in enumerate(prefixes)
    ]


@submit_document(
    "POST", "/entityInfo/{entity_type:str}", "Submit an entry", SUBMISSION, gate=REGISTRY_ACTOR
)
async def submit(call: RegistryCall[Document], entity_type: TypeInPath) -> WriteResponse | Refusal:
    """Submit an entry for the first time; it is pending until an operator approves it.

    409 where its ID, handle, code, key or name is that of another entity.
    """
    return _written(
        await call.tx.service(RegistrationService).submit(call.body.value, entity_type, call.actor)
    )


@submit_document("PUT", _ENTRY, "Update an entry", SUBMISSION, gate=REGISTRY_ACTOR)
async def update(
    call: RegistryCall[Document], entity_type: TypeInPath, entity_id: IdInPath
) -> WriteResponse | Refusal:
    """Update an entry: live at once, or after approval when it touches what needs one.

    409 where its handle, code, key or name is that of another entity, or the entry is retired.
    """
    payload = call.body.value
    return _written(
        await call.tx.service(RegistrationService).update(
            payload, entity_type, entity_id, call.actor
        )
    )


@submit_document(
    "PUT",
    "/entityInfo/{entity_type:str}",
    "Update the entry that the payload names",
    SUBMISSION,
    gate=REGISTRY_ACTOR,
)
async def update_by_body(
    call: RegistryCall[Document], entity_type: TypeInPath
) -> WriteResponse | Refusal:
    """Update the entry that the payload names, as older guides address it."""
    payload = call.body.value
    return _written(
        await call.tx.service(RegistrationService).update(payload, entity_type, None, call.actor)
    )


@delete(
    _ENTRY, "Retire an entry", query=RetireQuery, conflicts=conflicts.RETIRE, gate=REGISTRY_PERSON
)
async def retire(
    call: RegistryCall[LenientRetireQuery], entity_type: TypeInPath, entity_id: IdInPath
) -> WriteResponse | Refusal:
    """Retire an entry for good, with `?reason=`: its tokens end in the same transaction."""
    if entity_type not in _TYPES:
        return NO_SUCH_ADDRESS
    outcome = await call.tx.service(RegistrationService).retire(
        EntityType(entity_type), entity_id, call.body.reason, call.actor
    )
    if not isinstance(outcome, Decision):
        return outcome
    return _written(Receipt(call.context.txn_id, outcome.status, outcome.version))


@submit_document(
    "POST",
    "/lint/{entity_type:str}",
    "Lint an entry",
    ANY_PAYLOAD,
    stores=False,
    gate=PAYLOAD_CHECKER,
)
async def lint(call: RegistryCall[Document], entity_type: TypeInPath) -> LintResponse | Refusal:
    """Return what a submission of this payload would find, and store nothing."""
    if entity_type not in _TYPES:
        return NO_SUCH_ADDRESS
    findings = await call.tx.service(RegistrationService).lint(
        call.body.value, EntityType(entity_type), call.actor
    )
    if isinstance(findings, Refusal):
        return findings
    passes = all(one.severity is Severity.NOTE for one in findings)
    return LintResponse(passes=passes, findings=findings)


@litestar.get("/entityInfo/{entity_type:str}", status_code=200, operation_class=operations.read_all)
async def read_all(
    request: AnyRequest, dependencies: InjectedDependencies, entity_type: TypeInPath
) -> Response[bytes]:
    """List the live entries of a type that the caller may see."""
    return (await directory_reads.read_entries(request, dependencies, entity_type)).response()


@litestar.get(
    "/entityInfo/{entity_type:str}/{entity_id:str}",
    status_code=200,
    operation_class=operations.read_one,
)
async def read_one(
    request: AnyRequest,
    dependencies: InjectedDependencies,
    entity_type: TypeInPath,
    entity_id: IdInPath,
) -> Response[bytes]:
    """Show one live entry."""
    return (
        await directory_reads.read_entries(request, dependencies, entity_type, entity_id)
    ).response()


@litestar.get("/changes", status_code=200, operation_class=operations.read_changes)
async def read_changes(request: AnyRequest, dependencies: InjectedDependencies) -> Response[bytes]:
    """Return the changes after `?since=N` that the caller may see."""
    return (await directory_reads.read_changes(request, dependencies)).response()


def _written(outcome: Registered) -> WriteResponse | Refusal:
    if not isinstance(outcome, Receipt):
        return outcome
    return WriteResponse(
        txnid=outcome.txnid,
        status=outcome.status,
        version=outcome.version,
        findings=outcome.notes,
    )
