"""Five questions about service levels, each by clicking from the question to the answer.

By command and by call they are walked in tests/cli/test_level_walks.py.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.conftest import LOOKS, Visit, in_thread, watched
from tests.support.forked_command import run_mudra
from tests.support.metrics.bad_month import INDIA, after_a_bad_month
from tests.support.metrics.health_network import HealthNetwork
from tests.support.process import running_service
from tests.support.service import PASSWORD

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HealthNetwork]:
    """A bank had an outage last month; today is the second of the next one."""
    with running_service(tmp_path_factory.mktemp("walks") / "data", keeps_store=True) as running:
        yield in_thread(after_a_bad_month, running)


@pytest.fixture
def visit(browser: Browser, network: HealthNetwork, axe: str) -> Iterator[Visit]:
    with watched(browser, network.service, axe, LOOKS[0]) as made:
        yield made


def sign_in(page: Page, root: str, email: str) -> None:
    page.goto(f"{root}/console/sign-in")
    page.get_by_label("Email address").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def to(page: Page, title: str) -> None:
    page.get_by_role("navigation", name="Console").get_by_role("link", name=title).click()
    expect(page.locator("nav [aria-current=page]")).to_contain_text(title)


def is_sound(visit: Visit) -> None:
    assert visit.violations() == []
    assert visit.fits()
    assert visit.complaints == []


def make_the_report(page: Page) -> None:
    to(page, "Service levels")
    page.get_by_role("button", name="Make the report").click()
    expect(page.get_by_role("heading", name="By API")).to_be_visible()


def test_why_was_the_month_bad_and_what_proves_it(
    visit: Visit, network: HealthNetwork, tmp_path: Path
) -> None:
    page, root = visit.page, network.service.root
    sign_in(page, root, network.fips[0].email)

    make_the_report(page)
    expect(page.get_by_text("missed").first).to_be_visible()
    is_sound(visit)
    for name, file in (("Signed report with proof", "proof.json"), ("PDF to print", "r.pdf")):
        with page.expect_download() as loaded:
            page.get_by_role("link", name=name).click()
        loaded.value.save_as(tmp_path / file)
    # From what counts as an outage to the incident, its cause, and what changed before it.
    page.get_by_role("region", name="Outages and corrections").get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("FI request")
    expect(page.get_by_role("heading", name="What you can do")).to_be_visible()
    is_sound(visit)

    keys = network.service.client().get(f"{network.service.issuer}/.well-known/jwks.json")
    (tmp_path / "jwks.json").write_text(keys.text)
    checked = run_mudra(
        *("report", "verify", str(tmp_path / "proof.json")),
        *("--keys", str(tmp_path / "jwks.json"), "--json"),
    )
    assert (checked.returncode, json.loads(checked.stdout)["valid"]) == (0, True)
    assert (tmp_path / "r.pdf").read_bytes().startswith(b"%PDF-")


def test_a_day_is_contested_decided_and_corrected(visit: Visit, network: HealthNetwork) -> None:
    page, root = visit.page, network.service.root
    assert network.reported_to is not None
    day = network.reported_to.astimezone(INDIA).date().isoformat()
    sign_in(page, root, network.fips[0].email)
    make_the_report(page)

    page.get_by_role("link", name="Dispute a number, or comment on it").click()
    page.get_by_label("About").select_option(label="A day")
    page.get_by_label("Day (IST)", exact=True).fill(day)
    page.get_by_label("Your statement").fill("Our gateway answered all calls of this day.")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("The operator has to act before")).to_be_visible()
    is_sound(visit)
    page.get_by_role("button", name="Sign out").click()

    sign_in(page, root, network.noc.email)
    to(page, "Disputes")
    page.get_by_role("link", name="Kaveri Bank").first.click()
    page.get_by_text("Accept", exact=True).first.click()
    page.get_by_label("Text for the member").locator("visible=true").fill(
        "The gateway's log shows it."
    )
    page.get_by_role("button", name="Accept", exact=True).click()
    expect(page.get_by_role("heading", name="Corrections in force")).to_be_visible()
    is_sound(visit)
    page.get_by_role("button", name="Sign out").click()

    sign_in(page, root, network.fips[0].email)
    make_the_report(page)
    expect(
        page.get_by_role("heading", name="What changed since the version before")
    ).to_be_visible()
    expect(page.get_by_text("The gateway's log shows it.").first).to_be_visible()
    is_sound(visit)


def test_maintenance_is_announced_in_time_and_its_member_sees_it(
    visit: Visit, network: HealthNetwork
) -> None:
    page, root, bank = visit.page, network.service.root, network.fips[1]
    begins = datetime.fromtimestamp(network.service.wall(), UTC) + timedelta(hours=30)
    sign_in(page, root, network.noc.email)

    to(page, "Incidents")
    page.get_by_text("Start a silence").click()
    page.get_by_label("Member (name or ID; empty for all)").fill(bank.entity_id)
    page.get_by_label("Start").fill(begins.strftime("%Y-%m-%dT%H:%M"))
    page.get_by_label("Reason").fill("new disks")
    page.get_by_label("Planned maintenance of the whole member").check()
    page.get_by_role("button", name="Start silence").click()
    listed = page.locator("#silences li", has_text=bank.entity_id)
    expect(listed).to_contain_text("new disks")
    expect(listed).to_contain_text("left out")
    is_sound(visit)
    page.get_by_role("button", name="Sign out").click()

    sign_in(page, root, bank.email)
    to(page, "Health")
    expect(page.get_by_text("Planned maintenance of")).to_contain_text("left out")
    is_sound(visit)


def test_a_member_announces_changes_and_withdraws_its_own_maintenance(
    visit: Visit, network: HealthNetwork
) -> None:
    page, root, bank = visit.page, network.service.root, network.fips[2]
    begins = datetime.fromtimestamp(network.service.wall(), UTC) + timedelta(hours=30)
    sign_in(page, root, bank.email)

    to(page, "Maintenance")
    expect(page.get_by_text("No maintenance is announced.")).to_be_visible()
    page.get_by_label("Start").fill(begins.strftime("%Y-%m-%dT%H:%M"))
    page.get_by_label("Duration").select_option(label="2 hours")
    page.get_by_label("Reason").fill("new disks")
    page.get_by_role("button", name="Announce").click()
    listed = page.get_by_role("region", name="Announced").get_by_role("listitem")
    expect(listed).to_contain_text("It is left out of availability")
    is_sound(visit)

    listed.get_by_role("link", name="Change").click()
    page.get_by_label("Reason").fill("new racks")
    is_sound(visit)
    page.get_by_role("button", name="Change maintenance").click()
    expect(listed).to_contain_text("new racks")
    listed.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_text("The maintenance was withdrawn.")).to_be_visible()
    is_sound(visit)
