"""Lists of operators over HTTP: what a row names, and where a wrong ID leads."""

import re

import pytest
from tests.support.members import new_member, onboard
from tests.support.people.console import Reader, reader
from tests.support.people.operators import new_operator
from tests.support.registry.registry_commands import payload, send
from tests.support.service import Service

from mudra.console.framework.navigation import operator_path

INCIDENTS, SILENCES = operator_path("incidents"), operator_path("silences")


@pytest.fixture(scope="module")
def boss(service: Service) -> Reader:
    opened = reader(service)
    opened.sign_in(new_operator(service, "members", "registry", "health", "audit").email)
    return opened


def test_a_silence_of_a_path_names_both_ends(service: Service, boss: Reader) -> None:
    aa, bank = new_member(service, "AA").entity_id, new_member(service, "FIP").entity_id
    path = {"entity_id": aa, "peer_id": bank, "hours": "4", "reason": "a firewall changes"}
    assert boss.act(INCIDENTS, SILENCES, **path).status_code == 303

    row = boss.get(INCIDENTS).text.partition(f'<span class="what">{aa} to {bank}</span>')[2]

    assert f'End silence<span class="unseen">: {aa} to {bank}, a firewall changes' in row


def test_a_maintenance_is_started_and_ended_by_its_name(service: Service, boss: Reader) -> None:
    bank = new_member(service, "FIP").entity_id
    form = {"entity_id": bank, "hours": "4", "reason": "new disks", "maintenance": "yes"}

    begun = boss.act(INCIDENTS, SILENCES, **form)
    shown = boss.get(begun.headers["location"]).text
    button = re.search(
        rf'"({SILENCES}/[^"]+/end)">(?:(?!</form>).)*End maintenance<span class="unseen">: {bank},',
        shown,
        re.DOTALL,
    )
    assert button is not None
    ended = boss.act(INCIDENTS, button[1])

    assert "Maintenance started." in shown
    assert "Maintenance ended." in boss.get(ended.headers["location"]).text


def test_an_entry_is_opened_by_its_id(service: Service, boss: Reader) -> None:
    member = new_member(service)
    send(member, payload(member))

    found = boss.get(f"{operator_path('entry')}?id=+{member.entity_id}")

    assert found.headers["location"] == operator_path(f"approvals/{member.entity_id}")


def test_an_id_without_an_entry_stays_in_its_field(boss: Reader) -> None:
    unknown = boss.get(f"{operator_path('entry')}?id=GONDWANA-FIP")

    assert unknown.status_code == 404
    assert "The registry has no entry of GONDWANA-FIP" in unknown.text
    assert 'name="id" value="GONDWANA-FIP"' in unknown.text


def test_why_a_member_is_suspended_is_said_first(service: Service, boss: Reader) -> None:
    entity_id, _ = onboard(service)
    page = operator_path(f"members/{entity_id}")
    boss.act(page, f"{page}/status", status="suspended", reason="key has leaked")

    shown = boss.get(page).text

    assert shown.index("key has leaked.</p>") < shown.index("<h2>Admins</h2>")
