"""Acts on people take their locks in one order: else two of them wait for each other."""

from collections.abc import Iterator

import pytest
from tests.support.database.lock_holder import LockHolder, lock_holder
from tests.support.members import Member
from tests.support.people.console import reader
from tests.support.people.operators import Operator, new_operator
from tests.support.people.second_factor import enroll, user_id
from tests.support.service import Service

OPERATORS = "SELECT pg_advisory_xact_lock(hashtextextended('operators', 0))"
COUNTS = "LOCK TABLE throttle IN EXCLUSIVE MODE"
ENTITY = "SELECT FROM entity WHERE entity_id = %s FOR UPDATE NOWAIT"
FACTOR = "SELECT FROM totp_factor WHERE user_id = %s FOR UPDATE NOWAIT"


@pytest.fixture(scope="module")
def chief(service: Service) -> Operator:
    return new_operator(service)


@pytest.fixture
def holder(service: Service) -> Iterator[LockHolder]:
    with lock_holder(service) as found:
        yield found


def test_an_operator_who_adds_an_admin_waits_for_acts_on_people_first(
    chief: Operator, member: Member, holder: LockHolder
) -> None:
    """As who accepts an invitation does, and then locks the entity."""
    new = {"entityId": member.entity_id, "email": f"new-{member.email}"}

    done = holder.meanwhile(
        lambda: chief.post("/members/admins/add", **new), OPERATORS, ENTITY, member.entity_id
    )

    assert done.status_code == 200


def test_an_operator_who_replaces_an_admin_waits_for_acts_on_people_first(
    chief: Operator, member: Member, holder: LockHolder
) -> None:
    email = f"new-{member.email}"
    new = {"entityId": member.entity_id, "leaving": member.email, "email": email}

    done = holder.meanwhile(
        lambda: chief.post("/members/admins/handover", **new), OPERATORS, ENTITY, member.entity_id
    )

    assert done.status_code == 200


def test_a_reset_of_a_factor_waits_for_its_count_first(
    service: Service, chief: Operator, member: Member, holder: LockHolder
) -> None:
    """As who shows a code does, and then locks the factor."""
    browser, who = reader(service), user_id(service, member.email)
    browser.sign_in(member.email)
    enroll(browser, service)

    done = holder.meanwhile(
        lambda: chief.post(f"/users/{who}/second-factor/reset"), COUNTS, FACTOR, who
    )

    assert done.status_code == 200
