"""The pages about one member lead to each other, as far as the reader's scopes open them."""

from tests.support.members import new_member
from tests.support.people.console import Reader, reader
from tests.support.people.operators import new_operator
from tests.support.service import Service

from mudra.console.framework.navigation import operator_path


def signed_in(service: Service, *scopes: str) -> Reader:
    browser = reader(service)
    assert browser.sign_in(new_operator(service, *scopes).email).status_code == 303
    return browser


def test_a_member_leads_to_its_health_and_audit_and_back(service: Service) -> None:
    bank, boss = new_member(service, "FIP").entity_id, signed_in(service)
    member, health = operator_path(f"members/{bank}"), operator_path(f"health/fip/{bank}")

    from_member, from_health = boss.get(member).text, boss.get(health).text

    for path in (health, operator_path(f"audit?entity={bank}")):
        assert f'<a href="{path}">' in from_member
        assert boss.get(path).status_code == 200
    assert f'<a href="{member}">Member and admins</a>' in from_health


def test_what_the_scopes_do_not_open_is_not_offered(service: Service) -> None:
    bank, noc = new_member(service, "FIP").entity_id, signed_in(service, "health")

    page = noc.get(operator_path(f"health/fip/{bank}")).text

    assert operator_path(f"members/{bank}") not in page
    assert operator_path("audit") not in page
