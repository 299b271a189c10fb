"""An AA whose agent pushes through the real address."""

import gzip
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import msgspec
import zstandard
from tests.support.members import new_member
from tests.support.metrics.metrics_payloads import notification_metrics, request_metrics
from tests.support.service import Service

from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies
from mudra.jobs.metrics_jobs import refresh_rollups
from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.metrics.payload.push_report import PushService, Received
from mudra.metrics.payload.report import NotificationMetrics, Report, RequestMetrics, encode_report
from mudra.metrics.payload.validation import CheckedReport, check_report
from mudra.storage.metrics.stored_report import storable

PATIENT_S = 60.0
"""Of reports that are stored together, on a machine that is busy."""


@dataclass
class PushingAa:
    """An AA with an Entity Access Token."""

    service: Service
    aa_id: str
    token: str
    client: httpx2.Client
    admin: str = ""

    @property
    def bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def now(self) -> datetime:
        """The service's time."""
        answer = self.client.post("/v1/entity/token/generate", data={"id": "x", "secret": "y"})
        return datetime.fromisoformat(answer.json()["timestamp"])

    def last_window(self) -> datetime:
        """Start of the last closed window."""
        return window_start(self.now()) - WINDOW

    def push(
        self,
        payload: Report | bytes,
        *,
        path: str = "/metrics/perf/v1/push",
        packed: str = "",
        **headers: str,
    ) -> httpx2.Response:
        """Push a payload, or raw bytes."""
        body = payload if isinstance(payload, bytes) else msgspec.json.encode(payload)
        if packed == "gzip":
            body = gzip.compress(body)
        elif packed == "zstd":
            body = zstandard.ZstdCompressor().compress(body)
        if packed:
            headers["Content-Encoding"] = packed
        return self.client.post(
            self.service.root + path,
            content=body,
            headers={"Content-Type": "application/json", **self.bearer, **headers},
        )

    def requests(
        self, start: datetime | None = None, *, txn_id: str = "", seed: int = 1, fips: int = 2
    ) -> RequestMetrics:
        """A request-metrics payload of this AA."""
        return request_metrics(
            fips, self.aa_id, txn_id or str(uuid.uuid4()), start or self.last_window(), seed
        )

    def notifications(
        self, start: datetime | None = None, *, txn_id: str = "", seed: int = 1, fips: int = 2
    ) -> NotificationMetrics:
        """A notification-metrics payload of this AA."""
        return notification_metrics(
            fips, self.aa_id, txn_id or str(uuid.uuid4()), start or self.last_window(), seed
        )

    def receipts(self, **query: str | int) -> Any:
        """Look up own receipts."""
        answer = self.client.get(
            f"{self.service.root}/metrics/perf/v1/receipts", params=query, headers=self.bearer
        )
        assert answer.status_code == 200, answer.text
        return answer.json()


def pushing_aa(service: Service) -> PushingAa:
    """Onboard an AA of its own for a test."""
    member = new_member(service, "AA")
    token = member.entity_token(member.secret()).json()["accessToken"]
    return PushingAa(service, member.entity_id, token, member.client, member.email)


def receive_at_once(service: Service, reports: Sequence[Report]) -> None:
    """Store reports as their pushes do, checked and decided in the same way, in one transaction.

    By HTTP they take half as much CPU again, and what HTTP adds is no matter of incidents.
    """

    async def receive(dependencies: Dependencies) -> None:
        async with dependencies.transaction(within_s=PATIENT_S) as tx:
            await tx.take_time(PATIENT_S)  # the first reports of a day make its tables
            for report in reports:
                checked = check_report(encode_report(report), dependencies.clock())
                assert isinstance(checked, CheckedReport), checked
                caller = Caller(f"entity:{checked.aa_id}", txn_id=checked.txn_id)
                received = await tx.service(PushService).receive(
                    storable(checked), str(uuid.uuid4()), caller
                )
                assert isinstance(received, Received), received

    service.in_store(receive)


def sum_up(service: Service) -> None:
    """Make all sums that are due, also those that its job would still wait for."""

    async def refresh(dependencies: Dependencies) -> None:
        await refresh_rollups(dependencies.metrics_maintenance)

    service.in_store(refresh)


def utc(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def ago(moment: datetime, **how_long: int) -> datetime:
    return moment - timedelta(**how_long)
