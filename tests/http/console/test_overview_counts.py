"""What the overview of a member counts, and what it leads to."""

from datetime import UTC, datetime, timedelta

from tests.http.console.stored_incidents import open_incident
from tests.support.members import new_member
from tests.support.people.console import reader
from tests.support.service import Service


def test_issued_and_refused_tokens_are_counted_since_the_beginning_of_yesterday(
    service: Service,
) -> None:
    now = datetime.fromtimestamp(service.wall(), UTC)
    an_hour_after_midnight = now.replace(hour=1, minute=0, second=0) + timedelta(days=1)
    service.advance(f"PT{int((an_hour_after_midnight - now).total_seconds())}S")
    member = new_member(service)
    assert member.entity_token(member.secret()).status_code == 200
    assert member.entity_token("no-secret-of-this-member").status_code == 401
    service.advance("PT26H")  # on the next day, more than 24 hours later
    browser = reader(service)
    assert browser.sign_in(member.email).status_code == 303
    page = f"/console/entity/{member.entity_id}"

    service.wait_until(lambda: "Refused in 2 days</dt><dd>1<" in browser.get(page).text)

    assert "Tokens in 2 days (UTC)</dt><dd>1<" in browser.get(page).text


def test_the_overview_of_a_fiu_leads_to_what_is_wrong_at_a_fip_that_it_follows(
    service: Service,
) -> None:
    fiu, other = new_member(service, "FIU"), new_member(service, "FIU")
    bank = new_member(service, "FIP").entity_id
    incident_id = open_incident(service, bank)
    home = f"/console/entity/{fiu.entity_id}"
    browser, stranger = reader(service), reader(service)
    assert browser.sign_in(fiu.email).status_code == 303
    assert stranger.sign_in(other.email).status_code == 303
    assert browser.act(f"{home}/health", f"{home}/health/follow", follow=bank).status_code == 303

    assert f'<a href="{home}/health/incidents/{incident_id}">' in browser.get(home).text
    of_stranger = stranger.get(f"/console/entity/{other.entity_id}").text
    assert bank not in of_stranger
    first, _, rest = of_stranger.partition('id="attention"')[2].partition('id="steps"')
    assert f"/health/incidents/{incident_id}" in first
    assert "You get no alarms about FIPs: you follow none." in of_stranger
    assert incident_id not in rest
    assert "Joining the network: 2 of 5 steps done" in rest
    assert "No registration yet" in first
    assert "<dt>Registration</dt>" not in of_stranger, "the steps say that there is none"
    assert ">Comments</a>" in of_stranger
    assert ">Disputes</a>" not in of_stranger


def test_a_member_without_a_registration_reads_of_no_live_entry(service: Service) -> None:
    fiu = new_member(service, "FIU")
    browser = reader(service)
    assert browser.sign_in(fiu.email).status_code == 303

    shown = browser.get(f"/console/entity/{fiu.entity_id}/addresses").text

    assert "You have no live registration: until you do, any address gets tokens." in shown
    for untrue in ("live entry", "switch the binding off", "registered key", ">watched<"):
        assert untrue not in shown


def test_an_only_admin_reads_that_another_one_is_invited(service: Service) -> None:
    member = new_member(service)
    browser, page = reader(service), f"/console/entity/{member.entity_id}"
    assert browser.sign_in(member.email).status_code == 303
    alone = browser.get(page).text
    assert "no one can reset the secret" in alone
    assert "Another one is invited" not in alone

    invited = {"email": f"second.{member.email}", "name": "Second", "role": "reader"}
    assert browser.act(f"{page}/people", f"{page}/people/add", **invited).status_code == 303
    assert "Another one is invited" not in browser.get(page).text
    invited |= {"email": f"third.{member.email}", "role": "admin"}
    assert browser.act(f"{page}/people", f"{page}/people/add", **invited).status_code == 303

    assert "Another one is invited, and has not accepted yet." in browser.get(page).text
