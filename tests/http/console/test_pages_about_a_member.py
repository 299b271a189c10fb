"""The pages about one member lead to each other, as far as the reader's scopes open them."""

import uuid

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

    delivered = (operator_path(f"levels?entity={bank}"), operator_path(f"disputes?of={bank}"))
    for path in (health, operator_path(f"audit?entity={bank}"), *delivered):
        assert f'<a href="{path}">' in from_member
        assert boss.get(path).status_code == 200
    assert f'<a href="{member}">Member and admins</a>' in from_health


def test_a_member_s_maintenance_names_what_the_operator_announces_of_it(service: Service) -> None:
    noc, title = new_operator(service, "health"), f"Work {uuid.uuid4()}"
    bank, other = new_member(service, "FIP"), new_member(service, "FIP")
    made = noc.post("/announcements", title=title, text="At night.", fipIds=[bank.entity_id])
    assert made.status_code == 200, made.text
    shown = {}
    for member in (bank, other):
        browser = reader(service)
        assert browser.sign_in(member.email, member.password).status_code == 303
        page = browser.get(f"/console/entity/{member.entity_id}/maintenance").text
        shown[member.entity_id] = title in page
    ended = noc.post(f"/announcements/{made.json()['announcement']['announcementId']}/end")

    assert shown == {bank.entity_id: True, other.entity_id: False}
    assert ended.status_code == 200


def test_what_the_scopes_do_not_open_is_not_offered(service: Service) -> None:
    bank, noc = new_member(service, "FIP").entity_id, signed_in(service, "health")

    page = noc.get(operator_path(f"health/fip/{bank}")).text

    assert operator_path(f"members/{bank}") not in page
    assert operator_path("audit") not in page


def test_its_page_shows_whom_its_admins_invited_and_withdraws_that(service: Service) -> None:
    member, boss = new_member(service, "FIP"), signed_in(service)
    page, email = operator_path(f"members/{member.entity_id}"), "asha.rao@bank.example"
    asked = {"entityId": member.entity_id, "email": email}
    added = member.client.post("/v1/entity/admin/add", json=asked, headers=member.bearer())
    assert added.status_code == 200, added.text

    before = boss.get(page).text
    gone = boss.act(page, f"{page}/removal", email=email)
    after = boss.get(gone.headers["location"]).text

    assert "Invited by its admins" in before
    assert email in before
    assert "link valid until" in before
    assert "no rights and no invitation here" in after
    assert "Invited by its admins" not in after
