"""Ways into an account that must end when another was used, or the account was disabled."""

import os
import uuid

import pytest
from tests.support.people.console import reader
from tests.support.people.operators import Operator, new_operator
from tests.support.people.second_factor import user_id
from tests.support.service import (
    PASSWORD,
    Member,
    Service,
    latest_link,
    new_member,
    onboard,
    set_password,
)

from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.sessions.session import begin_session

OTHER = "granite otter velvet moon"


@pytest.fixture(scope="module")
def chief(service: Service) -> Operator:
    return new_operator(service, "members")


def signs_in(service: Service, email: str, password: str = PASSWORD) -> bool:
    form = {"username": email, "password": password}
    return service.client().post("/v1/user/token/generate", data=form).status_code == 200


def test_disabling_an_account_ends_its_open_link_for_good(
    service: Service, chief: Operator
) -> None:
    _, email = onboard(service)
    stolen = latest_link(service, email)
    who = user_id(service, email)
    assert chief.post(f"/users/{who}/disable").status_code == 200
    assert chief.post(f"/users/{who}/enable").status_code == 200

    assert set_password(service.client(), stolen).status_code == 401
    assert chief.post(f"/users/{who}/invite").status_code == 200
    assert set_password(service.client(), latest_link(service, email)).status_code == 200


def test_a_password_set_by_one_invitation_ends_the_link_of_another(service: Service) -> None:
    _, email = onboard(service)
    first, other = latest_link(service, email), new_member(service)
    asked = {"entityId": other.entity_id, "email": email}
    added = other.client.post("/v1/entity/admin/add", json=asked, headers=other.bearer())
    assert added.status_code == 200, added.text
    assert set_password(service.client(), latest_link(service, email)).status_code == 200

    assert set_password(service.client(), first, OTHER).status_code == 401
    assert signs_in(service, email)


def test_the_password_of_the_old_address_does_not_survive_a_move(
    service: Service, chief: Operator, member: Member
) -> None:
    """Permitted acts combined: moved, disabled and enabled, with no address ever verified."""
    who, moved = user_id(service, member.email), f"moved-{uuid.uuid4().hex[:10]}@member.example"
    assert chief.post(f"/users/{who}/email", email=moved).status_code == 200
    for act in ("disable", "enable"):
        assert chief.post(f"/users/{who}/{act}").status_code == 200

    assert not signs_in(service, moved)
    assert chief.post(f"/users/{who}/invite").status_code == 200
    assert set_password(service.client(), latest_link(service, moved), OTHER).status_code == 200
    assert signs_in(service, moved, OTHER)


def test_a_sign_in_that_was_under_way_opens_nothing_once_the_account_is_enabled(
    service: Service, chief: Operator
) -> None:
    """It read the account before that was disabled, and stored its session after."""
    resident, browser = new_member(service), reader(service)
    who = user_id(service, resident.email)

    async def store_session(dependencies: Dependencies) -> str:
        async with dependencies.unit_of_work() as work:
            begun = await begin_session(
                who,
                Caller(f"user:{who}"),
                await work.people.now(),
                sessions=work.sessions,
                audit_log=work.audit_log,
                random_bytes=os.urandom,
            )
        return begun.cookie.reveal()

    assert chief.post(f"/users/{who}/disable").status_code == 200
    browser.client.cookies.set("mudra", service.in_store(store_session))
    assert chief.post(f"/users/{who}/enable").status_code == 200

    assert browser.get("/console/account").status_code == 303
    assert signs_in(service, resident.email)
    browser.client.cookies.set("mudra", service.in_store(store_session))
    assert browser.get("/console/account").status_code == 200, "a session of an enabled account"
    assert chief.post(f"/users/{who}/enable").status_code == 200
    assert browser.get("/console/account").status_code == 200, "nothing was disabled"
