"""An incident from its first bad window to its end, as the operator and everybody see it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.conftest import LOOKS, Visit, in_thread, watched
from tests.support.people.operators import Operator, new_operator
from tests.support.process import running_service
from tests.support.service import PASSWORD, Service
from tests.support.until import PATIENCE_S

from mudra.console.framework.static_assets import STATIC

CHARTS = (STATIC / "built" / "charts.min.js").exists()
REFRESHED = """() => new Promise((done) => {
  document.addEventListener("htmx:afterSettle", () => done(), { once: true });
  document.dispatchEvent(new Event("visibilitychange"));
})"""
"""A live page that its reader comes back to, and which is up to date then."""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The demonstration network, with a FIP whose consent has been failing for an hour."""
    folder = tmp_path_factory.mktemp("incident") / "data"
    with running_service(folder, "--demo", "--no-traffic", keeps_store=True) as running:
        words = ("--days", "0.1667", "--load", "3000", "--incident", "DECCAN-FIP:cns@180+60")
        in_thread(running.cli, "sandbox", "traffic", *words)
        yield running


@pytest.fixture(scope="module")
def noc(network: Service) -> Operator:
    return in_thread(new_operator, network, "health")


@pytest.fixture
def wide(browser: Browser, network: Service, axe: str) -> Iterator[Visit]:
    with watched(browser, network, axe, LOOKS[0]) as visit:
        yield visit


@pytest.fixture
def narrow(browser: Browser, network: Service, axe: str) -> Iterator[Visit]:
    with watched(browser, network, axe, LOOKS[1]) as visit:
        yield visit


def sign_in(page: Page, network: Service, noc: Operator) -> None:
    page.goto(f"{network.root}/console/sign-in?to=%2Fconsole%2Foperator%2Fhealth")
    page.get_by_label("Email address").fill(noc.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Network health")).to_be_visible()


def is_sound(visit: Visit) -> None:
    """Nothing for axe, nothing that sticks out, nothing that the policy refused."""
    assert visit.violations() == []
    assert visit.fits()
    assert visit.complaints == []
    assert visit.strangers == []


def has_charts(page: Page) -> None:
    if CHARTS:
        expect(page.locator(".chart.drawn canvas").first).to_be_visible()
    page.get_by_text("The same as a table").click()
    expect(page.get_by_role("table", name=None).first).to_be_visible()


def drawn(page: Page) -> list[str]:
    """The last step that the page has figures of, and what is on each canvas."""
    if not CHARTS:
        return []
    expect(page.locator(".chart.drawn canvas")).to_have_count(3)
    found = page.evaluate(
        "[JSON.parse(document.getElementById('figures').dataset.figures).starts.at(-1),"
        " ...[...document.querySelectorAll('.chart canvas')].map(one => one.toDataURL())]"
    )
    assert isinstance(found, list)
    return found


def is_over(network: Service, noc: Operator) -> None:
    """Wait until a job has found the end, and anyone is shown it: pages are costly to ask for it."""

    def found() -> bool:
        answer = noc.get("/incidents", entityId="DECCAN-FIP", open="true")
        return bool(answer.json()["incidents"] == [])

    def shown() -> bool:  # the first look of all may come before there is a picture
        public = noc.client.get(f"{network.root}/status/network.json").json()
        incidents = public.get("incidents", [])
        return bool(incidents) and all(one["ended"] for one in incidents)

    network.wait_until(found)
    network.wait_until(shown)


def reports(network: Service, minutes: int) -> None:
    """Let time pass in which all is well, and AAs report it."""
    in_thread(network.advance, f"PT{minutes}M")
    days = f"{minutes / (24 * 60):.4f}"
    in_thread(network.cli, "sandbox", "traffic", "--days", days, "--load", "3000")


def comes_down(page: Page, title: str) -> float:
    """How far down the card of this title begins."""
    box = page.get_by_role("region", name=title).bounding_box()
    assert box
    return box["y"]


def shows_one_part_at_a_time(visit: Visit) -> None:
    """An incident that is over, on a phone: its charts come first, and all else is reached."""
    page = visit.page
    parts = page.locator("nav.index a")
    expect(parts.first).to_be_visible()
    titles = parts.all_inner_texts()
    assert titles[0] == "Over time"
    expect(parts.first).to_have_attribute("aria-current", "true")
    parts.filter(has_text="Owner").click()
    expect(page.get_by_role("region", name="Owner")).to_be_visible()
    parts.filter(has_text="Over time").click()
    has_charts(page)
    is_sound(visit)
    parts.filter(has_text="Timeline").click()
    expect(page.get_by_text("good again")).to_be_visible()
    is_sound(visit)


def renews_its_charts(page: Page, network: Service) -> None:
    """Without a click the page has the figures of new reports, and each chart is drawn again."""
    figures, before = page.locator("#figures"), drawn(page)
    was = figures.get_attribute("data-figures") if CHARTS else None
    reports(network, minutes=20)
    if was:  # to read canvases takes long, so this waits for the figures first
        expect(figures).not_to_have_attribute("data-figures", was)
    for _ in range(int(PATIENCE_S)):
        if all(now != then for now, then in zip(drawn(page), before, strict=True)):
            return
        page.wait_for_timeout(1000)
    pytest.fail(f"after {PATIENCE_S} s the charts are those of before")


@pytest.mark.slow
@pytest.mark.skipif(not CHARTS, reason="charts are not built here: make assets needs npm")
def test_charts_that_do_not_come_are_said_to_be_missing(
    narrow: Visit, network: Service, noc: Operator
) -> None:
    page, health = narrow.page, f"{network.root}/console/operator/health"
    sign_in(page, network, noc)
    of_charts = "**/*over-time=*"  # the part of a page, and a live page with that part
    page.route(of_charts, lambda route: route.fulfill(status=503, body="busy"))
    missing = page.get_by_text("Metrics over time could not be loaded.")

    page.goto(f"{health}/pair/SAARTHI-AA/DECCAN-FIP?range=6h")
    expect(page.get_by_role("region", name="The fifteen counts")).to_be_visible()
    expect(missing).to_be_visible()
    assert narrow.violations() == []

    page.goto(f"{health}/fip/DECCAN-FIP?range=6h")
    expect(missing).to_be_visible()
    expect(page.get_by_text("Loading metrics over time")).to_have_count(0)
    assert narrow.violations() == []
    link = page.get_by_role("link", name="Show them as a table")
    link.focus()
    page.unroute(of_charts)
    page.evaluate(REFRESHED)
    expect(link).to_be_focused()  # a page that is whole again takes it from no one
    link.click()
    expect(page.get_by_role("region", name="Metrics for each")).to_be_visible()
    assert all("over-time=" in words for words in narrow.complaints), narrow.complaints
    narrow.complaints.clear()


def test_an_incident_is_seen_looked_after_and_over(
    wide: Visit, narrow: Visit, network: Service, noc: Operator
) -> None:
    page = wide.page
    sign_in(page, network, noc)
    opened = page.get_by_role("link", name="Deccan Cooperative Bank, consent")
    page.goto(f"{network.root}/console/operator/board")
    expect(opened).to_be_visible()  # the live board shows it by itself
    is_sound(wide)
    page.goto(f"{network.root}/console/operator/health?range=1h&type=cns")
    cells = page.locator(".cells")
    expect(
        page.get_by_role("link", name="Deccan Cooperative Bank, consent: ").first
    ).to_be_visible()
    cells.focus()
    expect(page.locator(".tip")).to_contain_text("to Deccan Cooperative Bank: consent ")
    is_sound(wide)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="As reported")).to_be_visible()
    has_charts(page)
    is_sound(wide)

    page.goto(f"{network.root}/console/operator/board")
    opened.click()
    expect(page.get_by_text("first bad window")).to_be_visible()
    expect(page.get_by_text("Closes after 30 good minutes")).to_be_visible()
    assert comes_down(page, "Owner") == comes_down(page, "Over time")  # side by side
    page.get_by_text("Hand over, with a note").click()
    page.get_by_role("button", name="Assign to me").click()
    expect(page.get_by_text(f"{noc.email} since")).to_be_visible()
    is_sound(wide)
    incident = page.url

    page.goto(f"{network.root}/console/operator/health/fip/DECCAN-FIP?range=1h")
    renews_its_charts(page, network)
    is_sound(wide)

    reports(network, minutes=40)
    page = narrow.page
    sign_in(page, network, noc)
    is_sound(narrow)
    is_over(network, noc)
    page.goto(incident)
    expect(page.locator(".tag", has_text="recovered")).to_be_visible()
    shows_one_part_at_a_time(narrow)

    for visit in (wide, narrow):
        visit.page.goto(f"{network.root}/status")
        visit.page.locator("summary", has_text="Deccan Cooperative Bank, consent").click()
        expect(visit.page.get_by_text("good again")).to_be_visible()
        is_sound(visit)
