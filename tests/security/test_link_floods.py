"""One who requests links without end: for one person, or against everyone's queue (0077)."""

from collections import Counter

import httpx2
import pytest
import sqlalchemy as sa
from tests.support.error_body import assert_error
from tests.support.mailbox import mails
from tests.support.members import new_member
from tests.support.people.operators import Operator, new_operator
from tests.support.people.second_factor import user_id
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.storage.tables.identity import link_request

FORGOT = "/v1/user/password/forgot"
BUDGET = 30
LINKS = 2
"""In six hours, next to that of the invitation."""


@pytest.fixture(scope="module")
def chief(service: Service) -> Operator:
    return new_operator(service, "members", "audit")


def ask(client: httpx2.Client, email: str) -> httpx2.Response:
    return client.post(FORGOT, json={"username": email})


def events(chief: Operator, who: str) -> list[dict[str, object]]:
    """What the audit has of requests for a person's password, the latest first."""
    found = chief.get("/audit", userId=who).json()["events"]
    return [one for one in found if one["event"] in {"user:password:forgot", "user:link:refuse"}]


def refused_requests(chief: Operator, who: str) -> list[object]:
    """The number of requests that each row of a refusal counts."""
    refusals = [one for one in events(chief, who) if one["event"] == "user:link:refuse"]
    return [one["detail"]["requests"] for one in refusals]  # type: ignore[index]


def wait_for_the_job(service: Service) -> None:
    """Return once every request was looked at."""

    async def waiting(dependencies: Dependencies) -> bool:
        async with dependencies.database.transaction() as transaction:
            counted = sa.select(sa.func.count(link_request.c.txn_id))
            return bool(await transaction.connection.scalar(counted))

    service.wait_until(lambda: not service.in_store(waiting))


def test_fifty_requests_of_one_sender_leave_a_few_rows_and_no_one_waits(
    service: Service, chief: Operator
) -> None:
    victim, other, flood = new_member(service), new_member(service), service.client()
    who = user_id(service, victim.email)
    known = len(mails(service, other.email))

    answers = [ask(flood, victim.email) for _ in range(50)]
    unknown, elsewhere = ask(flood, "nobody@nowhere.example"), ask(other.client, other.email)

    codes = Counter(answer.status_code for answer in answers)
    assert codes[202] in {BUDGET, BUDGET + 1}, codes  # a slow machine gets one more in a minute
    assert codes[202] + codes[429] == 50
    assert_error(answers[-1], 429, "TooManyAttempts", "from this network address")
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
    assert unknown.status_code == 429, "it depends on the sender alone"
    assert elsewhere.status_code == 202
    service.wait_until(lambda: len(mails(service, other.email)) == known + 1)
    wait_for_the_job(service)
    kept = Counter(one["event"] for one in events(chief, who))
    assert kept["user:password:forgot"] == LINKS
    assert 1 <= kept["user:link:refuse"] <= 2


@pytest.mark.parametrize("state", ["active", "disabled"])
def test_a_minute_of_refused_requests_for_one_person_is_one_row(
    service: Service, chief: Operator, state: str
) -> None:
    """From many senders, each within its budget; those after a row are counted by the next."""
    victim = new_member(service)
    who = user_id(service, victim.email)
    if state == "disabled":
        assert chief.post(f"/users/{who}/disable").status_code == 200
    refused = 12 - (LINKS if state == "active" else 0)

    for _ in range(12):
        assert ask(service.client(), victim.email).status_code == 202
    wait_for_the_job(service)
    assert refused_requests(chief, who) == [1]
    service.advance("PT1M")
    ask(service.client(), victim.email)
    wait_for_the_job(service)

    assert refused_requests(chief, who) == [refused, 1]
    reason = "too-many-links" if state == "active" else "account-disabled"
    assert {one["reason"] for one in events(chief, who) if one["reason"]} == {reason}
