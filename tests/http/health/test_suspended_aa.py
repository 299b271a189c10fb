"""An AA that was suspended did not have to report while it was."""

from datetime import datetime, timedelta
from typing import Any

from tests.support.members import Member, new_member
from tests.support.metrics.metrics_push import PushingAa
from tests.support.people.operators import new_operator
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange


def reporting(service: Service, member: Member) -> PushingAa:
    token = member.entity_token(member.secret()).json()["accessToken"]
    return PushingAa(service, member.entity_id, token, member.client, member.email)


def expected(service: Service, aa_id: str, within: TimeRange) -> int | None:
    """How many reports of each kind were expected, None for an AA that is not asked for any."""

    async def count(dependencies: Dependencies) -> int | None:
        async with dependencies.reads(within_s=30.0) as tx:
            coverage = await tx.service(HealthService).coverage(within, dependencies.clock())
        return coverage.expected.get(aa_id)

    return service.in_store(count)


def test_windows_of_a_suspension_are_neither_missing_nor_expected(health_service: Service) -> None:
    service = health_service
    member, staff = new_member(service, "AA"), new_operator(service)
    aa = reporting(service, member)
    began = aa.last_window()
    for payload in (aa.requests(began), aa.notifications(began)):
        assert aa.push(payload).status_code == 200
    service.advance("PT1H")

    def changed(status: str) -> datetime:
        done = staff.post(f"/members/{aa.aa_id}/status", status=status, reason="an audit")
        assert done.status_code == 200, done.text
        return aa.now()

    suspended = changed("suspended")
    service.advance("PT5H")
    of_suspended = expected(service, aa.aa_id, TimeRange(began, aa.last_window() + WINDOW))
    restored = changed("active")
    service.advance("PT1H")
    again = reporting(service, member)
    end = again.last_window() + WINDOW
    due = end + timedelta(minutes=16)  # the reports of the last window are missing, of no later one
    service.advance(f"PT{int((due - again.now()).total_seconds())}S")
    within = {"from": began.isoformat(), "to": end.isoformat()}
    gaps: list[Any] = again.receipts(**within)["gaps"]

    missing = {
        (datetime.fromisoformat(one["start"]), datetime.fromisoformat(one["end"])) for one in gaps
    }
    before, after = sorted(missing)
    assert len(gaps) == 4  # of both kinds
    assert before[0] == began + WINDOW
    assert suspended - timedelta(minutes=25) < before[1] <= suspended - timedelta(minutes=15)
    assert restored <= after[0] < restored + WINDOW
    assert after[1] == end
    number = sum((stop - start) // WINDOW for start, stop in missing) + 1
    assert expected(service, aa.aa_id, TimeRange(began, end)) == number
    assert of_suspended == (before[1] - began) // WINDOW
    assert expected(service, aa.aa_id, TimeRange(end, end + WINDOW)) == 0

    for place in range(number):  # its agent had kept them; they are no others
        window = before[1] + place * WINDOW
        for payload in (again.requests(window), again.notifications(window)):
            assert again.push(payload).status_code == 200
    assert again.receipts(**within)["gaps"] == gaps
    (row,) = staff.get("/health/aas", aaId=aa.aa_id, **within).json()["rows"]
    assert row["proof"]["windowsExpected"] == 2 * number
    assert row["proof"]["windowsHeard"] == 2
