"""How the registry's answers look: signed, revalidated, or refused with all findings."""

import datetime as dt
import re
from email.utils import format_datetime, parsedate_to_datetime
from functools import lru_cache
from typing import Final

import msgspec
from msgspec import Struct

from mudra.http.registry.registry_service import Signed
from mudra.http.request.envelope import Envelope, new_txn_id
from mudra.http.request.request_context import AnyRequest
from mudra.http.request.strict_form import FormRefused, parse_form
from mudra.http.response.errors import problem_of
from mudra.http.response.http_refusals import InvalidField
from mudra.http.response.json_response import JsonResponse
from mudra.registry.directory.directory import DirectoryListing
from mudra.registry.directory.mirror import Page
from mudra.registry.payload.entry import digest
from mudra.registry.payload.refusals import PayloadRefused

_SINCE: Final = re.compile(r"[0-9]{1,15}")
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)")


class BadQuery(Struct, frozen=True):
    """A parameter of the address that cannot be read."""

    sentence: str

    def told(self) -> InvalidField:
        """Give the refusal."""
        return InvalidField(self.sentence)


def read_query(request: AnyRequest) -> dict[str, str] | BadQuery:
    """Read the parameters of the address as strictly as a form: none twice (0070)."""
    raw = request.scope["query_string"]
    try:
        return parse_form(raw) if raw else {}
    except FormRefused as refused:
        return BadQuery(f"query: {refused.sentence()}")


def read_since(text: str | None) -> int | BadQuery:
    """Read `since`; without one, from the beginning."""
    if text is None:
        return 0
    if not _SINCE.fullmatch(text) or not text.isascii():
        return BadQuery("since must be a whole number from 0, the upto of the last page")
    return int(text)


def read_moment(text: str | None, name: str = "at") -> dt.datetime | BadQuery | None:
    """Read an instant; None when it is not there. `name` is the member that holds it."""
    if text is None:
        return None
    try:
        # A + in an address may arrive as a space.
        spaced = text.replace(" ", "+")
        if _MOMENT.fullmatch(spaced) and spaced.isascii():
            return dt.datetime.fromisoformat(spaced).astimezone(dt.UTC)
    except (ValueError, OverflowError):
        pass  # told below: a date such as 30 February has the form and is none
    return BadQuery(
        f"{name} must be an ISO 8601 date-time with its offset, 2026-01-31T09:30:00.000Z"
    )


def changes_response(page: Page) -> DirectoryListing:
    """Write a page of changes."""
    body = msgspec.json.encode(page)
    return DirectoryListing(body, f'"{digest(body)}"', None)


def signed_response(request: AnyRequest, signed: Signed, now: dt.datetime) -> JsonResponse:
    """Answer with the signed bytes, or 304 when the caller has them (RFC 9110 13.2.2)."""
    answer = signed.answer
    headers = {
        "ETag": answer.etag,
        "Cache-Control": "private, no-cache",
        "Vary": "Authorization",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "X-Request-Id": new_txn_id(),
        "x-jws-signature": signed.signature,
    }
    changed = _second_after(answer.last_modified)
    # What may still change within this second gets no date, lest a later change hide in it.
    if changed is not None and changed <= now:
        headers["Last-Modified"] = _http_date(changed)
    if _has_it(request, answer.etag, changed):
        return JsonResponse(304, b"", headers)
    return JsonResponse(200, answer.body, headers)


@lru_cache(maxsize=256)
def _http_date(moment: dt.datetime) -> str:
    return format_datetime(moment, usegmt=True)


def refused(envelope: Envelope, outcome: PayloadRefused) -> JsonResponse:
    """Answer with the error body of spec 7 and all findings beside it."""
    problem = problem_of(outcome)
    body = envelope.body(
        {
            "errorCode": problem.code.value,
            "errorMsg": problem.sentence,
            "findings": list(outcome.findings),
        }
    )
    return JsonResponse(
        problem.status, body, {"Cache-Control": "no-store", "X-Request-Id": envelope.txn_id}
    )


def _second_after(moment: dt.datetime | None) -> dt.datetime | None:
    if moment is None:
        return None
    return moment.astimezone(dt.UTC).replace(microsecond=0) + dt.timedelta(seconds=1)


def _has_it(request: AnyRequest, etag: str, changed: dt.datetime | None) -> bool:
    tags = request.headers.get("if-none-match")
    if tags is not None:
        named = {one.strip().removeprefix("W/") for one in tags.split(",")}
        return "*" in named or etag in named
    since = request.headers.get("if-modified-since")
    if since is None or changed is None:
        return False
    try:
        told = parsedate_to_datetime(since)
    except ValueError:
        return False
    aware = told if told.tzinfo else told.replace(tzinfo=dt.UTC)
    return changed <= aware
