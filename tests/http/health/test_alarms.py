"""Alarms as their readers live them: webhooks, silences, acknowledgement."""

import html
import json
import uuid
from datetime import datetime
from zoneinfo import ZoneInfo

import httpx2
import pytest
from tests.http.health.service_in_process import service_in_process
from tests.support.alarm_network import Network, as_entity, emails_to
from tests.support.members import Member, new_member
from tests.support.metrics.health_network import CLOSE_AFTER, a_network, at_fip
from tests.support.people.console import reader
from tests.support.people.operators import active_operator, with_token
from tests.support.webhook_sink import webhook_sink

from mudra.metrics.payload.catalogue import WINDOW

METRICS = "/metrics/perf/v1"
ON_CALL = "lead@network.example"
IN_JAPAN = "night@network.example"


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    with service_in_process(
        tmp_path_factory.mktemp("alarms") / "data",
        MUDRA_HEALTH_ESCALATION_TO=f"{ON_CALL},{IN_JAPAN}",
        MUDRA_HEALTH_ESCALATION_MINUTES="30",
    ) as service:
        health = a_network(service, aas=3, fips=1)
        yield Network(service, health, health.noc)


@pytest.fixture(autouse=True)
def early(network: Network) -> None:
    network.health.early_in_a_window()


@pytest.fixture(scope="module")
def fip(network) -> Member:
    return new_member(network.service, "FIP")


def test_those_concerned_are_notified_of_beginning_and_end_and_can_check_the_sender(network, fip):
    other = new_member(network.service, "FIP")
    with webhook_sink() as noc, webhook_sink() as own, webhook_sink() as others:
        of_all = network.hook(noc.url)
        added = {}
        for member, sink in ((fip, own), (other, others)):
            answer = member.client.post(
                f"{network.service.root}{METRICS}/webhooks",
                json={"url": sink.url},
                headers=as_entity(member),
            )
            assert answer.status_code == 200, answer.text
            added[member.entity_id] = answer.json()

        network.report(fip.entity_id, 20)
        network.service.wait_until(lambda: own.posted and noc.about(fip.entity_id))
        network.report(fip.entity_id, 99, windows=CLOSE_AFTER)
        network.service.wait_until(lambda: len(own.posted) > 1)

        opened, closed = own.posted
        assert (opened.data["type"], closed.data["type"]) == ("incident.opened", "incident.closed")
        reported = opened.data["data"]
        assert (reported["kind"], reported["type"], reported["state"]) == ("fip-api", "cns", "open")
        assert "80 % of calls failing" in reported["title"]
        assert opened.is_signed_by(added[fip.entity_id]["secret"])
        assert not opened.is_signed_by(of_all["secret"])
        assert noc.about(fip.entity_id)[0].is_signed_by(of_all["secret"])
        assert others.posted == []
        shown = network.noc.get("/health/webhooks").json()["webhooks"]
        assert {one["webhookId"] for one in shown} >= {of_all["webhook"]["webhookId"]}
        assert "secret" not in json.dumps(shown)
        gone = network.noc.post(f"/health/webhooks/{of_all['webhook']['webhookId']}/remove")
        assert gone.status_code == 200


def test_a_silence_wakes_no_one_and_what_goes_on_is_reported_at_its_end(network):
    quiet, loud = (new_member(network.service, "FIP").entity_id for _ in range(2))
    with webhook_sink() as sink:
        webhook_id = network.hook(sink.url)["webhook"]["webhookId"]
        silence = json.loads(
            network.service.cli(
                *("health", "silence", "--entity", quiet, "--type", "cns", "--for", "PT12H"),
                *("--reason", "planned work", "--json"),
            ).stdout
        )
        faults = [at_fip(bank, "cns", failing=0.8) for bank in (quiet, loud)]
        network.health.windows(2, *faults, fips=[quiet, loud, network.health.fips[0].entity_id])
        network.service.advance("PT1S")  # wakes the watch
        network.service.wait_until(lambda: sink.about(loud))
        network.service.wait_until(lambda: not waiting_for(network, webhook_id))
        (incident,) = network.open_incidents(quiet)
        assert sink.about(quiet) == []
        assert quiet in network.service.cli("health", "silences", "--json").output

        ended = network.noc.post(f"/health/silences/{silence['silenceId']}/end")
        assert ended.status_code == 200, ended.text
        network.service.advance("PT1S")
        network.service.wait_until(lambda: sink.about(quiet))

        assert sink.events(quiet) == ["incident.opened"]
        assert sink.about(quiet)[0].data["data"]["incidentId"] == incident["incidentId"]
        assert network.noc.get("/health/silences").json()["silences"] == []
        past = network.noc.get("/health/silences", past="true").json()["silences"]
        mine = [one for one in past if one["silenceId"] == silence["silenceId"]]
        assert [one["reason"] for one in mine] == ["planned work"]
        network.noc.post(f"/health/webhooks/{webhook_id}/remove")
    events = network.service.cli("audit", "list", "--last", "500", "--json").stdout
    for event in ("silence:begin", "silence:end", "webhook:add", "webhook:remove"):
        assert f"metrics:{event}" in events


def waiting_for(network: Network, webhook_id: str) -> int:
    """How many messages a webhook has yet to get."""
    listed = network.noc.get("/health/webhooks").json()["webhooks"]
    (found,) = [one["waiting"] for one in listed if one["webhookId"] == webhook_id]
    assert isinstance(found, int)
    return found


@pytest.mark.slow
def test_somebody_looks_after_an_incident_by_command_and_is_named(network):
    member = new_member(network.service, "FIP")
    bank = member.entity_id
    network.report(bank, 20)
    network.service.wait_until(lambda: network.open_incidents(bank))
    incident_id = network.open_incidents(bank)[0]["incidentId"]
    page = f"/console/operator/incidents/{incident_id}"
    staff = reader(network.service)
    staff.sign_in(network.noc.email)
    assert "Assign to me" in staff.get(page).text

    network.service.cli("health", "acknowledge", incident_id)
    shown = network.noc.get(f"/incidents/{incident_id}").json()["incident"]
    assert shown["acknowledgedBy"].startswith("operator:")
    assert shown["acknowledgedBy"] in network.service.cli("health", "incidents", "--json").stdout
    head, *rows = network.service.cli("health", "incidents").stdout.splitlines()
    (row,) = [one for one in rows if one.startswith(incident_id)]
    assert shown["severity"] in {"minor", "major", "critical"}
    assert row[head.index("SEVERITY") :].split()[0] == shown["severity"]
    address = f"{network.service.root}/metrics/perf/v1/incidents"
    theirs = member.client.get(address, headers=as_entity(member)).json()["incidents"]
    assert [one["acknowledgedBy"] for one in theirs] == ["the operator"]
    unknown = network.service.cli("health", "acknowledge", str(uuid.uuid4()), check=False)
    assert (unknown.exit_code, "no incident of this ID" in unknown.output) == (1, True)
    first = shown["acknowledgedBy"]
    mine = {"act": "assign", "owner": network.noc.email}
    behind = staff.act(page, f"{page}/acts", instead_of="", **mine)
    assert (behind.status_code, first.removeprefix("operator:") in behind.text) == (409, True)
    assert "nothing was changed" in behind.text
    assert "Take over" in staff.get(page).text
    assert staff.act(page, f"{page}/acts", instead_of=first, **mine).status_code == 303
    taken = network.noc.get(f"/incidents/{incident_id}").json()["incident"]["acknowledgedBy"]
    assert taken == f"operator:{network.noc.email}"
    assert staff.act(page, f"{page}/acts", instead_of=first, **mine).status_code == 303, (
        "sent twice"
    )
    assert "Take over" not in staff.get(page).text


def test_what_people_do_about_an_incident_is_in_its_story(network):
    bank, noc = new_member(network.service, "FIP"), network.noc
    network.report(bank.entity_id, 20)
    network.service.wait_until(lambda: network.open_incidents(bank.entity_id))
    incident_id = network.open_incidents(bank.entity_id)[0]["incidentId"]
    page = f"/console/operator/incidents/{incident_id}"
    network.service.cli("admin", "contact", bank.entity_id, "", "--phone", "+91 80 4000 1234")
    staff = reader(network.service)
    staff.sign_in(noc.email)

    def done(act: str, **fields: str) -> httpx2.Response:
        return staff.act(page, f"{page}/acts", act=act, **fields)

    assert done("comment", text="The gateway <restarts>").status_code == 303
    empty = done("hand-over", text=" ", owner="")
    assert (empty.status_code, "text is missing" in empty.text.lower()) == (400, True)
    stranger = done("hand-over", text="yours until six", owner="stranger@network.example")
    assert (stranger.status_code, "yours until six" in stranger.text) == (400, True)
    assert done("hand-over", text="Vendor is called", owner=noc.email).status_code == 303
    quiet = staff.act(page, f"{page}/silence", hours="1", reason="vendor works on it")
    assert quiet.status_code == 303
    closed = noc.post(f"/incidents/{incident_id}/acts", act="close", text="false alarm").json()
    assert (closed["incident"]["open"], closed["incident"]["state"]) == (False, "open")
    assert noc.post(f"/incidents/{incident_id}/acts", act="close", text="again").status_code == 409
    assert network.open_incidents(bank.entity_id) == []
    assert bank.entity_id not in staff.get("/console/operator/board").text

    network.report(bank.entity_id, 20)  # the next windows speak against it
    network.service.wait_until(lambda: network.open_incidents(bank.entity_id))

    network.end_silences(bank.entity_id)
    network.service.cli("health", "act", incident_id, "post-mortem", "--text", "A full disk.")
    shown = staff.get(page).text
    for words in (
        *("The gateway &lt;restarts&gt;", "handed it over to", "Vendor is called"),
        *(
            "alerts silenced",
            "silence ended",
            "vendor works on it",
            "closed it by hand",
            "false alarm",
        ),
        *("bad again after it was closed", "A full disk.", "tel:+918040001234", bank.email),
    ):
        assert words in shown, words
    assert bank.entity_id in staff.get("/console/operator/board").text
    acts = noc.get(f"/incidents/{incident_id}").json()["acts"]
    assert [one["act"] for one in acts] == ["comment", "hand-over", "close", "post-mortem"]
    assert {one["by"] for one in acts[:3]} == {noc.email}
    events = network.service.cli("audit", "list", "--last", "500", "--json").stdout
    assert all(f"incident:{one}" in events for one in ("comment", "hand_over", "close", "review"))

    assert done("assign", owner="").status_code == 303
    assert done("close", text="the disk was replaced").status_code == 303
    assert "closed it by hand, and owns it now" in staff.get(page).text


def test_a_silence_is_begun_and_ended_on_the_page_of_incidents(network, fip):
    browser, page = reader(network.service), "/console/operator/incidents"
    browser.sign_in(network.noc.email)
    form = {"entity_id": fip.entity_id, "type": "fif", "hours": "4", "reason": "page-made work"}

    begun = browser.act(page, "/console/operator/silences", **form)

    assert (begun.status_code, begun.headers["location"]) == (303, f"{page}?told=silenced")
    assert "page-made work" in browser.get(page).text
    (silence,) = network.noc.get("/health/silences").json()["silences"]
    assert (silence["entityId"], silence["type"]) == (fip.entity_id, "fif")
    ended = browser.act(page, f"/console/operator/silences/{silence['silenceId']}/end")
    assert ended.status_code == 303
    assert "page-made work" not in browser.get(page).text
    for wrong in ({"hours": "5"}, {"entity_id": "NOBODY"}, {"reason": " "}):
        answer = browser.act(page, "/console/operator/silences", **{**form, **wrong})
        assert answer.status_code in {400, 404}, wrong


def escalations(network: Network, fip_id: str, to: str = ON_CALL) -> list[str]:
    """The emails that link to an incident of a FIP: they name it, and many have one name."""
    found = network.noc.get("/incidents", entityId=fip_id).json()["incidents"]
    links = [f"/console/operator/incidents/{one['incidentId']}\n" for one in found]
    assert links, f"{fip_id} has no incident"
    return [mail for mail in emails_to(network.service, to) if any(one in mail for one in links)]


def test_what_no_one_takes_is_escalated_once_in_one_email(network):
    lead = with_token(network.service, active_operator(network.service, email=IN_JAPAN))
    zone = {"timeZone": "Asia/Tokyo"}
    path = "/v1/user/alarm/preferences"
    assert lead.client.post(path, json=zone, headers=lead.headers).status_code == 200
    taken, left, silent = (new_member(network.service, "FIP").entity_id for _ in range(3))

    def escalated(bank: str) -> list[str]:
        return escalations(network, bank)

    faults = [at_fip(bank, "cns", failing=0.8) for bank in (left, silent, taken)]
    fips = [taken, left, silent, network.health.fips[0].entity_id]
    network.health.windows(2, *faults, fips=fips)
    network.health.settled()
    assert all(map(network.open_incidents, (left, silent, taken)))
    assert (escalated(left), escalated(silent)) == ([], [])
    incident_id = network.open_incidents(taken)[0]["incidentId"]
    network.service.cli("health", "acknowledge", incident_id)
    network.service.cli("health", "silence", "--entity", silent, "--reason", "known")

    network.health.windows(4, *faults, fips=fips)

    network.health.in_time(lambda: bool(escalated(left)))
    network.health.windows(2, *faults, fips=fips)
    network.health.settled()
    assert len(escalated(left)) == 1
    assert (escalated(taken), escalated(silent)) == ([], [])
    (usual,), (own,) = (
        [mail for mail in escalations(network, left, to) if "No one has" in mail]
        for to in (ON_CALL, IN_JAPAN)
    )
    found = datetime.fromisoformat(network.open_incidents(left)[0]["detected"])
    in_india, in_japan = (found.astimezone(ZoneInfo(f"Asia/{one}")) for one in ("Kolkata", "Tokyo"))
    assert f"detected at {in_india:%d %b %Y, %H:%M} IST" in usual
    assert f"detected at {in_japan:%d %b %Y, %H:%M} JST" in own
    incident_id = network.open_incidents(left)[0]["incidentId"]
    assert f"/console/operator/incidents/{incident_id}\n" in own


@pytest.mark.slow
def test_what_a_silence_held_back_is_escalated_only_once_someone_could_take_it(network):
    late, closed = (new_member(network.service, "FIP").entity_id for _ in range(2))
    other = network.health.fips[0].entity_id

    def escalated(bank: str) -> list[str]:
        return escalations(network, bank)

    faults = [at_fip(bank, "cns", failing=0.8) for bank in (late, closed)]
    network.service.cli("health", "silence", "--entity", late, "--reason", "known")
    network.health.windows(3, *faults, fips=[late, closed, other])
    network.health.settled()
    incident = f"/incidents/{network.open_incidents(closed)[0]['incidentId']}/acts"
    for act in ({"act": "close", "text": "known"}, {"act": "assign", "owner": ""}):
        assert network.noc.post(incident, **act).status_code == 200
    network.health.windows(3, *faults, fips=[late, other])
    network.end_silences(late)
    network.health.windows(1, *faults, fips=[late, other])
    network.health.settled()

    assert (escalated(late), escalated(closed)) == ([], [])
    network.health.windows(4, *faults, fips=[late, other])
    network.health.in_time(lambda: bool(escalated(late)))
    assert (len(escalated(late)), escalated(closed)) == (1, [])


def test_an_operator_announces_a_maintenance_by_command_and_on_the_page(network, fip):
    made = network.service.cli(
        *("health", "maintenance", fip.entity_id, "--for", "PT2H", "--in", "P1D"),
        *("--reason", "new disks", "--json"),
    )
    browser, page = reader(network.service), "/console/operator/incidents"
    browser.sign_in(network.noc.email)
    form = {"entity_id": fip.entity_id, "hours": "4", "reason": "new fans", "maintenance": "yes"}
    assert browser.act(page, "/console/operator/silences", **form).status_code == 303
    assert f"Planned maintenance: {fip.entity_id}" in browser.get(page).text
    late = "0 hours ahead. The network's rule asks for 24 hours. It is not left out of availability"
    for shown in (page, f"/console/operator/health/fip/{fip.entity_id}"):
        assert late in html.unescape(browser.get(shown).text)

    listed = network.noc.get("/health/silences").json()["silences"]
    found = [one for one in listed if one["entityId"] == fip.entity_id]
    assert {one["reason"]: one["maintenance"] for one in found} == {
        "new disks": True,
        "new fans": True,
    }
    assert json.loads(made.stdout)["maintenance"] is True
    assert json.loads(made.stdout)["notice"]["inTime"] is True  # a day ahead is no millisecond less
    for one in found:
        network.noc.post(f"/health/silences/{one['silenceId']}/end")


@pytest.mark.parametrize(
    ("members", "named"),
    [
        ({"ends": "2020-01-01T00:00:00Z", "reason": "x"}, "ends must be later"),
        ({"ends": "2199-01-01T00:00:00Z", "reason": "x"}, "at most 30 days"),
        ({"ends": "9999-12-31T23:59:59-10:00", "reason": "x"}, "at most 30 days"),
        ({"ends": "tomorrow", "reason": "x"}, "ends must be an ISO 8601 instant"),
        ({"reason": "x"}, "ends is missing"),
        ({"ends": "2030-01-01T00:00:00Z", "reason": ""}, "reason must be a text"),
        ({"ends": "2030-01-01T00:00:00Z", "reason": "a\nb"}, "reason must be one line"),
        ({"ends": "2030-01-01T00:00:00Z", "reason": "x", "type": "sfireqnot"}, "type must be"),
        ({"ends": "2030-01-01T00:00:00Z", "reason": "x", "entityId": "NOBODY"}, "no member"),
        ({"ends": "2030-01-01T00:00:00Z", "reason": "x", "maintenance": True}, "needs an entityId"),
    ],
)
def test_a_silence_that_cannot_be_is_refused_with_what_is_allowed(network, members, named):
    if members.get("ends", "").startswith("2030"):
        now = network.health.aas[0].now()
        members = {**members, "ends": (now + WINDOW).isoformat()}

    answer = network.noc.post("/health/silences", **members)

    assert answer.status_code in {400, 404}, answer.text
    assert named in answer.json()["errorMsg"]


def test_no_more_webhooks_than_a_member_may_have_and_none_of_anothers(network, fip):
    headers, root = as_entity(fip), network.service.root + METRICS + "/webhooks"
    listed = fip.client.get(root, headers=headers).json()["webhooks"]
    for place in range(len(listed), 5):
        body = {"url": f"http://127.0.0.1:9/{place}"}
        assert fip.client.post(root, json=body, headers=headers).status_code == 200

    answer = fip.client.post(root, json={"url": "http://127.0.0.1:9/"}, headers=headers)

    assert (answer.status_code, answer.json()["errorCode"]) == (409, "Conflict")
    other = network.health.aas[0]
    one = fip.client.get(root, headers=headers).json()["webhooks"][0]["webhookId"]
    taken = other.client.post(f"{root}/{one}/remove", json={}, headers=other.bearer)
    assert taken.status_code == 404
    assert fip.client.post(f"{root}/{one}/remove", json={}, headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://alarms.network.example/x", "scheme http"),
        ("https://10.1.2.3/x", "private"),
        ("https://[::ffff:169.254.169.254]/x", "private"),
        ("https://localhost/x", "local host"),
        ("https://user:word@alarms.network.example/x", "password"),
    ],
)
def test_outside_of_the_sandbox_only_public_https_is_taken(network, url, problem):
    refused = network.service.cli("health", "webhook", url, check=False)

    assert refused.exit_code == 1
    assert problem in refused.output
