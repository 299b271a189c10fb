"""What a person opened without a role is none of an operator's or an admin's (decision 0072)."""

from collections.abc import Callable

import pytest
from tests.security.identity_provider import Provider, sign_in
from tests.security.people.admin_calls import ask, confirm, invited
from tests.support.members import Member, new_member
from tests.support.people.console import Reader, reader
from tests.support.people.operators import Operator, active_operator, new_operator, with_token
from tests.support.people.second_factor import user_id
from tests.support.service import Service

PEOPLE = "/console/operator/people"


@pytest.fixture(scope="module")
def chief(service: Service) -> Operator:
    return new_operator(service)


def without_role(service: Service, chief: Operator) -> Operator:
    """A person whose last scope was taken, and who signed in after that."""
    email = active_operator(service, "audit")
    assert chief.post("/operators", email=email, scopes=[]).status_code == 200
    return with_token(service, email)


@pytest.fixture
def person(service: Service, chief: Operator) -> Operator:
    return without_role(service, chief)


@pytest.fixture
def browser(service: Service, person: Operator) -> Reader:
    """The person's browser, signed in."""
    made = reader(service)
    made.sign_in(person.email)
    assert is_open(made)
    return made


def is_open(browser: Reader) -> bool:
    return browser.get("/console/account").status_code == 200


def test_the_first_scope_ends_tokens_and_sessions_of_before(
    service: Service, chief: Operator, person: Operator, browser: Reader
) -> None:
    made = chief.post("/operators", email=person.email, scopes=["audit"]).json()

    assert made["tokensEnded"] == 1
    assert person.get("/audit").status_code == 401
    assert not is_open(browser)
    assert with_token(service, person.email).get("/audit").status_code == 200
    events = chief.get("/audit", userId=user_id(service, person.email)).json()["events"]
    (ended,) = [one for one in events if one["reason"] == "first-role"]
    assert ended["event"] == "user:token:revoke"
    assert ended["detail"]["tokens_ended"] == 1


def test_further_scopes_end_nothing(service: Service, chief: Operator) -> None:
    person = new_operator(service, "health")

    made = chief.post("/operators", email=person.email, scopes=["audit"]).json()

    assert made["tokensEnded"] == 0
    assert person.get("/audit").status_code == 200


def test_the_command_says_how_many_ended(service: Service, person: Operator) -> None:
    words = ("operator", "create", person.email, "--scope", "audit", "--json")

    assert '"tokensEnded": 1' in service.cli(*words).stdout
    assert person.get("/audit").status_code == 401


def test_the_page_says_that_they_ended(service: Service, chief: Operator, person: Operator) -> None:
    page = reader(service)
    page.sign_in(chief.email)

    done = page.act(PEOPLE, PEOPLE, email=person.email, audit="on")

    assert (
        "Tokens that the person had before the role have ended"
        in page.get(done.headers["location"]).text
    )
    assert person.get("/audit").status_code == 401


def _accepts(member: Member, chief: Operator, email: str) -> None:
    assert confirm(member, invited(member, email)).status_code == 200


def _accepts_to_read(member: Member, chief: Operator, email: str) -> None:
    assert confirm(member, invited(member, email, "reader")).status_code == 200


def _is_added(member: Member, chief: Operator, email: str) -> None:
    added = chief.post("/members/admins/add", entityId=member.entity_id, email=email)
    assert added.status_code == 200, added.text


def _is_onboarded(member: Member, chief: Operator, email: str) -> None:
    new = {"entityId": f"X-{member.entity_id}", "type": "FIP", "name": "X Bank"}
    assert chief.post("/members", adminEmail=email, **new).status_code == 200


ROLES: list[Callable[[Member, Operator, str], None]] = [
    _accepts,
    _accepts_to_read,
    _is_added,
    _is_onboarded,
]


@pytest.mark.parametrize("gets_role", ROLES)
def test_so_does_the_first_role_in_a_member(
    service: Service,
    chief: Operator,
    member: Member,
    person: Operator,
    browser: Reader,
    gets_role: Callable[[Member, Operator, str], None],
) -> None:
    gets_role(member, chief, person.email)

    assert ask(member, "list", person.headers).status_code == 401
    assert not is_open(browser)


@pytest.mark.parametrize("gets_role", ROLES)
def test_a_further_role_ends_nothing(
    service: Service,
    chief: Operator,
    member: Member,
    gets_role: Callable[[Member, Operator, str], None],
) -> None:
    admin = new_member(service)
    headers = admin.bearer()

    gets_role(member, chief, admin.email)

    assert ask(admin, "list", headers).status_code == 200


def test_the_sign_in_by_a_provider_that_gives_the_first_scope_is_what_is_left(
    served: Service, idp: Provider
) -> None:
    idp.right()
    keeper = active_operator(served)
    served.cli("operator", "allow-password", keeper)
    person = without_role(served, with_token(served, keeper))
    earlier, browser = reader(served), reader(served)
    earlier.sign_in(person.email)
    assert is_open(earlier)
    idp.claims = {"email": person.email, "realm_access": {"roles": ["chiefs"]}}

    assert sign_in(browser, idp).status_code == 303

    assert is_open(browser)
    assert browser.get(PEOPLE).status_code == 200
    assert not is_open(earlier)
    assert person.get("/audit").status_code == 401
