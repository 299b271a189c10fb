"""Anyone with a token can be refused often: the audit keeps the first as rows, the rest as counts."""

from uuid import uuid4

import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from tests.support.members import Member, new_member
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.service import Service

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.bootstrap.dependencies import Dependencies

REFUSED = 60
MOST_ROWS = 25
"""Per process: twenty at once, and one more in a minute; a slow machine may take some minutes."""
MOST_CALLS = 2000
_ROWS = sa.text(
    "SELECT coalesce((detail->>'count')::int, 1) FROM audit_event"
    " WHERE actor = :actor AND outcome = 'refused'"
)
_WAITING = sa.text("SELECT count FROM audit_refused WHERE actor = :actor")


def actor_of(member: Member) -> str:
    """The member's admin as the audit names them."""
    query = sa.text("SELECT user_id FROM user_account WHERE email = :email")

    async def found(dependencies: Dependencies) -> str:
        async with dependencies.database.transaction() as transaction:
            user_id = await transaction.connection.scalar(query, {"email": member.email})
        return f"user:{user_id}"

    return str(member.service.in_store(found))


def counted(service: Service, actor: str, which: sa.TextClause) -> list[int]:
    async def found(dependencies: Dependencies) -> list[int]:
        async with dependencies.database.transaction() as transaction:
            rows = await transaction.connection.scalars(which, {"actor": actor})
            return [int(one) for one in rows]

    return list(service.in_store(found))


def test_refused_acts_of_one_actor_are_few_rows_and_a_count(service: Service) -> None:
    member, actor = (one := new_member(service)), actor_of(one)
    headers = member.bearer()
    for number in range(REFUSED):
        answer = member.client.post(
            "/v1/entity/secret/read", json={"entityId": f"OTHER-{number}"}, headers=headers
        )
        assert answer.status_code == 401

    rows, waiting = counted(service, actor, _ROWS), counted(service, actor, _WAITING)
    assert len(rows) <= MOST_ROWS
    assert sum(rows) + sum(waiting) == REFUSED
    service.advance("PT1M")
    service.wait_until(lambda: not counted(service, actor, _WAITING))

    assert sum(counted(service, actor, _ROWS)) == REFUSED
    assert max(counted(service, actor, _ROWS)) > 1
    assert len(counted(service, actor, _ROWS)) <= MOST_ROWS + 2


def test_invalid_reports_of_one_aa_are_few_rows_and_a_count(service: Service) -> None:
    aa = pushing_aa(service)
    actor = f"entity:{aa.aa_id}"
    refused = 0
    while refused < REFUSED:
        report = replace(aa.requests(txn_id=str(uuid4())), to_date_time="never")
        refused += aa.push(report).status_code == 400

    rows, waiting = counted(service, actor, _ROWS), counted(service, actor, _WAITING)
    assert len(rows) <= MOST_ROWS
    assert sum(rows) + sum(waiting) == REFUSED


def test_guesses_at_one_person_leave_the_next_person_a_row_of_their_own(service: Service) -> None:
    """No one knows who guesses: the audit of the person guessed at has to say that it was them."""
    guesses = [("first", REFUSED), ("second", 1)]

    async def refuse(dependencies: Dependencies) -> None:
        async with dependencies.transaction() as tx:
            for user_id, times in guesses:
                entry = AuditEntry(
                    EventName.USER_TOKEN_ISSUE,
                    Caller("nobody", "192.0.2.1"),
                    user_id=f"person-{user_id}",
                    reason="WrongPassword",
                    outcome=Outcome.REFUSED,
                )
                for _ in range(times):
                    await AuditLog(tx).append(entry)

    service.in_store(refuse)
    service.advance("PT1M")
    of_first, of_second = (
        sa.text(str(_ROWS).replace("actor = :actor", f"detail->>'user' = 'person-{one}'"))
        for one, _ in guesses
    )
    service.wait_until(lambda: sum(counted(service, "", of_first)) == REFUSED)

    assert counted(service, "", of_second) == [1]
    assert len(counted(service, "", of_first)) <= MOST_ROWS + 2


@pytest.mark.slow
def test_a_user_who_calls_without_end_has_to_wait_and_no_one_else_is(service: Service) -> None:
    member, other = new_member(service), new_member(service)
    headers, others = member.bearer(), other.bearer()
    body = {"entityId": 0}
    for _ in range(MOST_CALLS):
        answer = member.client.post("/v1/entity/secret/read", json=body, headers=headers)
        if answer.status_code == 429:
            break

    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) >= 1
    assert "user" in answer.json()["errorMsg"]
    assert other.client.post("/v1/entity/secret/read", json=body, headers=others).status_code == 400
