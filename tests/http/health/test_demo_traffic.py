"""The sandbox's traffic, through the real push: pictures, incidents, alarms, feeds."""

import json

import httpx2
import pytest
from tests.support.database.held_lock import held_until_waited_for
from tests.support.mailbox import mails
from tests.support.people.operators import new_operator
from tests.support.process import running_service
from tests.support.until import until

from mudra.metrics.payload.catalogue import WINDOW, window_start


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A demonstration network with four hours of traffic, and a FIP that failed for one."""
    data_dir = tmp_path_factory.mktemp("traffic") / "data"
    with running_service(data_dir, "--demo", "--no-traffic", keeps_store=True) as service:
        done = service.cli(
            "sandbox",
            "traffic",
            "--days",
            "0.1667",
            "--incident",
            "KAVERI-FIP:fireq@60+60",
            "--incident",
            "DECCAN-FIP:cns@180+60",
            "--load",
            "3000",
        )
        assert "96 payloads of 2 AAs over 24 windows filled" in done.output
        yield service


@pytest.fixture(scope="module", autouse=True)
def noc(filled):
    """Somebody of the NOC, signed in; moved time ends no token of 180 days here."""
    _NOC.append(new_operator(filled, "health"))
    yield
    _NOC.clear()


_NOC = []


def operator(service, path, **query):
    answer = _NOC[0].get(f"/{path}", **query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_picture_shows_every_fip_with_its_proof(filled):
    rows = operator(filled, "health/fips")["rows"]
    assert [row["fipId"] for row in rows] == [
        "BHARATPENSION-FIP",
        "DECCAN-FIP",
        "KAVERI-FIP",
        "NORTHSTAR-FIP",
        "SURAKSHA-FIP",
    ]
    proof = rows[0]["proof"]
    assert (proof["reportersHeard"], proof["reportersExpected"]) == (2, 2)
    assert proof["windowsHeard"] + 4 >= 96
    assert proof["windowsHeard"] <= proof["windowsExpected"]
    for api in rows[2]["apis"]:
        if api["time"]:
            times = [api["time"][name] for name in ("p50", "p95", "p99")]
            assert {name for one in times for name in one} == {"estimate"}
            estimates = [one["estimate"] for one in times]
            assert sorted(estimates) == estimates
            assert 0 < estimates[-1] <= api["time"]["p100"]


def test_the_sum_over_pairs_is_the_sum_over_the_network(filled):
    pairs = operator(filled, "health/pairs")["rows"]
    (network,) = operator(filled, "health/network")["rows"]
    for api in network["apis"]:
        parts = [
            one["requests"] or 0
            for row in pairs
            for one in row["apis"]
            if (one["tag"], one["type"]) == (api["tag"], api["type"])
        ]
        assert sum(parts) == (api["requests"] or 0)


def test_an_incident_of_former_hours_is_found_and_can_be_acknowledged(filled):
    def found():
        known = operator(filled, "incidents", entityId="KAVERI-FIP")["incidents"]
        return [one for one in known if one["type"] == "fireq" and one["state"] == "recovered"]

    (incident,) = until(found)
    assert incident["badWindows"] == 6
    assert incident["kind"] == "fip-api"
    done = _NOC[0].post(f"/incidents/{incident['incidentId']}/acknowledge")
    assert done.status_code == 200, done.text
    assert found()[0]["acknowledgedBy"] == f"operator:{_NOC[0].email}"


def test_the_matrix_blames_the_fip_in_its_bad_hour(filled):
    incident = until(
        lambda: [
            one
            for one in operator(filled, "incidents", entityId="KAVERI-FIP")["incidents"]
            if one["type"] == "fireq" and one["ended"]
        ]
    )[0]
    matrix = operator(
        filled,
        "health/matrix",
        **{"from": incident["began"], "to": incident["ended"], "type": "fireq"},
    )
    assert {(v["fipId"], v["blame"]) for v in matrix["verdicts"]} == {("KAVERI-FIP", "fip-api")}
    assert {v["incidentId"] for v in matrix["verdicts"]} == {incident["incidentId"]}


def test_the_public_status_names_no_aa_and_keeps_its_tag(filled):
    answer = httpx2.get(f"{filled.root}/status/v1/fips.json")
    assert answer.status_code == 200
    assert "-AA" not in answer.text
    assert {row["fip_id"] for row in answer.json()["fips"]} >= {"KAVERI-FIP"}
    again = httpx2.get(
        f"{filled.root}/status/v1/fips.json", headers={"If-None-Match": answer.headers["ETag"]}
    )
    assert (again.status_code, again.content) == (304, b"")
    lines = httpx2.get(f"{filled.root}/status/v1/fips.csv").text.splitlines()
    assert lines[0].startswith("fip_id,api,status,requests")
    assert len(lines) == 1 + 5 * 6


def test_an_incident_cannot_be_seen_without_a_token(filled):
    for path in ("incidents", "health", "feed", "receipts"):
        assert httpx2.get(f"{filled.root}/metrics/perf/v1/{path}").status_code == 401


def subjects_to(service, address):
    return "\n".join(mail["subject"] for mail in mails(service, address))


@pytest.mark.slow
def test_an_incident_that_goes_on_is_notified_and_so_is_its_end(filled):
    shown = "imran@deccanbank.example"
    until(
        lambda: "Deccan Cooperative Bank, consent: " in subjects_to(filled, shown),
        lambda: subjects_to(filled, shown),
    )

    filled.advance("PT1H")
    # The hour was judged without reports before they come.
    until(
        lambda: (
            {"aa-reporting"} & {one["kind"] for one in operator(filled, "incidents")["incidents"]}
        )
    )
    filled.cli("sandbox", "traffic", "--days", "0.0417", "--load", "3000")

    def ends() -> list[str]:
        lines = subjects_to(filled, shown).splitlines()
        return [
            line
            for line in lines
            if "Deccan Cooperative Bank" in line and line.endswith(": recovered")
        ]

    until(ends, lambda: subjects_to(filled, shown))


def begin_a_window(service):
    """Move the time to the beginning of the next window: none ends in the minutes after it."""
    now = service.advance("PT0S")
    left = window_start(now) + WINDOW - now
    service.advance(f"PT{left.seconds + 5}S")


@pytest.mark.slow
def test_a_second_fill_changes_only_what_its_incident_hits(filled):
    words = ("sandbox", "traffic", "--days", "0.0417", "--load", "3000", "--json")
    begin_a_window(filled)
    filled.cli(*words)
    again = json.loads(filled.cli(*words).stdout)
    changed = json.loads(filled.cli(*words, "--incident", "NORTHSTAR-FIP@20+20").stdout)

    assert (again["payloads"], again["windows"], again["aas"]) == (0, 6, 2)
    assert changed["payloads"] == 8


def test_a_fill_waits_while_another_is_at_the_same_aa(filled):
    filled.advance("PT10M")
    with held_until_waited_for(filled.data_dir, "hashtextextended('push:SAARTHI-AA', 0)"):
        words = ("sandbox", "traffic", "--days", "0.0417", "--load", "3000", "--json")
        done = json.loads(filled.cli(*words).stdout)

    assert done["payloads"] in {4, 8}  # 8 when one more window has closed meanwhile


@pytest.mark.slow
def test_an_incident_of_former_days_is_found_though_no_one_is_woken(filled):
    filled.cli(
        "sandbox", "traffic", "--days", "1.25", "--incident", "SURAKSHA-FIP:cns@120+60",
        "--load", "3000",
    )  # fmt: skip  # as one types it

    known = operator(filled, "incidents", entityId="SURAKSHA-FIP")["incidents"]

    assert [one["type"] for one in known] == ["cns"]
    assert "consent" not in subjects_to(filled, "ananya@surakshalife.example")


def test_an_incident_of_no_one_is_refused_with_the_names_that_there_are(filled):
    bad = filled.cli("sandbox", "traffic", "--incident", "NOBODY@1+1", check=False)

    assert bad.exit_code == 2
    assert "KAVERI-FIP" in bad.output


@pytest.mark.slow
def test_an_aa_that_stops_reporting_is_an_incident_and_its_admin_is_notified(filled):
    filled.advance("PT1H")

    def silent():
        known = operator(filled, "incidents", entityId="SAARTHI-AA", open="true")["incidents"]
        return [one for one in known if one["kind"] == "aa-reporting"]

    (incident,) = until(silent)
    assert incident["badWindows"] >= 2
    mails = json.loads(filled.cli("mail", "list", "--json").stdout)
    subjects = [mail["subject"] for mail in mails]
    assert any("Saarthi Account Aggregator: not reporting" in one for one in subjects), subjects
