"""Every page: axe finds nothing, nothing sticks out, the policy is kept; deep, in every look.

The pages are those of `tools.demonstration`, which a test holds against the route table, so that
no new page is left out. What only an act leads to is looked at where the act is tested.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx2
import pytest
import sqlalchemy as sa
from playwright.sync_api import expect
from tests.browser.conftest import Visit, in_thread
from tests.support.alarm_network import as_entity
from tests.support.depth import DEEP, with_every_change
from tests.support.members import Member, new_member
from tests.support.metrics.incidents import stored_row
from tests.support.metrics.metrics_push import PushingAa, pushing_aa
from tests.support.people.operators import active_operator, with_token
from tests.support.process import running_service
from tests.support.registry.registry_commands import payload, send
from tests.support.service import PASSWORD, Service
from tools.demonstration import Page, member_pages, operator_pages, public_pages

from mudra.bootstrap.dependencies import Dependencies
from mudra.console.framework.navigation import ACCOUNT, operator_path
from mudra.metrics.payload.catalogue import WINDOW
from mudra.storage.tables.metrics import metrics_incident

_LATIN_TIMES = """[...document.querySelectorAll("time")].map((one) => one.textContent)
  .filter((text) => /[a-z]/i.test(text.replace(/UTC|IST/, "")))"""


@dataclass(frozen=True)
class Network:
    """A member of each kind with something on each of its pages, and an operator."""

    service: Service
    aa: PushingAa
    fip: Member
    fiu: Member
    operator: str
    incident_id: str
    announcement_id: str
    dispute_id: str
    report_id: str
    mail_id: str


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    """A service of its own: some pages of its people are in Hindi afterwards."""
    data_dir = tmp_path_factory.mktemp("pages") / "data"
    with running_service(data_dir, keeps_store=True) as service:
        yield in_thread(a_network, service)


def a_network(service: Service) -> Network:
    aa, fip, fiu = pushing_aa(service), new_member(service), new_member(service, "FIU")
    assert aa.push(aa.requests(fips=2)).status_code == 200
    assert aa.push(b"{}").status_code == 400
    send(fip, payload(fip))  # which waits for approval
    add_webhook(fip)
    operator = active_operator(service)
    announcement_id = announce(service, operator, fip.entity_id)
    began, incident_id = aa.last_window() - 12 * WINDOW, str(uuid.uuid4())

    async def store(dependencies: Dependencies) -> None:
        async with dependencies.database.transaction() as transaction:
            row = stored_row(incident_id, "fip-api", fip.entity_id, began)
            await transaction.connection.execute(sa.insert(metrics_incident), [row])

    service.in_store(store)
    service.wait_until(lambda: httpx2.get(f"{service.root}/status/fip/{fip.entity_id}").is_success)
    dispute_id = contest(fip, incident_id)
    report_id = a_report(service, operator, fip.entity_id, aa.last_window() + WINDOW)
    ids = incident_id, announcement_id, dispute_id, report_id, an_email(service, operator)
    return Network(service, aa, fip, fiu, operator, *ids)


def a_report(service: Service, operator: str, fip_id: str, end: datetime) -> str:
    """Make a report of the FIP, and let members see the league table."""
    noc = with_token(service, operator)
    today = datetime.fromtimestamp(service.wall(), UTC).date().isoformat()
    rule = {"since": today, "noticeHours": 24, "hoursAMonth": 24, "league": True}
    assert noc.post("/levels/rule", **rule, reason="a test").status_code == 200
    period = {"start": (end - 24 * WINDOW).isoformat(), "end": end.isoformat()}
    made = noc.post("/levels/reports", entityId=fip_id, **period)
    assert made.status_code == 200, made.text
    return str(made.json()["report"]["reportId"])


def an_email(service: Service, operator: str) -> str:
    """The ID of an email to the operator: of the dispute."""
    found = with_token(service, operator).get("/mails", to=operator).json()["mails"]
    return str(found[0]["id"])


def contest(fip: Member, incident_id: str) -> str:
    """Raise a dispute with a file, of an incident of the FIP."""
    text = "Our gateway answered all calls of this time, as its log shows. " * 8
    said = {"entityId": fip.entity_id, "about": "incident", "incidentId": incident_id, "text": text}
    url, headers = "/v1/entity/disputes", fip.bearer()
    made = fip.client.post(url, json=said, headers=headers)
    assert made.status_code == 200, made.text
    dispute_id = made.json()["dispute"]["disputeId"]
    file = {"name": "gateway-of-the-bank.log", "content": "MTAgMjAwCg=="}
    fip.client.post(f"{url}/{dispute_id}/evidence", json=file, headers=headers).raise_for_status()
    return str(dispute_id)


def announce(service: Service, operator: str, fip_id: str) -> str:
    """Announce something that is over, and something with all that it may have."""
    noc = with_token(service, operator)
    words = {"title": "A title of an announcement " * 4, "text": "Some plain words of it. " * 24}
    for more in ({}, {"kind": "incident", "fipIds": [fip_id], "begins": "2026-01-31T09:30:00Z"}):
        made = noc.post("/announcements", **words, **more)
        assert made.status_code == 200, made.text
        announcement_id = made.json()["announcement"]["announcementId"]
        if not more:
            noc.post(f"/announcements/{announcement_id}/end")
    return str(announcement_id)


def add_webhook(member: Member) -> None:
    root = member.service.root
    url = {"url": "https://alarms.example/a-long-address/of-an-alarm-system/with-many-parts"}
    made = member.client.post(
        f"{root}/metrics/perf/v1/webhooks", json=url, headers=as_entity(member)
    )
    assert made.status_code == 200, made.text


@pytest.fixture
def service(network: Network) -> Service:
    """The service that a tour visits."""
    return network.service


def sign_in(visit: Visit, email: str) -> None:
    page = visit.page
    page.goto(f"{visit.service.root}/console/sign-in")
    page.get_by_label("Email address").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_attached()


def are_sound(visit: Visit, pages: Sequence[Page]) -> None:
    for one in pages:
        answer = visit.page.goto(visit.service.root + one.path)
        assert answer is not None
        assert answer.ok, one.path
        expect(visit.page.get_by_role("heading", level=1)).to_be_visible()
        expect(visit.page.locator(".coming")).to_have_count(0)  # what is loaded after the page
        for look in visit.looks():
            assert visit.violations() == [], (one.path, look)
        for width in visit.widths():
            assert visit.fits(), (one.path, width)


def are_whole_in_hindi(visit: Visit, pages: Sequence[Page]) -> None:
    """Words are longer in Hindi, and nothing sticks out; times are written as Hindi does."""
    for one in pages:
        visit.page.goto(visit.service.root + one.path)
        expect(visit.page.locator("html[lang=hi]")).to_be_attached()
        assert visit.page.evaluate(_LATIN_TIMES) == [], one.path
        for width in visit.widths():
            assert visit.fits(), (one.path, width)


def test_public_pages(tour: Visit, network: Network) -> None:
    pages = public_pages(network.fip.entity_id)
    are_sound(tour, pages)
    for one in pages[1:]:
        are_whole_in_hindi(tour, [Page(one.name, f"{one.path}?lang=hi")])


BY_TYPE = {"overview", "health", "incident", "registration"}
"""The pages that show members of each type something else."""


@pytest.mark.parametrize("kind", with_every_change(["fip"], ["aa", "fip", "fiu"]))
def test_pages_of_a_member(tour: Visit, network: Network, kind: str) -> None:
    """All pages of the FIP, and those of the others that differ by type."""
    members = {
        "aa": (network.aa.aa_id, network.aa.admin),
        "fip": (network.fip.entity_id, network.fip.email),
        "fiu": (network.fiu.entity_id, network.fiu.email),
    }
    entity_id, email = members[kind]
    of_fip = (network.incident_id, network.dispute_id, network.report_id) if kind == "fip" else ()
    pages = member_pages(entity_id, email, *of_fip)
    if kind != "fip":
        pages = [one for one in pages if one.name.removeprefix(f"{kind}-") in BY_TYPE]
        assert len(pages) == len(BY_TYPE) - 1
    sign_in(tour, email)
    are_sound(tour, pages)

    tour.page.goto(tour.service.root + ACCOUNT)
    tour.page.get_by_label("Language of emails").select_option("hi")
    tour.page.get_by_role("region", name="Language").get_by_role("button").click()
    expect(tour.page.locator("html[lang=hi]")).to_be_attached()
    are_whole_in_hindi(tour, [*pages, Page("account", ACCOUNT)])


def test_pages_of_an_operator(tour: Visit, network: Network) -> None:
    sign_in(tour, network.operator)
    ids = network.aa.aa_id, network.fip.entity_id, network.incident_id, network.announcement_id
    lists = network.dispute_id, network.report_id, network.mail_id
    are_sound(tour, operator_pages(network.operator, *ids, *lists))

    page = tour.page
    page.goto(f"{tour.service.root}{operator_path(f'members/{network.fip.entity_id}')}")
    page.get_by_role("button", name="Stop tokens…").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert [tour.violations() for _ in tour.looks()] == [[]] * (4 if DEEP else 1)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


@pytest.mark.parametrize(
    "path", ["/status/nothing", "/console/nothing", "/console/operator/nothing"]
)
def test_pages_of_wrong_addresses(tour: Visit, path: str) -> None:
    tour.page.goto(tour.service.root + path)
    expect(tour.page.get_by_role("heading", level=1)).to_be_visible()
    for look in tour.looks():
        assert tour.violations() == [], look
        assert tour.fits(), look
