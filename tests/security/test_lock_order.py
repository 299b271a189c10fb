"""Acts on people take their locks in one order: else two of them wait for each other."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg
import pytest
from tests.support.people.console import reader
from tests.support.people.operators import Operator, new_operator
from tests.support.people.second_factor import enroll, user_id
from tests.support.service import Member, Service
from tests.support.until import until

from mudra.storage.database.embedded.server import embedded_server

OPERATORS = "SELECT pg_advisory_xact_lock(hashtextextended('operators', 0))"
COUNTS = "LOCK TABLE throttle IN EXCLUSIVE MODE"
WAITING = "SELECT FROM pg_stat_activity WHERE %s = ANY(pg_blocking_pids(pid))"
ENTITY = "SELECT FROM entity WHERE entity_id = %s FOR UPDATE NOWAIT"
FACTOR = "SELECT FROM totp_factor WHERE user_id = %s FOR UPDATE NOWAIT"
Acted = Callable[[Callable[[], httpx.Response], str, str, str], httpx.Response]


@pytest.fixture(scope="module")
def chief(service: Service) -> Operator:
    return new_operator(service)


@pytest.fixture
def acted(service: Service) -> Iterator[Acted]:
    """Acts while another session holds `first`, and sees that `then` of a row is free meanwhile."""
    with (
        ThreadPoolExecutor(1) as thread,
        embedded_server(service.data_dir) as conninfo,
        psycopg.connect(conninfo, autocommit=True) as watching,
        psycopg.connect(conninfo) as other,
    ):

        def run(
            act: Callable[[], httpx.Response], first: str, then: str, row: str
        ) -> httpx.Response:
            other.execute(first.encode())
            done = thread.submit(act)
            until(lambda: watching.execute(WAITING, [other.info.backend_pid]).rowcount)
            other.execute(then.encode(), [row])
            other.rollback()
            return done.result(30)

        yield run


def test_an_operator_who_adds_an_admin_waits_for_acts_on_people_first(
    chief: Operator, member: Member, acted: Acted
) -> None:
    """As who accepts an invitation does, and then locks the entity."""
    new = {"entityId": member.entity_id, "email": f"new-{member.email}"}

    done = acted(
        lambda: chief.post("/members/admins/add", **new), OPERATORS, ENTITY, member.entity_id
    )

    assert done.status_code == 200


def test_an_operator_who_replaces_an_admin_waits_for_acts_on_people_first(
    chief: Operator, member: Member, acted: Acted
) -> None:
    email = f"new-{member.email}"
    new = {"entityId": member.entity_id, "leaving": member.email, "email": email}

    done = acted(
        lambda: chief.post("/members/admins/handover", **new), OPERATORS, ENTITY, member.entity_id
    )

    assert done.status_code == 200


def test_a_reset_of_a_factor_waits_for_its_count_first(
    service: Service, chief: Operator, member: Member, acted: Acted
) -> None:
    """As who shows a code does, and then locks the factor."""
    browser, who = reader(service), user_id(service, member.email)
    browser.sign_in(member.email)
    enroll(browser, service)

    done = acted(lambda: chief.post(f"/users/{who}/second-factor/reset"), COUNTS, FACTOR, who)

    assert done.status_code == 200
