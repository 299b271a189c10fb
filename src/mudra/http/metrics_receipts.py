"""GET {prefix}/receipts: an AA looks up what arrived of its own, and what did not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import msgspec
from litestar import Response, get
from litestar.handlers import HTTPRouteHandler

from mudra.http.answer import refusal, success
from mudra.http.bearer import authorization_of
from mudra.http.calling_entity import calling_entity, revoked
from mudra.http.envelope import Body, iso_ms
from mudra.http.errors import InvalidField
from mudra.http.exchange import AnyRequest, Exchange, new_exchange
from mudra.http.metrics_responses import GapShown, ReceiptShown, ReceiptsResponse, RefusedShown
from mudra.http.openapi import described
from mudra.http.service import Injected
from mudra.metrics.catalogue import WINDOW, Tag, window_start
from mudra.metrics.coverage import TimeRange, gaps
from mudra.metrics.ingest import Receipt
from mudra.metrics.window_rule import parse_utc
from mudra.runtime.work import Work
from mudra.tokens.check import TokenFacts
from mudra.tokens.claims import EntityType

_USUAL: Final = timedelta(days=1)
_LONGEST: Final = timedelta(days=31)
_PAGE: Final = 200
_LARGEST_PAGE: Final = 1000
_SMALLEST_PAGE: Final = 2
_REFUSED_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Asked:
    """Which windows, and from which on this page."""

    within: TimeRange
    after: datetime
    limit: int


def receipts_routes(prefixes: Sequence[str]) -> list[HTTPRouteHandler]:
    """Make the handler at every address of the metrics."""

    @get(
        [f"{prefix}/receipts" for prefix in prefixes],
        operation_class=described("Own metrics receipts", None, ReceiptsResponse, bearer=True),
    )
    async def receipts(request: AnyRequest, service: Injected) -> Response[bytes]:
        """Receipts, gaps, late windows and findings; `from`, `to`, `limit`, `next`."""
        exchange = new_exchange(request, service)
        facts = await calling_entity(authorization_of(request), service, EntityType.AA)
        if not isinstance(facts, TokenFacts):
            return refusal(exchange.envelope, facts).response()
        asked = _asked(request.query_params, service.clock())
        if isinstance(asked, InvalidField):
            return refusal(exchange.envelope, asked).response()
        async with service.open_work() as work:
            ended = await revoked(facts, work)
            shown = ended or await _shown(facts.subject, asked, exchange, work)
        if not isinstance(shown, dict):
            return refusal(exchange.envelope, shown).response()
        return success(exchange.envelope, shown).response()

    return [receipts]


async def _shown(aa_id: str, asked: Asked, exchange: Exchange, work: Work) -> Body:
    within = asked.within
    page = await work.receipts.receipts(aa_id, TimeRange(asked.after, within.end), asked.limit + 1)
    following = None
    if len(page) > asked.limit:
        following = page[asked.limit].key.window
        page = [receipt for receipt in page if receipt.key.window < following]
    since = (await work.aas_and_fips.reporting_aas()).get(aa_id, within.end)
    heard = await work.receipts.windows(aa_id, within)
    closed = min(within.end, window_start(exchange.service.clock()))
    expected = TimeRange(max(within.start, since), closed)
    refused = await work.receipts.refused(aa_id, within.start, _REFUSED_SHOWN)
    return {
        "aaId": aa_id,
        "from": iso_ms(within.start),
        "to": iso_ms(within.end),
        "receipts": [msgspec.to_builtins(_receipt(receipt)) for receipt in page],
        "gaps": [
            msgspec.to_builtins(_gap(tag, gap)) for tag in Tag for gap in gaps(expected, heard[tag])
        ],
        "refused": [
            msgspec.to_builtins(
                RefusedShown(at=iso_ms(one.at), total=one.total, findings=list(one.findings))
            )
            for one in refused
        ],
        "next": iso_ms(following) if following else None,
    }


def _receipt(receipt: Receipt) -> ReceiptShown:
    return ReceiptShown(
        receipt_id=receipt.receipt_id,
        tag=receipt.key.tag.value,
        window=iso_ms(receipt.key.window),
        version=receipt.version,
        txn_id=receipt.txn_id,
        received_at=iso_ms(receipt.received_at),
        late=receipt.late,
        findings=list(receipt.findings),
    )


def _gap(tag: Tag, gap: TimeRange) -> GapShown:
    return GapShown(
        tag=tag.value,
        start=iso_ms(gap.start),
        end=iso_ms(gap.end),
        windows=(gap.end - gap.start) // WINDOW,
    )


def _asked(query: Mapping[str, str], now: datetime) -> Asked | InvalidField:
    within = time_range(query, now, usual=_USUAL, longest=_LONGEST)
    if isinstance(within, InvalidField):
        return within
    after = parse_utc(query["next"]) if "next" in query else within.start
    if after is None or not within.start <= after <= within.end:
        return InvalidField("next must be the value of next in the former answer")
    limit = query.get("limit", str(_PAGE))
    if not (limit.isascii() and limit.isdigit()) or not (
        _SMALLEST_PAGE <= int(limit[:9]) <= _LARGEST_PAGE
    ):
        return InvalidField(f"limit must be a whole number from 2 to {_LARGEST_PAGE}")
    return Asked(within, after, int(limit))


def time_range(
    query: Mapping[str, str], now: datetime, *, usual: timedelta, longest: timedelta
) -> TimeRange | InvalidField:
    """Read `from` and `to`; the last closed windows when they are not there."""
    end = parse_utc(query["to"]) if "to" in query else window_start(now)
    if end is None:
        return InvalidField("to must be ISO 8601 in UTC, such as 2026-01-31T10:20:00Z")
    start = parse_utc(query["from"]) if "from" in query else end - usual
    if start is None:
        return InvalidField("from must be ISO 8601 in UTC, such as 2026-01-31T10:20:00Z")
    if not start < end or end - start > longest:
        return InvalidField(f"from must be before to, by at most {longest.days} days")
    return TimeRange(start, end)
