"""The history of an entry with very many versions shows the newest, and says so (decision 0205)."""

import pytest
import sqlalchemy as sa
from tests.storage.registry.many_versions import MANY
from tests.support.members import Member
from tests.support.people.console import Reader, reader
from tests.support.people.operators import Operator, new_operator
from tests.support.registry.registry_members import Registry, live_entry
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.console.framework.navigation import member_path, operator_path

LAST = 230


@pytest.fixture(scope="module")
def entry(service: Service) -> Registry:
    """An entry with 230 versions."""
    made, _ = live_entry(service, "AA")

    async def send_many(dependencies: Dependencies) -> None:
        async with dependencies.database.transaction() as transaction:
            await transaction.connection.execute(
                sa.text(MANY), {"entity_id": made.member.entity_id, "last": LAST}
            )

    service.in_store(send_many)
    return made


@pytest.fixture(scope="module")
def member(entry: Registry) -> Member:
    return entry.member


@pytest.fixture(scope="module")
def boss(service: Service) -> Operator:
    return new_operator(service)


def signed_in(service: Service, email: str) -> Reader:
    browser = reader(service)
    assert browser.sign_in(email).status_code == 303
    return browser


def test_the_call_gives_the_newest_versions(member: Member, boss: Operator) -> None:
    shown = boss.get(f"/registry/entries/{member.entity_id}").json()

    assert [one["version"] for one in shown["versions"]] == [*range(31, LAST + 1)]
    assert shown["versions"][-1]["status"] == "live"
    assert [one["until"] for one in shown["keys"]] == [None]


def test_the_operators_page_says_how_many_are_not_shown(
    service: Service, member: Member, boss: Operator
) -> None:
    page = signed_in(service, boss.email).get(operator_path(f"approvals/{member.entity_id}")).text

    assert "Older versions, which are kept and not shown: 30" in page
    assert "Version 31<" in page
    assert "Version 30<" not in page


def test_the_members_page_and_its_file_say_how_many_are_not_shown(
    service: Service, member: Member
) -> None:
    browser, path = signed_in(service, member.email), member_path(member.entity_id, "registration")

    page = browser.get(path).text
    file = browser.get(f"{path}?export=versions").text

    assert "Older versions, which are kept and not shown: 30" in page
    assert file.splitlines()[-1] == '"older versions, not shown: 30"'
    assert len(file.splitlines()) == 202


def test_the_command_says_how_many_are_not_shown(service: Service, member: Member) -> None:
    shown = service.cli("registry", "history", member.entity_id).output

    assert "older versions, not shown  30" in shown


def test_its_update_and_its_suspension_go_on(
    service: Service, entry: Registry, boss: Operator
) -> None:
    payload = entry.get(f"/entityInfo/AA/{entry.member.entity_id}").json()
    payload["entityinfo"]["name"] = "Another Name"

    updated = entry.update(payload).json()
    path = f"/registry/entries/{entry.member.entity_id}/decide"
    suspended = boss.post(path, act="suspend", reason="its key has leaked")

    assert (updated["status"], updated["version"]) == ("live", LAST + 1)
    assert (suspended.status_code, suspended.json()["standing"]) == (200, "suspended")
