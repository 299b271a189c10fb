"""The registry over HTTP: /cr/v2/entityInfo and /cr/v2/changes (spec 2.7, 4.6)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from litestar import Response, Router, delete, get, post, put
from litestar.params import FromPath

from mudra.audit.event import Caller
from mudra.http.answer import Answer, refusal, success
from mudra.http.envelope import new_txn_id
from mudra.http.errors import NoSuchAddress, is_refusal
from mudra.http.exchange import AnyRequest, Exchange, address_of
from mudra.http.intake import REGISTRATION_LIMITS, read_json
from mudra.http.registry_answer import (
    BadQuery,
    changes_answer,
    read_moment,
    read_since,
    refused,
    signed_response,
)
from mudra.http.registry_caller import CallingEntity, calling_actor, calling_entity
from mudra.http.registry_errors import PayloadRefused, TooManyWrites
from mudra.http.service import Injected, Service
from mudra.registry.actor import Actor
from mudra.registry.check import CheckedPayload, address_findings, check_payload
from mudra.registry.decision import Act, Decision
from mudra.registry.directory import Answer as Finished
from mudra.registry.directory import Directory, Sight, listing, single
from mudra.registry.entry import EntityType
from mudra.registry.read import changes_since, directory_at
from mudra.registry.register import Order, decide, submit_entry, update_entry
from mudra.registry.submission import Repeat

Make: TypeAlias = Callable[[Directory, Sight], Finished | None]


def registry_routers(prefixes: Sequence[str]) -> list[Router]:
    """Mount the registry under every prefix that the settings name."""
    handlers = [submit, update, retire, read_all, read_one, read_changes]
    # Not in the OpenAPI document until its answers are described there.
    return [Router(prefix, route_handlers=handlers, include_in_schema=False) for prefix in prefixes]


@post("/entityInfo/{entity_type:str}", status_code=200)
async def submit(
    request: AnyRequest, service: Injected, entity_type: FromPath[str]
) -> Response[bytes]:
    """Submit an entry for the first time; it waits for an operator's approval."""
    exchange = Exchange(service, request, new_txn_id())
    return (await _written(exchange, entity_type, None)).response()


@put("/entityInfo/{entity_type:str}/{entity_id:str}", status_code=200)
async def update(
    request: AnyRequest, service: Injected, entity_type: FromPath[str], entity_id: FromPath[str]
) -> Response[bytes]:
    """Update an entry: live at once, or after approval when it touches what needs one."""
    exchange = Exchange(service, request, new_txn_id())
    return (await _written(exchange, entity_type, entity_id)).response()


@delete("/entityInfo/{entity_type:str}/{entity_id:str}", status_code=200)
async def retire(
    request: AnyRequest, service: Injected, entity_type: FromPath[str], entity_id: FromPath[str]
) -> Response[bytes]:
    """Retire an entry for good, with `?reason=`: its tokens end in the same transaction."""
    exchange = Exchange(service, request, new_txn_id())
    actor = await _actor(exchange)
    if not isinstance(actor, Actor):
        return refusal(exchange.envelope, actor).response()
    registry = service.registry.registry(_caller(exchange, actor))
    kind = _kind(entity_type)
    if kind is None:
        return refusal(exchange.envelope, NoSuchAddress()).response()
    reason = request.query_params.get("reason", "")
    order = Order(Act.RETIRE, entity_id, actor, reason, entity_type=kind)
    outcome = await decide(registry, order)
    if not isinstance(outcome, Decision):
        return refusal(exchange.envelope, outcome).response()
    return _done(exchange, outcome, exchange.txn_id, []).response()


@get("/entityInfo/{entity_type:str}", status_code=200)
async def read_all(
    request: AnyRequest, service: Injected, entity_type: FromPath[str]
) -> Response[bytes]:
    """List the live entries of a type that the caller may see."""
    kind = _kind(entity_type)
    if kind is None:
        return _refused(request, service, NoSuchAddress())
    return await _shown(
        request,
        service,
        ("all", kind),
        lambda directory, sight: listing(directory, sight, kind),
    )


@get("/entityInfo/{entity_type:str}/{entity_id:str}", status_code=200)
async def read_one(
    request: AnyRequest, service: Injected, entity_type: FromPath[str], entity_id: FromPath[str]
) -> Response[bytes]:
    """Show one live entry."""
    kind = _kind(entity_type)
    if kind is None:
        return _refused(request, service, NoSuchAddress())
    return await _shown(
        request,
        service,
        ("one", kind, entity_id),
        lambda directory, sight: single(directory, sight, kind, entity_id),
    )


@get("/changes", status_code=200)
async def read_changes(request: AnyRequest, service: Injected) -> Response[bytes]:
    """Give the changes after `?since=N` that the caller may see."""
    caller = await calling_entity(request, service)
    if not isinstance(caller, CallingEntity):
        return _refused(request, service, caller)
    since = read_since(request.query_params.get("since"))
    if isinstance(since, BadQuery):
        return _refused(request, service, since.told())
    desk = service.registry
    page = await changes_since(desk.log, caller.sight(opened=service.settings.registry_open), since)
    signed = desk.finished.sign(changes_answer(page))
    return signed_response(request, signed, service.clock())


async def _shown(
    request: AnyRequest,
    service: Service,
    what: tuple[str, ...],
    make: Make,
) -> Response[bytes]:
    caller = await calling_entity(request, service)
    if not isinstance(caller, CallingEntity):
        return _refused(request, service, caller)
    moment = read_moment(request.query_params.get("at"))
    if isinstance(moment, BadQuery):
        return _refused(request, service, moment.told())
    desk, sight = service.registry, caller.sight(opened=service.settings.registry_open)
    if moment is None:
        directory = await desk.log.current()
        key = (sight, *what)
        signed = desk.finished.give(directory, key, lambda: make(directory, sight))
    else:
        then = make(await directory_at(desk.log, moment), sight)
        signed = None if then is None else desk.finished.sign(then)
    if signed is None:
        return _refused(request, service, NoSuchAddress())
    return signed_response(request, signed, service.clock())


async def _written(exchange: Exchange, entity_type: str, entity_id: str | None) -> Answer:
    """Take a submission or an update."""
    request, service = exchange.request, exchange.service
    actor = await _actor(exchange)
    if not isinstance(actor, Actor):
        return refusal(exchange.envelope, actor)
    raw = await read_json(request.receive, request.scope["headers"], REGISTRATION_LIMITS)
    if is_refusal(raw):
        return refusal(exchange.envelope, raw)
    desk = service.registry
    checked = check_payload(raw, desk.policy, await desk.vocabulary())
    if not isinstance(checked, CheckedPayload):
        return refused(exchange.envelope, PayloadRefused(tuple(checked)))
    misplaced = address_findings(checked.entry, entity_type, entity_id)
    if misplaced:
        return refused(exchange.envelope, PayloadRefused(tuple(misplaced)))
    registry = desk.registry(_caller(exchange, actor))
    write = submit_entry if entity_id is None else update_entry
    outcome = await write(registry, checked, actor)
    if not isinstance(outcome, Decision | Repeat):
        return refusal(exchange.envelope, outcome)
    return _done(exchange, outcome, checked.entry.txnid, list(checked.notes))


async def _actor(exchange: Exchange) -> Actor | object:
    """Find who writes, and count the write."""
    service = exchange.service
    actor = await calling_actor(exchange.request, service)
    if not isinstance(actor, Actor):
        return actor
    wait_s = await service.registry_budget.wait_s(actor.name)
    return TooManyWrites(wait_s) if wait_s else actor


def _done(
    exchange: Exchange, outcome: Decision | Repeat, txnid: str, findings: list[object]
) -> Answer:
    envelope = replace(exchange.envelope, txn_id=txnid)
    members = {
        "txnid": txnid,
        "responseCode": "200",
        "responseText": "OK",
        "status": outcome.status,
        "version": outcome.version,
        "findings": findings,
    }
    return success(envelope, members)


def _caller(exchange: Exchange, actor: Actor) -> Caller:
    return Caller(actor.name, address_of(exchange.request, exchange.service), exchange.txn_id)


def _kind(entity_type: str) -> EntityType | None:
    return next((kind for kind in EntityType if kind == entity_type), None)


def _refused(request: AnyRequest, service: Service, outcome: object) -> Response[bytes]:
    return refusal(Exchange(service, request, new_txn_id()).envelope, outcome).response()
