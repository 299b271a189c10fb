"""A report is stored by what holds once its body is there, which may take half a minute."""

from collections.abc import Callable

import httpx2
import msgspec
import pytest
import sqlalchemy as sa
from tests.http.half_sent import request_half_sent
from tests.support.members import Member, new_member
from tests.support.metrics.metrics_push import PushingAa
from tests.support.people.operators import new_operator
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.storage.tables.metrics import metrics_receipt


def nothing(aa: Member, token: str) -> httpx2.Response:
    return aa.read()


def suspended(aa: Member, token: str) -> httpx2.Response:
    staff = new_operator(aa.service, "members")
    return staff.post(f"/members/{aa.entity_id}/status", status="suspended", reason="test")


def revoked(aa: Member, token: str) -> httpx2.Response:
    auth = (aa.entity_id, aa.secret())
    return aa.client.post("/oauth2/revoke", data={"token": token}, auth=auth)


@pytest.mark.parametrize(
    ("change", "expected"),
    [(nothing, (200, "")), (revoked, (401, "TokenRevoked")), (suspended, (401, "Unauthorized"))],
)
def test_an_aa_that_may_not_report_any_more_finishes_no_upload(
    service: Service,
    change: Callable[[Member, str], httpx2.Response],
    expected: tuple[int, str],
) -> None:
    aa = new_member(service, "AA")
    token = aa.entity_token(aa.secret()).json()["accessToken"]
    pushing = PushingAa(service, aa.entity_id, token, aa.client)
    report = msgspec.json.encode(pushing.requests())
    path = "/metrics/perf/v1/push"

    with request_half_sent(service, path, report, **pushing.bearer) as request:
        assert change(aa, token).is_success
        answer = request.rest()

    assert answer == expected
    assert reports_of(aa) == (expected[0] == 200)


def reports_of(aa: Member) -> int:
    """How many reports of an AA are stored: its own token may be worth nothing."""

    async def count(dependencies: Dependencies) -> int:
        own = sa.select(sa.func.count()).where(metrics_receipt.c.aa_id == aa.entity_id)
        async with dependencies.database.transaction() as transaction:
            return int(await transaction.connection.scalar(own) or 0)

    return aa.service.in_store(count)
