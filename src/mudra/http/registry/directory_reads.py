"""Reads of the registry: GET entityInfo/{type}[/{id}] and changes.

Every member reads the directory again and again: these are bare ASGI, as token
issuing is, and return finished bytes. They need no transaction.
"""

import datetime as dt
from email.utils import format_datetime, parsedate_to_datetime
from functools import lru_cache

import msgspec
from litestar import Request
from litestar.types import Receive, Scope, Send

from mudra.http.auth.bearer import calling_entity
from mudra.http.dependencies import HttpDependencies
from mudra.http.registry.query import read_moment, read_query, read_since
from mudra.http.request.request_context import AnyRequest, Envelope, new_txn_id
from mudra.http.response.entity_tag import has_it
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
from mudra.registry.directory.mirror import Page, Stamp, changes_since, directory_at, stamped
from mudra.registry.directory.signed_listings import SignedListing
from mudra.registry.payload.entry import digest
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal
from mudra.tokens.authentication.bearer import EntityCaller


def changes_response(page: Page, stamp: Stamp) -> DirectoryListing:
    """Return a page of changes as a listing that can be signed; its ETag is that of the changes."""
    body = msgspec.json.encode(stamped(page, stamp))
    same = msgspec.json.encode((page, stamp.reader, stamp.epoch))
    return DirectoryListing(body, f'"{digest(same)}"', None)


def signed_response(request: AnyRequest, signed: SignedListing, now: dt.datetime) -> JsonResponse:
    """Return the signed bytes, or 304 if the caller has them (RFC 9110 13.2.2)."""
    listing = signed.listing
    headers = {
        "ETag": listing.etag,
        "Cache-Control": "private, no-cache",
        "Vary": "Authorization",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "X-Request-Id": new_txn_id(),
        "x-jws-signature": signed.signature,
    }
    changed = _second_after(listing.last_modified)
    if changed is not None:
        # Never later than now (RFC 9110 8.8.2.1). Within its second the date is the one before:
        # a further change could share it, so it gives no 304 yet.
        this_second = now.astimezone(dt.UTC).replace(microsecond=0)
        headers["Last-Modified"] = _http_date(min(changed, this_second))
    if _has_it(request, listing.etag, changed):
        return JsonResponse(304, b"", headers)
    return JsonResponse(200, listing.body, headers)


@lru_cache(maxsize=256)
def _http_date(moment: dt.datetime) -> str:
    return format_datetime(moment, usegmt=True)


def _second_after(moment: dt.datetime | None) -> dt.datetime | None:
    if moment is None:
        return None
    return moment.astimezone(dt.UTC).replace(microsecond=0) + dt.timedelta(seconds=1)


def _has_it(request: AnyRequest, etag: str, changed: dt.datetime | None) -> bool:
    if "if-none-match" in request.headers:
        return has_it(request, etag)
    since = request.headers.get("if-modified-since")
    if since is None or changed is None:
        return False
    try:
        sent = parsedate_to_datetime(since)
    except (ValueError, OverflowError):  # no date is ignored (RFC 9110 13.1.3)
        return False
    aware = sent if sent.tzinfo else sent.replace(tzinfo=dt.UTC)
    return changed <= aware


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
