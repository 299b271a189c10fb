"""One AA that calls one FIP in one window a day, and what it reported."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from typing import Any

import msgspec
import sqlalchemy as sa
from tests.support.members import Member
from tests.support.metrics.health_network import reporting
from tests.support.metrics.metrics_push import PATIENT_S, PushingAa, receive_at_once
from tests.support.people.operators import Operator

from mudra.bootstrap.dependencies import Dependencies
from mudra.metrics.payload.report import RequestBlock, RequestFip

DAY = timedelta(days=1)


@dataclass
class Calls:
    """One AA that reports one window a day, and what it reported: calls by window."""

    noc: Operator
    gateway: Member
    aa: PushingAa
    fip_id: str
    calls: dict[datetime, int] = field(default_factory=dict)

    def renewed(self) -> PushingAa:
        """The AA with a token of today."""
        return reporting(self.gateway)

    def asked(self, **query: str) -> Any:
        answer = self.noc.get("/volume", **query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def report_week(self, calls_of: Callable[[datetime], int]) -> None:
        """Report the last window of now and of the six days before; three calls in each fail."""
        last, reports = self.aa.last_window(), []
        for back in range(7):
            window = last - back * DAY
            calls = calls_of(window)
            self.calls[window] = calls
            counts = (calls, calls - 3, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0)
            heartbeat = RequestBlock("hbt", (1, 2, 3, 4), (50, 50, *[0] * 13))
            blocks = (RequestBlock("fireq", (9, 20, 30, 40), counts), heartbeat)
            fips = (RequestFip(self.fip_id, blocks),)
            empty = self.aa.requests(window, fips=0)
            reports.append(msgspec.structs.replace(empty, fips=fips))
        receive_at_once(self.aa.service, reports)


def report_idle_windows(reported: Calls) -> None:
    """Note the receipts of all other windows of the same days, as pushes without a call do."""
    days = sorted({window.date() for window in reported.calls})

    async def insert(dependencies: Dependencies) -> None:
        async with dependencies.transaction(within_s=PATIENT_S) as tx:
            await tx.take_time(PATIENT_S)
            await tx.connection.execute(
                sa.text(
                    "INSERT INTO metrics_receipt (receipt_id, aa_id, tag, window_at, version,"
                    " txn_id, content_hash, received_at, blocks, findings)"
                    " SELECT gen_random_uuid(), :aa, tag, at, 1, gen_random_uuid()::text, '', at,"
                    " 0, '[]' FROM generate_series(CAST(:first AS timestamptz), :last,"
                    " '10 minutes') AS at, unnest(ARRAY['req', 'not']) AS tag"
                    " ON CONFLICT DO NOTHING"
                ),
                {
                    "aa": reported.aa.aa_id,
                    "first": datetime.combine(days[0], time(), UTC),
                    "last": datetime.combine(days[-1], time(23, 50), UTC),
                },
            )

    reported.aa.service.in_store(insert)
