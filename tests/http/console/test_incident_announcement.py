"""An incident on the public status: announced in one step, updated, and ended by its last update."""

import json
import re
import uuid

from tests.http.console.stored_incidents import open_incident
from tests.http.console.test_status_subscription import someone, subscribed
from tests.http.public_status import until_shown
from tests.support.alarm_network import emails_to
from tests.support.members import onboard
from tests.support.people.console import reader
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service


def shown(service: Service, words: str, path: str) -> str:
    """A public page once it has these words."""
    found = [""]

    def has_them() -> bool:
        found.append(service.client().get(service.root + path).text)
        return words in found[-1]

    until_shown(service, has_them)
    return found[-1]


def test_an_incident_is_announced_in_one_step_and_its_updates_are_sent_to_the_last(
    service: Service,
) -> None:
    noc, boss = new_operator(service, "health"), reader(service)
    boss.sign_in(noc.email)
    fip_id, _ = onboard(service, "FIP", name="Betwa Bank")
    email = someone()
    subscribed(service, reader(service), email)
    incident_id = open_incident(service, fip_id)
    path = f"/console/operator/incidents/{incident_id}"
    draft = boss.get(path).text
    text = re.search(r'<textarea[^>]*id="announce-text"[^>]*>([^<]*)', draft)
    assert text is not None

    said = {"title": f"Betwa Bank {uuid.uuid4().hex[:8]}", "text": text[1]}
    done = boss.act(path, f"{path}/announce", **said)
    again = boss.act(path, f"{path}/announce", **said)
    updated = boss.act(path, f"{path}/update", text="A fix is on its way.")
    ended = boss.act(path, f"{path}/update", text="All requests succeed again.", ends="yes")

    assert "We are working on it" in text[1]
    assert [one.status_code for one in (done, again, updated, ended)] == [303, 409, 303, 303]
    assert "add an update" in again.text
    page = shown(service, said["title"], f"/status/fip/{fip_id}")
    story = page[page.index('id="past-announcements"') :]
    assert story.index("All requests succeed") < story.index("A fix is") < story.index(text[1])
    service.wait_until(
        lambda: any("All requests succeed again." in one for one in emails_to(service, email))
    )
    assert "update" in boss.get(path).text
    late = noc.post(f"/announcements/{only(noc, incident_id)}/updates", text="more")
    assert late.status_code == 404


def only(noc: Operator, incident_id: str) -> str:
    """The one announcement about an incident."""
    found = noc.get("/announcements", past="true").json()["announcements"]
    (one,) = [each for each in found if each["incidentId"] == incident_id]
    announcement_id = one["announcementId"]
    assert isinstance(announcement_id, str)
    return announcement_id


def test_a_command_about_an_incident_reaches_those_of_its_institution_alone(
    service: Service,
) -> None:
    fip_id, _ = onboard(service, "FIP", name="Sindh Bank")
    incident_id = open_incident(service, fip_id)
    said = ["announcement", "publish", "--title", "Some requests fail", "--text", "We look."]

    ours = service.cli(*said, "--incident", incident_id).stdout
    service.cli("announcement", "end", found(ours)["announcementId"])
    chosen = ["--kind", "information", "--institution", ""]
    alls = json.loads(service.cli(*said, "--incident", incident_id, *chosen, "--json").stdout)
    service.cli("announcement", "end", alls["announcementId"])
    whole = service.cli(*said)
    service.cli("announcement", "end", found(whole.stdout)["announcementId"])

    assert found(ours)["kind"] == "incident"
    assert found(ours)["fipIds"] == f"['{fip_id}']"
    assert found(ours)["reaches"] == (
        f"subscribers and pages of {fip_id}, and subscribers of the whole network"
    )
    assert (alls["kind"], alls["fipIds"], alls["incidentId"]) == ("information", [], incident_id)
    assert found(whole.stdout)["reaches"] == "everyone: all pages, and all subscribers"


def found(shown: str) -> dict[str, str]:
    """The names and values that a command shows."""
    lines = (line.split(maxsplit=1) for line in shown.splitlines())
    return {words[0]: words[1].strip() for words in lines if len(words) > 1}
