"""Operators whom single sign-on made have no password here, and manage people all the same."""

import uuid

import httpx2
from tests.security.identity_provider import Provider, sign_in
from tests.security.people.accounts import leave_alone
from tests.support.people.console import Reader, reader
from tests.support.people.operators import active_operator
from tests.support.people.second_factor import user_id
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.operators.operator import Scope
from mudra.identity.operators.operator_store import Operators

PEOPLE = "/console/operator/people"


def signed_in(served: Service, idp: Provider, email: str, group: str) -> Reader:
    """A browser of whom the provider names, with this group."""
    browser = reader(served)
    idp.claims = {"email": email, "realm_access": {"roles": [group]}}
    assert sign_in(browser, idp).status_code == 303
    return browser


def new_address() -> str:
    return f"op-{uuid.uuid4().hex[:10]}@network.example"


def set_scopes(browser: Reader, email: str, *scopes: str) -> httpx2.Response:
    """Send the form of the page of operators."""
    return browser.act(PEOPLE, PEOPLE, email=email, **dict.fromkeys(scopes, "on"))


def scopes_of(served: Service, email: str) -> set[str]:
    who = user_id(served, email)

    async def read(dependencies: Dependencies) -> set[str]:
        async with dependencies.transaction() as tx:
            return {scope.value for scope in await Operators(tx).scopes(who)}

    return served.in_store(read)


def test_an_operator_made_by_single_sign_on_acts_on_people(served: Service, idp: Provider) -> None:
    browser, added = signed_in(served, idp, new_address(), "chiefs"), new_address()

    done = set_scopes(browser, added, "health")
    changed = set_scopes(browser, added, "health", "audit")

    assert (done.status_code, changed.status_code) == (303, 303), done.text
    assert scopes_of(served, added) == {"health", "audit"}


def test_who_is_left_as_the_last_manager_can_act(served: Service, idp: Provider) -> None:
    """One with a password loses the right by a claim, since another has it, without a password."""
    by_password, by_provider = active_operator(served), new_address()
    left = signed_in(served, idp, by_provider, "chiefs")
    leave_alone(served, by_password, by_provider)

    signed_in(served, idp, by_password, "noc")

    assert scopes_of(served, by_password) == {"health"}
    assert scopes_of(served, by_provider) == {scope.value for scope in Scope}
    given = set_scopes(left, by_password, "health", "members")
    assert given.status_code == 303, given.text
    assert scopes_of(served, by_password) == {"health", "members"}
