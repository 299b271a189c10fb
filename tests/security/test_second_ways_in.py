"""Ways into an account that must end when another was used, or the account was disabled."""

import asyncio
import os
import uuid
from collections.abc import Callable

import httpx2
import psycopg
import pytest
from tests.support.mailbox import latest_link
from tests.support.members import Member, new_member, onboard, set_password
from tests.support.people.console import reader
from tests.support.people.operators import Operator, active_operator, new_operator
from tests.support.people.second_factor import user_id
from tests.support.service import PASSWORD, Service
from tests.support.until import until

from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User
from mudra.identity.accounts.user_token_store import UserTokens
from mudra.identity.sessions.console_sessions import BegunSession, begin_session, complete_session
from mudra.identity.sessions.session import Session, Stage, session_key
from mudra.identity.sessions.session_store import Sessions
from mudra.identity.sign_in.sign_in import Admitted, admit, settle
from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.database.transaction import Transaction

OTHER = "granite otter velvet moon"
STRANGER = Caller("nobody", "192.0.2.7")


@pytest.fixture(scope="module")
def chief(service: Service) -> Operator:
    return new_operator(service, "members")


async def begin(tx: Transaction, who: str, stage: Stage = Stage.FULL) -> BegunSession:
    """Begin a session of a person."""
    return await begin_session(
        tx, who, Caller(f"user:{who}"), await People(tx).now(), random_bytes=os.urandom, stage=stage
    )


async def waiting_for_code(tx: Transaction, who: str) -> Session:
    """Begin a session that waits for its second step."""
    waiting = await Sessions(tx).find(session_key((await begin(tx, who, Stage.CODE)).cookie))
    assert waiting is not None
    return waiting


async def complete(tx: Transaction, waiting: Session) -> BegunSession | None:
    """Replace a session after its second step."""
    return await complete_session(
        tx, waiting, STRANGER, await People(tx).now(), random_bytes=os.urandom
    )


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
        async with dependencies.transaction() as tx:
            return (await begin(tx, who)).cookie.reveal()

    assert chief.post(f"/users/{who}/disable").status_code == 200
    browser.client.cookies.set("mudra", service.in_store(store_session))
    assert chief.post(f"/users/{who}/enable").status_code == 200

    assert browser.get("/console/account").status_code == 303
    assert signs_in(service, resident.email)
    browser.client.cookies.set("mudra", service.in_store(store_session))
    assert browser.get("/console/account").status_code == 200, "a session of an enabled account"
    assert chief.post(f"/users/{who}/enable").status_code == 200
    assert browser.get("/console/account").status_code == 200, "nothing was disabled"


def _waits_for(service: Service, statement: str) -> None:
    """Return once a session of the database waits for a lock in such a statement."""
    waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE %s"
    with (
        embedded_server(service.data_dir) as conninfo,
        psycopg.connect(conninfo, autocommit=True) as watching,
    ):
        until(lambda: watching.execute(waits, [f"{statement}%"]).rowcount)


@pytest.fixture
def link(service: Service, chief: Operator, member: Member) -> str:
    """A link by which the member's admin sets a new password."""
    assert chief.post(f"/users/{user_id(service, member.email)}/invite").status_code == 200
    return latest_link(service, member.email)


def signed_in_while(
    service: Service, email: str, change: Callable[[], httpx2.Response]
) -> tuple[str, int]:
    """The cookie of a sign-in that has checked all before a change, and stores its session after.

    And the status of the change, which waits for it.
    """

    async def race(dependencies: Dependencies) -> tuple[str, int]:
        async with dependencies.transaction() as tx:
            admitted = await admit(tx, email, STRANGER, origin="", hourly=1000)
        assert isinstance(admitted, Admitted)
        async with dependencies.transaction() as tx:
            user = await settle(tx, admitted, STRANGER, matches=True, hourly=1000)
            assert isinstance(user, User)
            changing = asyncio.create_task(asyncio.to_thread(change))
            await asyncio.to_thread(_waits_for, service, "INSERT INTO throttle")
            begun = await begin(tx, user.user_id)
        return begun.cookie.reveal(), (await changing).status_code

    return service.in_store(race)


def test_a_sign_in_that_is_under_way_ends_with_its_password(
    service: Service, member: Member, link: str
) -> None:
    """It has checked the password before that is changed, and stores its session after."""
    browser = reader(service)

    cookie, changed = signed_in_while(
        service, member.email, lambda: set_password(member.client, link, OTHER)
    )

    assert changed == 200
    browser.client.cookies.set("mudra", cookie)
    assert browser.get("/console/account").status_code == 303


def test_a_sign_in_that_is_under_way_ends_with_the_first_scope(
    service: Service, chief: Operator
) -> None:
    """It was asked for no second factor, and stores its session after the person got a role."""
    browser, email = reader(service), active_operator(service, "members")
    assert chief.post("/operators", email=email, scopes=[]).status_code == 200

    cookie, given = signed_in_while(
        service, email, lambda: chief.post("/operators", email=email, scopes=["members"])
    )

    assert given == 200
    browser.client.cookies.set("mudra", cookie)
    assert browser.get("/console/account").status_code == 303


def test_a_session_that_is_being_replaced_ends_with_the_password(
    service: Service, member: Member, link: str
) -> None:
    """Its code was right before the password is changed, and its new cookie is stored after."""
    browser, who = reader(service), user_id(service, member.email)

    async def race(dependencies: Dependencies) -> tuple[str, int]:
        async with dependencies.transaction() as tx:
            waiting = await waiting_for_code(tx, who)
        async with dependencies.transaction() as tx:
            completed = await complete(tx, waiting)
            assert completed is not None
            changing = asyncio.create_task(
                asyncio.to_thread(set_password, member.client, link, OTHER)
            )
            await asyncio.to_thread(_waits_for, service, "UPDATE user_account")
        return completed.cookie.reveal(), (await changing).status_code

    cookie, changed = service.in_store(race)

    assert changed == 200
    browser.client.cookies.set("mudra", cookie)
    assert browser.get("/console/account").status_code == 303


def test_a_session_that_has_ended_is_replaced_by_none(service: Service, member: Member) -> None:
    who = user_id(service, member.email)

    async def ended(dependencies: Dependencies) -> tuple[BegunSession | None, int]:
        async with dependencies.transaction() as tx:
            waiting = await waiting_for_code(tx, who)
            await UserTokens(tx).revoke_user_tokens(who, await People(tx).now())
            return await complete(tx, waiting), len(await Sessions(tx).of_user(who))

    assert service.in_store(ended) == (None, 0)
