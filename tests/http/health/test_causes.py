"""The right cause, once, and nothing when nothing is wrong: from what is pushed to the interface."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from tests.http.health.service_in_process import service_in_process
from tests.support.depth import with_every_change
from tests.support.metrics.health_network import (
    CLOSE_AFTER,
    Fault,
    HealthNetwork,
    a_network,
    at_aa,
    at_fip,
    on_path,
    requests_of,
)
from tests.support.people.console import reader
from tests.support.webhook_sink import webhook_sink

from mudra.metrics.payload.catalogue import WINDOW

DOWN = 0.9


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HealthNetwork]:
    """Four AAs and twelve FIPs with a good hour behind them."""
    with service_in_process(tmp_path_factory.mktemp("causes") / "data") as service:
        made = a_network(service, fips=12)
        made.windows(6)
        made.settled()
        yield made


@pytest.fixture
def quiet(network: HealthNetwork) -> Iterator[HealthNetwork]:
    """The network in which nothing is wrong, as each test finds it and leaves it."""
    assert network.incidents(open="true") == []
    network.early_in_a_window()
    yield network
    network.silent.clear()


def over(network: HealthNetwork) -> None:
    """Let all faults be over for long enough."""
    network.windows(CLOSE_AFTER)
    network.settled()


def since(network: HealthNetwork, before: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """New incidents, without those withdrawn or merged."""
    known = {one["incidentId"] for one in before}
    return [
        one
        for one in network.incidents()
        if one["incidentId"] not in known and one["state"] not in {"withdrawn", "merged"}
    ]


def named(incidents: list[dict[str, Any]]) -> set[tuple[str, ...]]:
    return {(one["kind"], one["entityId"], one["peerId"], one["type"]) for one in incidents}


def test_nothing_is_said_when_nothing_is_wrong(network: HealthNetwork) -> None:
    assert network.incidents() == []


def faults_of(network: HealthNetwork, group: str) -> dict[Fault, tuple[str, ...]]:
    """Faults at the same time, each with its cause."""
    fips, aas = [one.entity_id for one in network.fips], [one.aa_id for one in network.aas]
    return {
        "fips": {
            at_fip(fips[0], failing=DOWN): ("fip", fips[0], "", ""),
            at_fip(fips[1], "cns", failing=DOWN): ("fip-api", fips[1], "", "cns"),
            at_fip(fips[2], slower=8): ("fip", fips[2], "", ""),
            on_path(aas[0], fips[3], failing=DOWN): ("path", aas[0], fips[3], ""),
        },
        "fi requests": {
            at_fip(fips[4], undelivered=0.6): ("fip", fips[4], "", ""),
            at_fip(fips[5], unnotified=True): ("fip", fips[5], "", ""),
        },
        "aa": {at_aa(aas[1], failing=DOWN): ("aa-calls", aas[1], "", "")},
        "refused": {at_aa(aas[2], "fif", refused=0.7): ("aa-api", aas[2], "", "fif")},
    }[group]


@pytest.mark.parametrize(
    "group", with_every_change(["fips"], ["fips", "fi requests", "aa", "refused"])
)
def test_each_fault_is_one_incident_with_its_cause(quiet: HealthNetwork, group: str) -> None:
    before, faults = quiet.incidents(), faults_of(quiet, group)

    quiet.windows(4, *faults)
    over(quiet)

    found = since(quiet, before)
    assert named(found) == set(faults.values())
    assert len(found) == len(faults)
    assert {one["state"] for one in found} == {"recovered"}
    assert {one["badWindows"] for one in found} <= {3, 4}


def test_a_blip_of_one_window_is_nothing(quiet: HealthNetwork) -> None:
    before = quiet.incidents()

    quiet.windows(1, at_fip(quiet.fips[6].entity_id, failing=0.3))
    over(quiet)

    assert since(quiet, before) == []


@pytest.mark.slow
def test_a_fip_that_flaps_is_one_incident(quiet: HealthNetwork) -> None:
    before, bank = quiet.incidents(), quiet.fips[7].entity_id

    for _ in range(3):
        quiet.windows(1, at_fip(bank, failing=DOWN))
        quiet.windows(1)
    over(quiet)

    (one,) = since(quiet, before)
    assert named([one]) == {("fip", bank, "", "")}


@pytest.mark.slow
def test_an_agent_that_is_silent_is_an_incident_of_its_own(quiet: HealthNetwork) -> None:
    before, silent = quiet.incidents(), quiet.aas[3].aa_id

    quiet.silent.add(silent)
    quiet.windows(4)
    quiet.silent.clear()
    over(quiet)

    (one,) = since(quiet, before)
    assert named([one]) == {("aa-reporting", silent, "", "")}
    assert (one["badWindows"], one["state"]) == (4, "recovered")


def test_a_path_that_turns_out_to_be_the_fip_stays_the_same_incident(quiet: HealthNetwork) -> None:
    before, bank, aa = quiet.incidents(), quiet.fips[8].entity_id, quiet.aas[0].aa_id
    other = quiet.aas[2]

    with webhook_sink() as sink, webhook_sink() as third:
        hook = quiet.noc.post("/health/webhooks", url=sink.url).json()["webhook"]["webhookId"]
        own = f"{quiet.service.root}/metrics/perf/v1/webhooks"
        added = other.client.post(own, json={"url": third.url}, headers=other.bearer)
        quiet.windows(3, on_path(aa, bank, failing=DOWN))
        quiet.settled()
        (path,) = since(quiet, before)
        quiet.windows(3, at_fip(bank, failing=DOWN))
        quiet.settled()
        (fip,) = since(quiet, before)
        over(quiet)
        events = ["incident.opened", "incident.moved", "incident.closed"]
        quiet.service.wait_until(lambda: [one.data["type"] for one in sink.posted] == events)
        quiet.service.wait_until(lambda: len(third.posted) == 2)
        quiet.noc.post(f"/health/webhooks/{hook}/remove")
        gone = f"{own}/{added.json()['webhook']['webhookId']}/remove"
        assert other.client.post(gone, json={}, headers=other.bearer).status_code == 200

    assert named([path]) == {("path", aa, bank, "")}
    assert named([fip]) == {("fip", bank, "", "")}
    assert fip["incidentId"] == path["incidentId"]
    text = f"moved from the path between {aa} and {bank} to FIP {bank}"
    assert fip["story"][-1]["text"] == text
    first, last = third.posted
    assert (first.data["type"], last.data["type"]) == ("incident.opened", "incident.closed")
    assert first.data["data"]["incidentId"] == fip["incidentId"]


@pytest.mark.slow
def test_each_reader_gets_one_email_of_a_cause_and_one_of_its_end(quiet: HealthNetwork) -> None:
    bank, aa = quiet.fips[9].entity_id, quiet.aas[0].aa_id
    before = {who: len(quiet.mails_to(quiet.admins[who])) for who in (bank, aa)}

    quiet.windows(3, at_fip(bank, failing=DOWN))
    over(quiet)

    for who, count in before.items():
        opened, closed = (mail["subject"] for mail in quiet.mails_to(quiet.admins[who])[count:])
        assert "Kaveri Bank: " in opened
        assert "% of calls failing" in opened
        assert "Kaveri Bank: recovered" in closed
        assert "AA" not in opened.replace(bank, "")


@pytest.mark.slow
def test_a_members_page_opens_on_what_is_wrong_now_and_not_on_what_has_recovered(
    quiet: HealthNetwork,
) -> None:
    bank, aa = quiet.fips[3].entity_id, quiet.aas[0].aa_id
    page = f"/console/entity/{aa}/health"

    quiet.windows(3, at_fip(bank, failing=DOWN))
    quiet.settled()
    wrong = seen(quiet, quiet.admins[aa], page)
    quiet.windows(8)
    quiet.settled()
    after = seen(quiet, quiet.admins[aa], page)

    assert [shown_range(one) for one in (wrong, after)] == ["1h", "24h"]
    assert statuses(wrong, bank) == {"BAD"}
    assert statuses(after, bank) == {"BAD EARLIER"}


def seen(network: HealthNetwork, email: str, page: str) -> str:
    """A page for who signs in now: a session would end between windows."""
    browser = reader(network.service)
    assert browser.sign_in(email).status_code == 303
    return browser.get(page).text


def shown_range(page: str) -> str:
    (shown,) = re.findall(r'aria-current="true">(1h|6h|24h|7d|30d)</a>', page)
    return shown


def cells(row: str) -> list[str]:
    return [
        re.sub(r"<[^>]+>", "", one).strip() for one in re.findall(r"<td.*?</td>", row, re.DOTALL)
    ]


def statuses(page: str, fip_id: str) -> set[str]:
    """The statuses of what is or was bad at a FIP."""
    rows = [cells(one) for one in re.findall(r"<tr.*?</tr>", page, re.DOTALL)]
    named = {row[2] for row in rows if row and row[0] == fip_id}
    return {one for one in named if one.isupper()} - {"UNSURE", "GOOD"}  # others are shares


def test_a_late_report_that_disproves_an_incident_withdraws_it(quiet: HealthNetwork) -> None:
    before, bank = quiet.incidents(), quiet.fips[10].entity_id
    quiet.windows(3, at_fip(bank, failing=DOWN))
    last = quiet.reported_to
    assert last is not None
    quiet.settled()
    (one,) = since(quiet, before)

    for windows_ago in range(4):
        quiet.report(last - windows_ago * WINDOW)
    quiet.settled()

    shown = quiet.noc.get(f"/incidents/{one['incidentId']}").json()["incident"]
    assert shown["state"] == "withdrawn"
    assert "withdrawn" in shown["story"][-1]["text"]
    assert quiet.incidents(open="true") == []


@pytest.mark.slow
def test_a_late_report_that_proves_an_incident_lets_it_appear(quiet: HealthNetwork) -> None:
    before, bank = quiet.incidents(), quiet.fips[11].entity_id
    first = quiet.reported_to
    assert first is not None
    quiet.windows(3 + CLOSE_AFTER)
    quiet.settled()
    assert since(quiet, before) == []

    for number in range(1, 4):
        quiet.report(first + number * WINDOW, at_fip(bank, failing=DOWN))
    quiet.settled()

    (one,) = since(quiet, before)
    assert named([one]) == {("fip", bank, "", "")}
    assert one["state"] == "recovered"
    assert one["detected"] > one["ended"]


@pytest.mark.slow
def test_a_liar_and_a_silent_aa_do_not_hide_a_dead_fip(quiet: HealthNetwork) -> None:
    before, bank = quiet.incidents(), quiet.fips[2].entity_id
    liar, mute = quiet.aas[0].aa_id, quiet.aas[3].aa_id
    quiet.silent.add(mute)
    quiet.windows(4, Fault(lambda aa, fip, _: fip == bank and aa != liar, failing=DOWN))
    quiet.settled()

    found = since(quiet, before)
    assert named(found) == {("fip", bank, "", ""), ("aa-reporting", mute, "", "")}
    quiet.silent.clear()
    over(quiet)


@pytest.mark.slow
def test_an_admitted_lie_that_comes_late_does_not_withdraw_an_incident(
    quiet: HealthNetwork,
) -> None:
    before, bank = quiet.incidents(), quiet.fips[4].entity_id
    quiet.windows(3, at_fip(bank, failing=DOWN))
    last = quiet.reported_to
    assert last is not None
    over(quiet)

    liar = quiet.aas[1]
    for number in range(3):
        claimed = requests_of(liar, last - number * WINDOW, (), [bank], 9 * 10**12)
        assert liar.push(claimed).status_code == 200
    held = quiet.noc.get("/health/held-reports").json()["reports"]
    own = [one for one in held if one["aaId"] == liar.aa_id]
    assert len(own) == 3
    for one in own:
        answer = quiet.noc.post(
            f"/health/held-reports/{one['receiptId']}/admit", reason="a mistake"
        )
        assert answer.status_code == 200, answer.text
    quiet.settled()

    assert named(since(quiet, before)) == {("fip", bank, "", "")}


@pytest.mark.parametrize("hours", with_every_change([1], [-1, 1]))
def test_a_clock_that_is_wrong_by_an_hour_blames_no_one_else(
    quiet: HealthNetwork, hours: int
) -> None:
    before, bank = quiet.incidents(), quiet.fips[5 + (hours > 0)].entity_id
    wrong = quiet.aas[1 + (hours > 0)]  # a silence soon after another is the same incident
    quiet.silent.add(wrong.aa_id)
    named_fips = [one.entity_id for one in quiet.fips]
    for _ in range(4):
        quiet.windows(1, at_fip(bank, failing=DOWN))
        assert quiet.reported_to is not None
        claimed = quiet.reported_to + timedelta(hours=hours)
        report = requests_of(wrong, claimed, [at_fip(bank, failing=DOWN)], named_fips, 100)
        assert wrong.push(report).status_code == (200 if hours < 0 else 400)
    quiet.settled()

    found = named(since(quiet, before))
    late = {("path", wrong.aa_id, bank, "")} if hours < 0 else set()
    assert {("fip", bank, "", ""), ("aa-reporting", wrong.aa_id, "", "")} <= found
    assert found <= {("fip", bank, "", ""), ("aa-reporting", wrong.aa_id, "", ""), *late}
    quiet.silent.clear()
    over(quiet)
