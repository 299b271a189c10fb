"""Reads of the registry (decisions 4): GET entityInfo/{type}[/{id}] and changes.

The directory's reads are asked for by every member, over and over: they are
bare ASGI, as the making of tokens is, and answer with bytes that are finished.
"""

from collections.abc import Callable
from typing import TypeAlias

from litestar import Request
from litestar.types import Receive, Scope, Send

from mudra.http.auth.registry_caller import RegistryCaller, registry_caller
from mudra.http.dependencies import HttpDependencies
from mudra.http.registry.directory_response import (
    BadQuery,
    changes_response,
    read_moment,
    read_query,
    read_since,
    signed_response,
)
from mudra.http.request.envelope import Envelope, new_txn_id
from mudra.http.request.request_context import AnyRequest
from mudra.http.response.http_refusals import NoSuchAddress
from mudra.http.response.json_response import JsonResponse, refusal
from mudra.registry.directory.directory import (
    Directory,
    DirectoryListing,
    Visibility,
    listing,
    single,
)
from mudra.registry.directory.read import changes_since, directory_at
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal

Make: TypeAlias = Callable[[Directory, Visibility], DirectoryListing | None]
_TYPES = {kind.value: kind for kind in EntityType}


async def respond(scope: Scope, receive: Receive, send: Send, service: HttpDependencies) -> None:
    """Answer a read of the directory whose path `addressed` knows."""
    found = addressed(scope, service)
    assert found is not None
    answer = await read_entries(Request(scope, receive), service, *found)
    await answer.send(send)


def addressed(scope: Scope, service: HttpDependencies) -> tuple[str, str] | None:
    """Give type and ID (empty for a list) of a read of the directory; None for another path."""
    for prefix in service.settings.registry_prefixes:
        start = f"{prefix}/entityInfo/"
        if scope["path"].startswith(start):
            parts = scope["path"].removeprefix(start).split("/")
            if all(parts) and len(parts) <= len(("type", "id")):
                return parts[0], parts[1] if parts[1:] else ""
    return None


async def read_entries(
    request: AnyRequest, service: HttpDependencies, entity_type: str, entity_id: str = ""
) -> JsonResponse:
    """Show the live entries of a type that the caller may see, or the one of an ID."""
    kind = _TYPES.get(entity_type)
    if kind is None:
        return _refused(service, NoSuchAddress())
    caller = await registry_caller(request, service)
    if not isinstance(caller, RegistryCaller):
        return _refused(service, caller)
    query = read_query(request)
    moment = query if isinstance(query, BadQuery) else read_moment(query.get("at"))
    if isinstance(moment, BadQuery):
        return _refused(service, moment.told())
    desk, sight = service.registry, caller.sight(opened=service.settings.registry_open)
    make = _maker(kind, entity_id)
    if moment is None:
        directory = await desk.log.current()
        # All who see the same get the same bytes.
        key = (sight.within(kind), kind, entity_id)
        signed = desk.finished.give(directory, key, lambda: make(directory, sight))
    else:
        then = make(await directory_at(desk.log, moment), sight)
        signed = None if then is None else desk.finished.sign(then)
    if signed is None:
        return _refused(service, NoSuchAddress())
    return signed_response(request, signed, service.clock())


async def read_changes(request: AnyRequest, service: HttpDependencies) -> JsonResponse:
    """Give the changes after `?since=N` that the caller may see."""
    caller = await registry_caller(request, service)
    if not isinstance(caller, RegistryCaller):
        return _refused(service, caller)
    query = read_query(request)
    since = query if isinstance(query, BadQuery) else read_since(query.get("since"))
    if isinstance(since, BadQuery):
        return _refused(service, since.told())
    desk = service.registry
    page = await changes_since(desk.log, caller.sight(opened=service.settings.registry_open), since)
    return signed_response(request, desk.finished.sign(changes_response(page)), service.clock())


def _maker(kind: EntityType, entity_id: str) -> Make:
    if entity_id:
        return lambda directory, sight: single(directory, sight, kind, entity_id)
    return lambda directory, sight: listing(directory, sight, kind)


def _refused(service: HttpDependencies, outcome: Refusal) -> JsonResponse:
    return refusal(Envelope(new_txn_id(), service.clock()), outcome)
