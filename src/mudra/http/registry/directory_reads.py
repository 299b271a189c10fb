"""Reads of the registry: GET entityInfo/{type}[/{id}] and changes.

Every member reads the directory again and again: these are bare ASGI, as token
issuing is, and return finished bytes. They need no transaction.
"""

from litestar import Request
from litestar.types import Receive, Scope, Send

from mudra.http.auth.bearer import calling_entity
from mudra.http.dependencies import HttpDependencies
from mudra.http.registry.directory_response import changes_response, signed_response
from mudra.http.registry.query import read_moment, read_query, read_since
from mudra.http.request.request_context import AnyRequest, Envelope, new_txn_id
from mudra.http.response.http_refusals import NO_SUCH_ADDRESS
from mudra.http.response.json_response import JsonResponse, refusal
from mudra.registry.directory.directory import (
    Directory,
    DirectoryListing,
    Visibility,
    listing,
    single,
    visibility_of,
)
from mudra.registry.directory.mirror import Stamp, changes_since, directory_at
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal
from mudra.tokens.authentication.bearer import EntityCaller

_TYPES = {kind.value: kind for kind in EntityType}

ROUTE = "/entityInfo/{type}/{id}"
"""How reads of the directory are labeled, at whatever prefix."""


async def respond(  # the three ASGI arguments, and what is read
    entity_type: str,
    entity_id: str,
    scope: Scope,
    receive: Receive,
    send: Send,
    dependencies: HttpDependencies,
) -> None:
    """Send the response to a read of the directory."""
    response = await read_entries(Request(scope, receive), dependencies, entity_type, entity_id)
    await response.send(send)


async def read_entries(
    request: AnyRequest, dependencies: HttpDependencies, entity_type: str, entity_id: str = ""
) -> JsonResponse:
    """Return the live entries of a type that the caller may see, or the one of an ID."""
    kind = _TYPES.get(entity_type)
    if kind is None:
        return _refused(dependencies, NO_SUCH_ADDRESS)
    caller = await calling_entity(request, dependencies)
    if isinstance(caller, Refusal):
        return _refused(dependencies, caller)
    query = read_query(request)
    moment = query if isinstance(query, Refusal) else read_moment(query.get("at"))
    if isinstance(moment, Refusal):
        return _refused(dependencies, moment)
    reads, visibility = dependencies.directory, _visibility(caller, dependencies)
    if moment is None:
        directory = await reads.log.current()
        # Callers who see the same get the same bytes.
        key = (visibility.within(kind), kind, entity_id)
        signed = reads.listings.get(
            directory, key, lambda: _listing(directory, visibility, kind, entity_id)
        )
    else:
        then = _listing(await directory_at(reads.log, moment), visibility, kind, entity_id)
        signed = None if then is None else reads.listings.sign(then)
    if signed is None:
        return _refused(dependencies, NO_SUCH_ADDRESS)
    return signed_response(request, signed, dependencies.clock())


async def read_changes(request: AnyRequest, dependencies: HttpDependencies) -> JsonResponse:
    """Return the changes after `?since=N` that the caller may see."""
    caller = await calling_entity(request, dependencies)
    if isinstance(caller, Refusal):
        return _refused(dependencies, caller)
    query = read_query(request)
    since = query if isinstance(query, Refusal) else read_since(query.get("since"))
    if isinstance(since, Refusal):
        return _refused(dependencies, since)
    reads, visibility = dependencies.directory, _visibility(caller, dependencies)
    page = await changes_since(reads.log, visibility, since)
    stamp = Stamp(
        registry=dependencies.settings.issuer,
        reader=caller.entity_id,
        issued_at=int(dependencies.clock().timestamp()),
        epoch=await reads.log.epoch(),
    )
    signed = reads.listings.sign(changes_response(page, stamp))
    return signed_response(request, signed, dependencies.clock())


def _visibility(caller: EntityCaller, dependencies: HttpDependencies) -> Visibility:
    opened = dependencies.settings.registry_open
    return visibility_of(caller.entity_type, caller.entity_id, opened=opened)


def _listing(
    directory: Directory, visibility: Visibility, kind: EntityType, entity_id: str
) -> DirectoryListing | None:
    if entity_id:
        return single(directory, visibility, kind, entity_id)
    return listing(directory, visibility, kind)


def _refused(dependencies: HttpDependencies, refused: Refusal) -> JsonResponse:
    return refusal(Envelope(new_txn_id(), dependencies.clock()), refused)
