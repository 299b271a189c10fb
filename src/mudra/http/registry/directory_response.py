"""Responses of the directory: signed, and revalidated by ETag or date."""

import datetime as dt
from email.utils import format_datetime, parsedate_to_datetime
from functools import lru_cache

import msgspec

from mudra.http.request.request_context import AnyRequest, new_txn_id
from mudra.http.response.entity_tag import has_it
from mudra.http.response.json_response import JsonResponse
from mudra.registry.directory.directory import DirectoryListing
from mudra.registry.directory.mirror import Page, Stamp, stamped
from mudra.registry.directory.signed_listings import SignedListing
from mudra.registry.payload.entry import digest


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
