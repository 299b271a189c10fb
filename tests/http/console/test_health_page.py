"""A member's health page: an AA sees its own calls and gaps, a FIP what AAs said of it."""

import re
import uuid
from collections.abc import Iterator

import pytest
from tests.http.console.stored_incidents import open_incident
from tests.http.health.service_in_process import service_in_process
from tests.support.members import new_member
from tests.support.metrics.health_network import a_network, at_fip, on_path, requests_of
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.people.console import Reader, reader
from tests.support.service import PASSWORD, Service


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One in this process: AAs that report to that of the run are judged with each of its moves."""
    with service_in_process(tmp_path_factory.mktemp("health-page") / "data") as running:
        yield running


def page(service: Service, email: str, entity_id: str, query: str = "") -> str:
    browser: Reader = reader(service)
    assert browser.sign_in(email, PASSWORD).status_code == 303
    return browser.get(f"/console/entity/{entity_id}/health{query}").text


def test_an_aa_sees_what_it_reported_and_another_does_not(service: Service) -> None:
    aa = pushing_aa(service)
    pushed = aa.requests(fips=2)
    assert aa.push(pushed).status_code == 200
    service.advance("PT16M")  # the window's other payload is missing from now on
    fip_ids = {block.fip_id for block in pushed.fips}
    other = new_member(service, "AA")

    own = reader(service)
    own.sign_in(f"asha-{aa.aa_id.split('-')[1]}@member.example")
    shown = own.get(f"/console/entity/{aa.aa_id}/health").text
    assert all(f">{fip_id}</summary>" in shown for fip_id in fip_ids)
    assert "account discovery" in shown
    assert re.search(r" reports? (is|are) missing\.", shown)

    theirs = page(service, other.email, other.entity_id)
    assert not any(fip_id in theirs for fip_id in fip_ids)


def test_a_fip_without_reports_is_shown_so(service: Service) -> None:
    fip = new_member(service, "FIP")

    shown = page(service, fip.email, fip.entity_id, "?range=7d")
    assert "No AA reported any traffic" in shown
    assert 'id="missing"' not in shown
    lines = shown.partition("By AA</h2>")[2].partition('<p class="quiet">Success: ')[0]
    assert lines
    assert "100" not in re.sub(r"<[^>]+>", "", lines)


def test_an_incident_of_others_is_unknown(service: Service) -> None:
    fip = new_member(service, "FIP")
    browser = reader(service)
    assert browser.sign_in(fip.email).status_code == 303
    home = f"/console/entity/{fip.entity_id}/health/incidents"

    for wanted in (open_incident(service, "OTHER-FIP"), str(uuid.uuid4())):
        assert browser.get(f"{home}/{wanted}").status_code == 404


def test_a_fip_has_a_page_of_its_incident(service: Service) -> None:
    """State, cause, time line and what the operator does; the overview leads there."""
    fip = new_member(service, "FIP")
    incident_id = open_incident(service, fip.entity_id)
    browser = reader(service)
    assert browser.sign_in(fip.email).status_code == 303
    home = f"/console/entity/{fip.entity_id}"
    here = f"{home}/health/incidents/{incident_id}"

    assert here in browser.get(home).text
    shown = browser.get(here).text

    assert "Kaveri Bank, consent" in shown
    assert "no one has taken it yet" in shown
    assert "First bad window" in shown
    assert "Calls to you" in shown


def test_an_aa_sees_whether_a_failing_fip_fails_for_others_too(service: Service) -> None:
    """Of the others as quartiles: no name, and nothing of them while they are few."""
    aas = [pushing_aa(service) for _ in range(6)]
    mine, others, window = aas[0], aas[1:], aas[0].last_window()
    alone, shared = (f"{uuid.uuid4().hex[:8]}-FIP" for _ in range(2))
    faults = (at_fip(shared, failing=0.6), on_path(mine.aa_id, alone, failing=0.6))
    for aa in aas[:5]:
        report = requests_of(aa, window, faults, [alone, shared], 100)
        assert aa.push(report).status_code == 200

    few = page(service, mine.admin, mine.aa_id)
    assert few.count("Too few other AAs call it to tell.") == 8
    assert aas[5].push(requests_of(aas[5], window, faults, [alone, shared], 100)).is_success
    shown = page(service, mine.admin, mine.aa_id)

    answers = shown.partition('id="is-it-me"')[2].partition("</section>")[0]
    rows = answers.split('<tr role="row">')[2:]
    assert all("Others are well" in row for row in rows if alone in row)
    assert all("Others see it too" in row for row in rows if shared in row)
    assert len(rows) == 8
    assert answers.count("of the 5 AAs with enough calls") == 8
    assert not any(aa.aa_id in answers for aa in others)


def test_the_charts_of_an_aa_and_a_fiu_are_of_the_calls_that_fail(service: Service) -> None:
    """Not of all calls, in which one dead API of one FIP cannot be seen."""
    health, fiu = a_network(service, aas=3, fips=2), new_member(service, "FIU")
    failing, well = (one.entity_id for one in health.fips)
    health.windows(2)
    health.windows(3, at_fip(failing, "cns", failing=1.0))
    health.settled()
    aa_id = health.aas[0].aa_id

    own = page(service, health.admins[aa_id], aa_id)
    of_fiu = page(service, fiu.email, fiu.entity_id)
    chosen = page(service, fiu.email, fiu.entity_id, f"?over-time=shown&range=1h&fip={well}")

    of_them = (health.admins[aa_id], aa_id), (fiu.email, fiu.entity_id)
    query = f"?range=1h&type=cns&over-time=part&fip={failing}"
    assert all("data-figures" in page(service, *one, query) for one in of_them)
    for shown in (own, of_fiu):
        assert "Over time: Kaveri Bank, consent</h2>" in shown
        assert f"type=cns&amp;over-time=part&amp;fip={failing}" in shown
        assert 'type=all">Show all calls</a>' in shown
    assert "of your 500 calls succeeded" in own
    assert "of 1,500 calls succeeded" in of_fiu
    assert "Over time: Kaveri Bank, all calls</h2>" in chosen
    (figure,) = re.findall(r"([\d.]+)\u00a0%</strong> of ([\d,]+) calls", chosen)
    assert figure == ("99.0", "4,500")


def test_a_fiu_reads_how_many_fips_fail_and_why_one_is_bad_without_an_incident(
    service: Service,
) -> None:
    """The lanes are those of the table: the FIP that fails, and the one that one AA cannot reach."""
    health, fiu = a_network(service, aas=4, fips=5), new_member(service, "FIU")
    failing, apart = (one.entity_id for one in health.fips[:2])
    health.windows(4)
    health.windows(
        4,
        at_fip(failing, "cns", failing=1.0),
        on_path(health.aas[0].aa_id, apart, failing=0.9),
    )
    health.settled()

    shown = page(service, fiu.email, fiu.entity_id, "?range=1h&over-time=shown")
    chosen = page(service, fiu.email, fiu.entity_id, f"?range=1h&fip={apart}")

    found = re.search(r'<strong class="large">(\d+)</strong> of (\d+) FIPs failing', shown)
    assert found
    assert int(found[1]) < int(found[2])
    assert "FIPs failing" not in chosen
    assert "calls of one AA alone fail there: it may be that AA or its connection." in shown
    listed = page(service, fiu.email, fiu.entity_id, "?range=1h&export=health").splitlines()
    assert any(f",{failing}," in one and ",bad," in one for one in listed)
    assert not any(f",{apart}," in one and ",bad," in one for one in listed)
    lanes = shown.partition('class="lanes"')[2].partition("</div>")[0]
    assert f"fip={failing}" in lanes
    assert f"fip={apart}" in lanes


def test_a_fiu_has_a_lane_for_each_fip_that_it_follows(service: Service) -> None:
    aa, fips = pushing_aa(service), [new_member(service) for _ in range(2)]
    fiu = new_member(service, "FIU")
    report = requests_of(aa, aa.last_window(), (), [one.entity_id for one in fips], 100)
    assert aa.push(report).status_code == 200
    browser = reader(service)
    browser.sign_in(fiu.email)
    here = f"/console/entity/{fiu.entity_id}/health"
    for one in fips:
        assert browser.act(here, f"{here}/follow", follow=one.entity_id).status_code == 303

    part = browser.get(f"{here}?over-time=part&range=1h").text

    for one in fips:
        assert f"?range=1h&amp;fip={one.entity_id}" in part
    assert part.count('class="good"') == 2
    assert "The last six hours" in part  # the chart of an hour would have six points
