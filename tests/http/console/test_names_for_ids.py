"""Who reads the board, a timeline or a search knows a member by its name; the ID is next to it."""

from datetime import timedelta

from tests.http.console.stored_incidents import open_incident
from tests.support.members import new_member
from tests.support.people.console import reader
from tests.support.people.operators import active_operator
from tests.support.registry.registry_commands import payload, send
from tests.support.service import Service


def test_a_member_is_named_where_its_id_was(service: Service) -> None:
    bank = new_member(service, name="Pravara Bank")
    send(bank, payload(bank))
    incident_id = open_incident(service, bank.entity_id, timedelta(hours=1))
    noc = reader(service)
    assert noc.sign_in(active_operator(service)).status_code == 303

    board = noc.get("/console/operator/board?kind=approval").text
    timeline = noc.get(f"/console/operator/timeline?range=24h&of={bank.entity_id}").text
    of_name, of_id = (
        noc.get(f"/console/operator/search?q={words}").text
        for words in ("pravara", bank.entity_id[:-1])
    )

    assert "Pravara Bank&#39;s first registration is awaiting approval" in board
    assert f"<code>{bank.entity_id}</code>" in board
    assert ">Pravara Bank, " in timeline
    assert f"FIP {bank.entity_id}" not in timeline
    assert f"incidents/{incident_id}" in of_name
    assert f"incidents/{incident_id}" in of_id
