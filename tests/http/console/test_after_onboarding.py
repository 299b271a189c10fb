"""What operators see of members that were just onboarded: on the board, and on the member's page."""

import re

import pytest
from tests.support.people.console import Reader, reader
from tests.support.people.operators import new_operator
from tests.support.service import Service, onboard


@pytest.fixture
def boss(service: Service) -> Reader:
    browser = reader(service)
    assert browser.sign_in(new_operator(service, "members").email).status_code == 303
    return browser


def test_the_board_shows_a_few_of_each_kind_and_where_the_rest_is(
    service: Service, boss: Reader
) -> None:
    for _ in range(6):  # more than it shows
        onboard(service)

    board, kind = (boss.get(f"/console/operator/board{one}").text for one in ("", "?kind=no-admin"))

    assert board.count("No admin can act for") == 5
    assert re.search(r'href="\?kind=no-admin">No admin: \d+ more', board)
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
