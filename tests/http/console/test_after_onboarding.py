"""What operators see of members that were just onboarded: on the board, and on the member's page."""

import re

import pytest
from tests.support.mailbox import latest_link
from tests.support.members import Member, new_member, onboard, set_password
from tests.support.people.console import Reader, reader
from tests.support.people.operators import new_operator
from tests.support.registry.registry_members import Registry, approve, payload_of
from tests.support.service import PASSWORD, Service


@pytest.fixture
def boss(service: Service) -> Reader:
    browser = reader(service)
    assert browser.sign_in(new_operator(service, "members").email).status_code == 303
    return browser


def test_the_board_has_one_line_for_members_without_an_admin(
    service: Service, boss: Reader
) -> None:
    for _ in range(6):  # more than it shows
        onboard(service)

    board, kind = (boss.get(f"/console/operator/board{one}").text for one in ("", "?kind=no-admin"))

    assert "No admin can act for" not in board  # one line for all of them: one act helps all
    assert re.search(r'alone=true">\d+ members have no admin who can act', board)
    assert kind.count("No admin can act for") > 5
    assert "alone=true" in kind


def test_a_member_that_was_just_onboarded_waits_for_its_admin(
    service: Service, boss: Reader
) -> None:
    """Green and red do not contradict each other: nothing is wrong while the link is valid."""
    entity_id, _ = onboard(service)

    page = boss.get(f"/console/operator/members/{entity_id}").text

    assert "Waiting for an invited admin to set a password." in page
    assert "No admin can act for this member." not in page


def steps(page: str) -> dict[str, str]:
    """The steps of the checklist with their tags; none where the page has no checklist."""
    found = page.partition('<ol class="steps">')[2].partition("</ol>")[0]
    items = re.findall(r"<li.*?</li>", found, re.DOTALL)
    texts = (" ".join(re.sub(r"<.*?>", " ", item).split()) for item in items)
    found_in = (re.fullmatch(r"(.+?) ((?:done|next|to do)\b.*)", text) for text in texts)
    return {one[1]: one[2] for one in found_in if one}


def test_operator_and_member_see_the_same_steps_until_the_first_token(
    service: Service, boss: Reader
) -> None:
    entity_id, email = onboard(service)
    of_operator, of_member = (
        f"/console/operator/members/{entity_id}",
        f"/console/entity/{entity_id}",
    )
    unfinished = "/console/operator/members?onboarding=open&export=members"

    invited = steps(boss.get(of_operator).text)
    assert list(invited) == [
        *("Invited", "Account activated", "Registration submitted"),
        *("Registration approved by the operator", "First token"),
    ]
    assert re.fullmatch(r"done \d\d \w{3} \d{4}, .*", invited["Invited"])
    assert invited["Account activated"].startswith("next An admin of the member sets a password")
    assert invited["First token"] == "to do"

    client = service.client()
    assert set_password(client, latest_link(service, email)).status_code == 200
    member, admin = Member(service, entity_id, email, PASSWORD, client), reader(service)
    assert admin.sign_in(email).status_code == 303
    activated = steps(boss.get(of_operator).text)
    assert activated["Account activated"].startswith("done ")
    assert activated["Registration submitted"].startswith("next An admin of the member submits")
    overview = admin.get(of_member).text
    own = steps(overview)
    assert own.pop("Registration submitted") == "next"
    assert own.pop("First token") == "to do"
    assert f'href="{of_member}/registration">Register<span' in overview
    assert f'href="{of_member}/try"' in overview
    # A member reads no times of what is done: of the first token none is known.
    same = {name: text for name, text in activated.items() if name in own}
    assert own == {name: "done" if text[:4] == "done" else text for name, text in same.items()}

    registry = Registry(member)
    assert registry.submit(payload_of(member)).status_code == 200
    waiting = steps(boss.get(of_operator).text)
    assert waiting["Registration approved by the operator"].startswith("next The operator")
    assert entity_id in boss.get(unfinished).text
    approve(member)

    # Registering took a token: nothing is left to do.
    service.wait_until(lambda: not steps(boss.get(of_operator).text))
    assert steps(admin.get(of_member).text) == {}
    assert entity_id not in boss.get(unfinished).text


def test_all_of_the_filter_are_those_in_onboarding(service: Service, boss: Reader) -> None:
    entity_id, _ = onboard(service)
    page = boss.get("/console/operator/members?onboarding=open").text
    assert re.search(r'<a href="\?onboarding=open" aria-current="true">onboarding', page)
    sent = {"which": "all", "act": "invite", "onboarding": "open", "members.q": entity_id}

    preview = boss.act("/console/operator/members", "/console/operator/bulk/check", **sent)

    assert entity_id in preview.text
    done = new_member(service).entity_id
    one = boss.get("/console/operator/members?onboarding=open&export=file").text
    assert entity_id in one
    assert done in one, "it has not registered yet"
