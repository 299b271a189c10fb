"""A member announces, changes and withdraws its maintenance by command."""

import json
from datetime import datetime, timedelta

from tests.support.members import new_member
from tests.support.service import Service


def test_a_maintenance_is_announced_changed_and_withdrawn_by_command(service: Service) -> None:
    bank = new_member(service, "FIP")
    service.cli("login", bank.email, "--password-stdin", stdin=bank.password)

    def run(word: str, *words: str) -> dict[str, str]:
        shown = service.cli("maintenance", word, bank.entity_id, *words, "--json")
        found = json.loads(shown.stdout)
        assert isinstance(found, dict)
        return found

    made = run("announce", "--in", "PT30H", "--for", "PT2H", "--reason", "new disks")
    which, begins = made["silenceId"], datetime.fromisoformat(made["begins"])
    later = (begins + timedelta(hours=1)).isoformat()
    longer = run("change", which, "--for", "PT3H")
    moved = run("change", which, "--begins", later, "--reason", "new racks")
    listed = service.cli("maintenance", "list", bank.entity_id).stdout
    both = service.cli(
        *("maintenance", "announce", bank.entity_id, "--reason", "x", "--in", "PT1H"),
        *("--begins", later),
        check=False,
    )
    withdrawn = service.cli("maintenance", "withdraw", bank.entity_id, which).stdout
    after = service.cli("maintenance", "list", bank.entity_id, "--json").stdout

    assert longer["begins"] == made["begins"]
    length = datetime.fromisoformat(longer["ends"]) - begins
    assert length == timedelta(hours=3)
    assert datetime.fromisoformat(moved["ends"]) - begins == timedelta(hours=4)
    assert (which in listed, "new racks" in listed, "yes" in listed) == (True, True, True)
    assert both.exit_code == 2
    assert "availability" in withdrawn
    assert json.loads(after) == []
