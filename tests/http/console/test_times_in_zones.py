"""The zone of times: chosen by a person, by the address of a public page, known from the browser."""

import re

import pytest
from tests.support.mailbox import mails
from tests.support.members import new_member
from tests.support.people.console import Reader, reader
from tests.support.people.operators import new_operator
from tests.support.service import Service


@pytest.fixture(scope="module")
def watcher(service: Service) -> Reader:
    browser = reader(service)
    assert browser.sign_in(new_operator(service).email).status_code == 303
    return browser


def fields(page: str) -> dict[str, str]:
    """Return what each field of a page holds, of those with the same name the first."""
    found = re.findall(r'<input[^>]* name="(\w+)"[^>]*value="([^"]*)"', page)
    return dict(reversed(found))


def test_a_person_switches_the_zone_of_all_pages_and_returns_to_the_same_view(
    service: Service,
) -> None:
    member = new_member(service)
    browser = reader(service)
    browser.sign_in(member.email)
    path = f"/console/entity/{member.entity_id}/health"
    pinned = f"{path}?from=2026-11-20T18%3A00%3A00Z&to=2026-11-20T20%3A00%3A00Z"
    usual = browser.get(pinned).text  # of a reader who chose none
    assert "(IST)" in usual
    assert "20 Nov 2026, 23:30 IST" in usual
    browser.act(path, "/console/account/zone", zone="utc", to=pinned)
    before = browser.get(pinned).text
    assert "(UTC)" in before
    assert "20 Nov 2026, 18:00 UTC" in before

    back = fields(before)["to"]  # of the switch, and of the range
    sent = browser.act(path, "/console/account/zone", zone="ist", to=pinned)

    assert (sent.status_code, sent.headers["location"]) == (303, pinned)
    shown = browser.get(pinned).text
    assert back
    assert '<meta name="time-zone" content="Asia/Kolkata">' in shown
    assert "20 Nov 2026, 23:30 IST</time>" in shown
    assert 'title="2026-11-20 18:00:00 UTC"' in shown
    assert fields(shown)["from"] == "2026-11-20T23:30"
    assert fields(shown)["zone"] == "Asia/Kolkata"
    again = reader(service)
    again.sign_in(member.email)
    assert 'value="ist" aria-pressed="true"' in again.get("/console/account").text


def test_an_email_is_in_the_zone_of_its_reader(service: Service) -> None:
    member = new_member(service)

    def written() -> str:
        assert member.reset().status_code == 200
        return mails(service, member.email)[-1]["text"]

    usual = written()
    browser = reader(service)
    browser.sign_in(member.email)
    browser.act("/console/account", "/console/account/zone", zone="utc", to="/console")
    service.advance("PT6M")
    chosen = written()

    assert re.search(r"was reset on \d+ \w+ \d{4}, \d\d:\d\d IST by", usual)
    assert re.search(r"was reset on \d+ \w+ \d{4}, \d\d:\d\d UTC by", chosen)


@pytest.mark.parametrize("to", ["https://elsewhere.example/", "//elsewhere.example", ""])
def test_the_switch_leads_to_no_other_site(watcher: Reader, to: str) -> None:
    sent = watcher.act("/console/account", "/console/account/zone", zone="browser", to=to)

    assert sent.headers["location"] == "/console"


def test_an_unknown_zone_is_refused_with_the_field(watcher: Reader) -> None:
    refused = watcher.act("/console/account", "/console/account/zone", zone="mars", to="/console")

    assert refused.status_code == 400
    assert "zone must be one of browser, ist, utc" in refused.text.replace("Zone", "zone")


def test_the_zone_of_the_browser_is_that_which_its_script_reported(service: Service) -> None:
    browser = reader(service)
    browser.sign_in(new_operator(service).email)
    page = "/console/operator/health?from=2026-07-01T10:00:00Z&to=2026-07-01T12:00:00Z"

    browser.client.cookies.set("mudra-zone", "Europe/Berlin")
    summer = fields(browser.get(page).text)
    winter = fields(browser.get(page.replace("-07-", "-12-")).text)
    browser.client.cookies.set("mudra-zone", "<script>")
    wrong = browser.get(page).text

    assert (summer["from"], summer["zone"]) == ("2026-07-01T12:00", "Europe/Berlin")
    assert winter["from"] == "2026-12-01T11:00"
    assert fields(wrong)["zone"] == "Asia/Kolkata"
    assert "<script>" not in wrong.partition("<body")[2]


def test_a_filter_means_what_it_shows(watcher: Reader) -> None:
    watcher.act("/console/account", "/console/account/zone", zone="ist", to="/console")
    page = "/console/operator/audit"

    typed = watcher.get(f"{page}?since=2026-11-20T05:30&zone=Asia/Kolkata")
    in_utc = watcher.get(f"{page}?since=2026-11-20T00:00&zone=UTC")
    wrong = watcher.get(f"{page}?until=soon&zone=UTC")
    unknown = watcher.get(f"{page}?until=2026-11-20T00:00&zone=Mars")

    assert 'Since <span class="quiet">(IST)</span>' in typed.text
    assert fields(typed.text)["since"] == fields(in_utc.text)["since"] == "2026-11-20T05:30"
    assert (wrong.status_code, unknown.status_code) == (400, 400)
    assert "ntil must be a date and time" in wrong.text
    assert "one must be a time zone such as" in unknown.text


def test_a_silence_begins_at_the_time_of_its_form(service: Service) -> None:
    operator = reader(service)
    operator.sign_in(new_operator(service).email)
    page = "/console/operator/incidents"
    member = new_member(service)
    typed = f"{service.advance('PT0S'):%Y-%m-%dT%H:%M}"

    sent = operator.act(
        page,
        "/console/operator/silences",
        entity_id=member.entity_id,
        begins=typed,
        zone="America/New_York",
        hours="4",
        reason="in New York",
    )

    assert sent.status_code == 303, sent.text
    listed = operator.get(page).text
    line = next(one for one in listed.split("<li>") if "in New York" in one)
    assert "scheduled" in line  # five or four hours later than the same digits in UTC


def test_a_public_page_takes_its_zone_from_the_address_and_keeps_it(service: Service) -> None:
    page = service.client().get(f"{service.root}/status?zone=ist&lang=hi").text
    plain = service.client().get(f"{service.root}/status?zone=x%22").text

    assert '<meta name="time-zone" content="Asia/Kolkata">' in page
    assert re.search(r"IST</time>", page)
    assert '<input type="hidden" name="zone" value="ist">' in page
    links = re.findall(r'href="(/status/fip/[^"]*|/status\?[^"]*)"', page)
    own = [link for link in links if "feed" not in link]
    assert [link for link in own if "zone=ist" not in link] == []
    assert "time-zone" not in plain
    assert "x&#34;" not in plain.partition("<main")[0]
